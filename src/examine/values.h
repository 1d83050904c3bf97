// Values of one tensor as f32: what `plait values` writes.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "io/model_file.h"
#include "plait/result.h"

namespace plait {

// The tensor of that name, or an error that says how to list what is there.
Result<const RawTensor*> tensor_named(const ModelFile& file, std::string_view name);

// "[576, 49152]": the extents in the file's order, the length of a row first.
std::string shape_text(const RawTensor& tensor);

// Hands over the values, some rows at a time, in order. Fails for integer types, which have no f32 form.
using ValuesSink = std::function<Result<void>(std::span<const float>)>;
Result<void> decode_tensor(const RawTensor& tensor, const ValuesSink& sink);

// Writes them to a file, little-endian.
// `stop`, if given, is asked between chunks: true ends with kCancelled and no file.
Result<void> write_values(const RawTensor& tensor, const std::string& out_path, const std::function<bool()>& stop = {});

}  // namespace plait
