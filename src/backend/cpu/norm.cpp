// RMS norm and L2 norm of rows or of heads.
#include "backend/cpu/float_ops.h"
#include "backend/cpu/split.h"

namespace plait {

void norm(const NormArgs& args, FloatRunner on) {
  check(args.width > 0 && args.x.cols % args.width == 0, "a row is whole heads");
  check(args.weight->cols == args.width, "a norm has one weight a column");
  check(args.out.rows == args.x.rows && args.out.cols == args.x.cols, "a norm keeps the shape");
  const Mat<float> x = args.x.host(), out = args.out.host();
  const float* const weight = reinterpret_cast<const float*>(args.weight->buffer->host() + args.weight->offset);
  for_each_row(on.pool, x.rows, x.cols, [&](int t) {
    for (int begin = 0; begin < x.cols; begin += args.width) {
      on.kernels.rms_norm(x.row(t) + begin, weight, args.eps, out.row(t) + begin, args.width);
    }
  });
}

void l2_norm(const L2NormArgs& args, FloatRunner on) {
  check(args.width > 0 && args.x.cols % args.width == 0, "a row is whole heads");
  const Mat<float> x = args.x.host();
  for_each_row(on.pool, x.rows, x.cols, [&](int t) {
    for (int begin = 0; begin < x.cols; begin += args.width)
      on.kernels.l2_norm(x.row(t) + begin, args.scale, args.width);
  });
}

}  // namespace plait
