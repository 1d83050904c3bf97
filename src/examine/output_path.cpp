// Where results may be written: files are compared as the system knows them, through links and relative names.
#include "examine/output_path.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "io/gguf_split.h"

namespace plait {

Result<void> check_not_model(const std::string& out, const std::string& model) {
  std::error_code fault;  // A file that is not there is no fault here.
  const auto is_out = [&](const std::string& file) { return std::filesystem::equivalent(out, file, fault); };
  bool same = is_out(model);
  if (const std::optional<SplitName> name = split_name(model)) {
    for (int part = 1; part <= name->count && !same; ++part) same = is_out(name->path_of(part));
  }
  if (!same) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: is the model itself, wanted another file to write to", printable(out)));
}

}  // namespace plait
