// Steps of a pre-tokenizer that are no patterns: rules over runs of digits or white space, each in one pass.
#pragma once

#include <string_view>
#include <vector>

#include "text/pre_tables.h"

namespace plait {

// Cuts `piece` as `kind`, which is not kPattern, says, and appends what comes out, without empty pieces.
void split_by_rule(StepKind kind, std::string_view piece, std::vector<std::string_view>& out);

}  // namespace plait
