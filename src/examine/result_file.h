// ResultFile: what commands write their numbers to.
#pragma once

#include "io/file_writer.h"

namespace plait {

using ResultFile = FileWriter;

}  // namespace plait
