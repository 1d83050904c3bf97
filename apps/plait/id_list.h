// Lists of numbers on the command line and in files: token ids, positions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "plait/result.h"

namespace plait {

// Whole numbers separated by commas or white space. `where` names the flag or file in an error, with the number's
// place.
Result<std::vector<Token>> parse_ids(std::string_view text, std::string_view where);
Result<std::vector<Token>> read_id_file(const std::string& path);

// A whole file's bytes, of at most `limit`.
Result<std::string> read_text_file(const std::string& path, std::size_t limit = std::size_t{1} << 30);

}  // namespace plait
