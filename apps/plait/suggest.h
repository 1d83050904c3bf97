// Suggest: the known word nearest to one that was mistyped.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plait {

// Letters to insert, delete, replace, or swap with their neighbour to make `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

// The nearest of `known`; empty when even that one shares too little with `word` to be what was meant.
std::string nearest(std::string_view word, std::span<const std::string> known);

}  // namespace plait
