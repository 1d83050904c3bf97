// Rotation of every head of every token.
#include "backend/cpu/float_ops.h"
#include "backend/cpu/split.h"

namespace plait {

void rope(const RopeArgs& args, FloatRunner on) {
  check(args.head_dim > 0 && args.x.cols % args.head_dim == 0, "a row is whole heads");
  check(args.rotated <= args.head_dim && args.table.cols == args.rotated, "angles fit the head");
  check(args.table.rows == args.x.rows, "each token has its angles");
  const Mat<float> x = args.x.host(), table = args.table.host();
  const auto rotate = args.pairs == RopePairs::kHalves ? on.kernels.rope_halves : on.kernels.rope_neighbours;
  for_each_row(on.pool, x.rows, x.cols, [&](int t) {
    for (int begin = 0; begin < x.cols; begin += args.head_dim) rotate(x.row(t) + begin, table.row(t), args.rotated);
  });
}

}  // namespace plait
