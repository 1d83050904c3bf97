// The formats as types, for templates that are made for each of them. all.h has them as a table.
#pragma once

#include "formats/bf16.h"
#include "formats/f16.h"
#include "formats/f32.h"
#include "formats/fp4_16.h"
#include "formats/int4_32.h"
#include "formats/int8_row.h"
#include "formats/iq1_m.h"
#include "formats/iq1_s.h"
#include "formats/iq2_s.h"
#include "formats/iq2_xs.h"
#include "formats/iq2_xxs.h"
#include "formats/iq3_s.h"
#include "formats/iq3_xxs.h"
#include "formats/iq4_nl.h"
#include "formats/iq4_xs.h"
#include "formats/mxfp4.h"
#include "formats/nvfp4.h"
#include "formats/q1_0.h"
#include "formats/q2_0.h"
#include "formats/q2_g128.h"
#include "formats/q2_k.h"
#include "formats/q3_k.h"
#include "formats/q4_0.h"
#include "formats/q4_1.h"
#include "formats/q4_k.h"
#include "formats/q5_0.h"
#include "formats/q5_1.h"
#include "formats/q5_k.h"
#include "formats/q6_k.h"
#include "formats/q8_0.h"
#include "formats/tq1_0.h"
#include "formats/tq2_0.h"

namespace plait {

template <class... Formats>
struct FormatList {};

using FloatFormats = FormatList<F32, F16, Bf16>;

using QuantizedFormats =
    FormatList<Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, Iq1S, Iq1M, Iq2Xxs, Iq2Xs, Iq2S, Iq3Xxs,
               Iq3S, Iq4Nl, Iq4Xs, Tq1_0, Tq2_0, Mxfp4, Nvfp4, Q1_0, Q2_0, Int8Row, Int4_32, Fp4_16, Q2G128>;

}  // namespace plait
