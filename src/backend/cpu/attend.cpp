// Attention: the tokens' rows go to their blocks, then every unit of the plan is computed by one worker.
#include "backend/cpu/attend.h"

#include <cstring>

#include "backend/cpu/attend_part.h"
#include "base/float_mode.h"
#include "base/thread_pool.h"

namespace plait {
namespace {

constexpr int kWriteAlone = 8;  // Tokens whose rows the caller writes by itself.

// ---------------------------------------------------------------- writing rows

void write_block(const AttendCall& call, const Segment& segment, int index) {
  const AttendArgs& args = call.args;
  const int begin = std::max(index * kAttendBlock, segment.past);
  const int end = std::min((index + 1) * kAttendBlock, segment.past + segment.count);
  const int token = segment.begin + begin - segment.past;
  const Mat<float> k = args.k.host(), v = args.v.host();
  for (int head = 0; head < args.kv_heads; ++head) {
    WriteRowsArgs rows{.rows = k.row(token) + head * args.key_dim,
                       .stride = k.stride,
                       .count = end - begin,
                       .dim = args.key_dim,
                       .block = head_block(args.state->rows[0], segment, index, head, key_bytes(args)),
                       .first_row = begin % kAttendBlock};
    call.kernels.write_keys[index_of(args.key_type)](rows);
    rows.rows = v.row(token) + head * args.value_dim;
    rows.stride = v.stride;
    rows.dim = args.value_dim;
    rows.block = head_block(args.state->rows[1], segment, index, head, value_bytes(args));
    call.kernels.write_values[index_of(args.value_type)](rows);
  }
}

// Every `workers`th block from `worker` on, over all segments.
void write_blocks(const AttendCall& call, int worker, int workers) {
  int number = 0;
  for (const Segment& segment : call.args.batch->segments) {
    if (segment.count == 0) continue;
    const int last = (segment.past + segment.count - 1) / kAttendBlock;
    for (int index = segment.past / kAttendBlock; index <= last; ++index) {
      if (number++ % workers == worker) write_block(call, segment, index);
    }
  }
}

// ---------------------------------------------------------------- whole units, and units cut by part

// The sink comes last; then what was summed is divided by the sum of weights.
void finish(const AttendCall& call, int head, AttendShare share) {
  const AttendArgs& args = call.args;
  if (args.sinks != nullptr) {
    const float* const sinks = reinterpret_cast<const float*>(args.sinks->buffer->host() + args.sinks->offset);
    call.kernels.merge(share, {.maximum = sinks[head], .sum = 1, .values = nullptr}, args.value_dim);
  }
  call.kernels.scale(share.values, 1.0f / share.sum, share.values, args.value_dim);
}

void compute_whole(const AttendCall& call, const AttendUnit& unit, float* memory) {
  const int dim = call.args.value_dim;
  AttendQueries queries;
  load_queries(call, unit, memory, queries);
  bool begun[kMaxTile] = {};
  for (int part = unit.first_part(); part < unit.last_part(); ++part) {
    place_queries(call, unit, part, queries);
    for (int i = 0; i < unit.count; ++i) queries.out[i] = begun[i] ? queries.part_values + i * dim : queries.row[i];
    compute_part(call, unit, part, queries);
    for (int i = 0; i < unit.count; ++i) {
      if (!queries.sees(i)) continue;
      const AttendShare share{queries.part_maximum[i], queries.part_sum[i], queries.out[i]};
      AttendShare all = begun[i] ? AttendShare{queries.maximum[i], queries.sum[i], queries.row[i]} : share;
      if (begun[i]) call.kernels.merge(all, share, dim);
      queries.maximum[i] = all.maximum;
      queries.sum[i] = all.sum;
      begun[i] = true;
    }
  }
  for (int i = 0; i < unit.count; ++i) {
    finish(call, unit.head(i), {queries.maximum[i], queries.sum[i], queries.row[i]});
  }
}

float* partial_of(const AttendCall& call, const AttendUnit& unit, float* partials, int part, int i) {
  return partials + static_cast<std::ptrdiff_t>((part - unit.first_part()) * unit.count + i) * call.plan.share_floats();
}

void compute_partial(const AttendCall& call, const AttendItem& item, float* memory) {
  const AttendUnit& unit = item.unit;
  AttendQueries queries;
  load_queries(call, unit, memory, queries);
  place_queries(call, unit, item.first_part, queries);
  for (int i = 0; i < unit.count; ++i) {
    queries.out[i] = partial_of(call, unit, item.partials, item.first_part, i) + 2;
  }
  compute_part(call, unit, item.first_part, queries);
  for (int i = 0; i < unit.count; ++i) {
    if (!queries.sees(i)) continue;
    queries.out[i][-2] = queries.part_maximum[i];
    queries.out[i][-1] = queries.part_sum[i];
  }
}

// Merges the parts of one query of a unit that was cut, in their order.
void merge_parts(const AttendCall& call, const AttendUnit& unit, float* partials, int i) {
  const int dim = call.args.value_dim;
  const RowRange rows = call.plan.visible(*unit.segment, unit.token(i));
  AttendShare all{0, 0, query_row(call.args.out.host(), unit, i, dim)};
  bool begun = false;
  for (int part = unit.first_part(); part < unit.last_part(); ++part) {
    if (rows.part(part).empty()) continue;
    float* const share = partial_of(call, unit, partials, part, i);
    if (begun) {
      call.kernels.merge(all, {share[0], share[1], share + 2}, dim);
      continue;
    }
    all.maximum = share[0];
    all.sum = share[1];
    std::memcpy(all.values, share + 2, static_cast<std::size_t>(dim) * sizeof(float));
    begun = true;
  }
  finish(call, unit.head(i), all);
}

void compute_items(const AttendCall& call, int worker) {
  call.plan.for_each_item([&](const AttendItem& item) {
    if (call.plan.worker_of(item) != worker) return;
    if (item.partials == nullptr) {
      compute_whole(call, item.unit, call.scratch.worker(worker));
    } else {
      compute_partial(call, item, call.scratch.worker(worker));
    }
  });
}

void merge_cut_units(const AttendCall& call, int worker) {
  int number = 0;
  call.plan.for_each_cut_unit([&](const AttendUnit& unit, float* partials) {
    for (int i = 0; i < unit.count; ++i) {
      if (number++ % call.plan.workers() == worker) merge_parts(call, unit, partials, i);
    }
  });
}

void check_shapes(const AttendArgs& args) {
  check(args.kv_heads > 0 && args.heads % args.kv_heads == 0, "query heads share key heads evenly");
  check(args.q.cols == args.heads * args.key_dim && args.out.cols == args.heads * args.value_dim, "heads fill a row");
  check(args.k.cols == args.kv_heads * args.key_dim && args.v.cols == args.kv_heads * args.value_dim,
        "key heads fill a row");
  check(args.key_dim + args.value_dim <= kMaxAttendWidth, "a head's width is within limits");
}

}  // namespace

AttendScratch::AttendScratch(int threads)
    : threads_(threads),
      memory_(new float[static_cast<std::size_t>(threads) * static_cast<std::size_t>(kWorkerFloats + kPartialFloats)]) {
}

void attend(const AttendArgs& args, FloatRunner on, AttendScratch& scratch) {
  check_shapes(args);
  if (args.q.rows == 0) return;
  const int fit = AttendScratch::kWorkerFloats / (args.key_dim + args.value_dim + kQueryFloats);
  const AttendPlan plan(args, std::min(kMaxTile, fit), on.pool.threads(), scratch.partials(), scratch.partial_floats());
  const AttendCall call{args, on.kernels, scratch, plan};
  if (args.q.rows <= kWriteAlone) {
    const FloatMode mode;
    write_blocks(call, 0, 1);
  } else {
    on.pool.run([&call](int worker, int workers) { write_blocks(call, worker, workers); });
  }
  on.pool.run([&call](int worker, int) { compute_items(call, worker); });
  bool cut = false;
  plan.for_each_cut_unit([&cut](const AttendUnit&, float*) { cut = true; });
  if (cut) on.pool.run([&call](int worker, int) { merge_cut_units(call, worker); });
}

}  // namespace plait
