// Token: the id of a token in a vocabulary.
#pragma once

#include <cstdint>

namespace plait {

using Token = std::int32_t;

}  // namespace plait
