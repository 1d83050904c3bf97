// The formats as types, for templates that are made for each of them. all.h has them as a table.
#pragma once

#include "formats/bf16.h"
#include "formats/f16.h"
#include "formats/f32.h"
#include "formats/q4_0.h"
#include "formats/q4_1.h"
#include "formats/q5_0.h"
#include "formats/q5_1.h"
#include "formats/q8_0.h"

namespace plait {

template <class... Formats>
struct FormatList {};

using FloatFormats = FormatList<F32, F16, Bf16>;

using QuantizedFormats = FormatList<Q4_0, Q4_1, Q5_0, Q5_1, Q8_0>;

}  // namespace plait
