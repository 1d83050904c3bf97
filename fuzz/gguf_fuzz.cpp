// Fuzzes the GGUF reader: opens the bytes, looks everything up, decodes the first row of each tensor.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "io/model_file.h"
#include "io/scan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto model = plait::open_model_bytes("fuzz", std::vector<std::byte>(bytes, bytes + size));
  if (!model) {
    plait::check(plait::is_printable(model.error().message), "a message holds no control characters");
    return 0;
  }
  for (const plait::MetadataEntry& entry : (*model)->metadata()) {
    plait::check((*model)->find_metadata(entry.key) == &entry.value, "every key is found");
    if (const auto* text = std::get_if<std::string_view>(&entry.value)) {
      plait::check(plait::is_printable(plait::printable(*text)), "printable text is printable");
    }
  }
  std::vector<float> row;
  for (const plait::RawTensor& tensor : (*model)->tensors()) {
    plait::check((*model)->find_tensor(tensor.name) == &tensor, "every tensor is found");
    if (tensor.format->decode == nullptr) continue;
    row.resize(static_cast<std::size_t>(tensor.cols()));
    tensor.format->decode(tensor.data, tensor.cols(), row.data());
    if (tensor.format->info.can_compute) static_cast<void>(plait::scan_tensor(tensor).has_value());
  }
  return 0;
}
