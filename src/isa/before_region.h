// What an isa/ file includes before its region begins: everything that is not a template over a vocabulary. Inside the
// region it would be compiled for that instruction set, and the linker might keep that copy for all machines.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/half.h"
#include "formats/block.h"
#include "formats/format.h"
#include "kernels/kernels.h"
