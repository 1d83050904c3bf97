// Attention: the tokens' rows go to their blocks, then every unit of the plan is computed by one worker.
#include "backend/cpu/attend.h"

#include <cstring>

#include "backend/cpu/attend_units.h"
#include "base/float_mode.h"
#include "base/thread_pool.h"

namespace plait {
namespace {

constexpr int kMaxTile = 48;                    // Queries of a unit: whole tiles of all kernels.
constexpr int kScoreStride = kAttendPart + 16;  // Not a power of two, so that queries do not meet in the cache.
constexpr int kWriteAlone = 8;                  // Tokens whose rows the caller writes by itself.
constexpr int kQueryFloats = kScoreStride + kAttendRescales;

// One call of attend(), as all its workers see it.
struct Call {
  const AttendArgs& args;
  const FloatKernels& kernels;
  AttendScratch& scratch;
  const AttendPlan& plan;
};

int index_of(RowType type) { return static_cast<int>(type); }

// The part of block `index` of a segment that belongs to one key head.
std::byte* head_block(const RowStream& stream, const Segment& segment, int index, int head, std::size_t head_bytes) {
  const std::vector<int>& blocks = segment.blocks[static_cast<std::size_t>(stream.group)];
  const std::size_t block = static_cast<std::size_t>(blocks[static_cast<std::size_t>(index)]);
  return stream.buffer->host() + stream.offset + block * stream.stride + static_cast<std::size_t>(head) * head_bytes;
}

std::size_t key_bytes(const AttendArgs& args) {
  return static_cast<std::size_t>(kAttendBlock * args.key_dim * row_type_bytes(args.key_type));
}

std::size_t value_bytes(const AttendArgs& args) {
  return static_cast<std::size_t>(kAttendBlock * args.value_dim * row_type_bytes(args.value_type));
}

// ---------------------------------------------------------------- writing rows

void write_block(const Call& call, const Segment& segment, int index) {
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
void write_blocks(const Call& call, int worker, int workers) {
  int number = 0;
  for (const Segment& segment : call.args.batch->segments) {
    if (segment.count == 0) continue;
    const int last = (segment.past + segment.count - 1) / kAttendBlock;
    for (int index = segment.past / kAttendBlock; index <= last; ++index) {
      if (number++ % workers == worker) write_block(call, segment, index);
    }
  }
}

// ---------------------------------------------------------------- one part of one unit

// What a worker knows of its queries; arrays are by query of the unit.
struct Queries {
  float* q = nullptr;       // [count][key_dim], scaled.
  float* scores = nullptr;  // [count][kScoreStride]
  float* rescale = nullptr;
  float* part_values = nullptr;  // [count][value_dim]
  float* row[kMaxTile];          // Of the result.
  float maximum[kMaxTile], sum[kMaxTile];
  // Of the part at hand.
  int first[kMaxTile], last[kMaxTile];  // Visible rows, from the first block on; none: both zero.
  float* out[kMaxTile];
  float part_maximum[kMaxTile], part_sum[kMaxTile];

  bool sees(int i) const { return first[i] < last[i]; }
};

float* query_row(const Mat<float>& rows, const AttendUnit& unit, int i, int dim) {
  return rows.row(unit.segment->begin + unit.token(i)) + unit.head(i) * dim;
}

void load_queries(const Call& call, const AttendUnit& unit, float* memory, Queries& queries) {
  const AttendArgs& args = call.args;
  queries.q = memory;
  queries.scores = queries.q + unit.count * args.key_dim;
  queries.rescale = queries.scores + unit.count * kScoreStride;
  queries.part_values = queries.rescale + unit.count * kAttendRescales;
  const Mat<float> q = args.q.host(), out = args.out.host();
  for (int i = 0; i < unit.count; ++i) {
    queries.row[i] = query_row(out, unit, i, args.value_dim);
    call.kernels.scale(query_row(q, unit, i, args.key_dim), args.scale, queries.q + i * args.key_dim, args.key_dim);
  }
}

constexpr int kBlocksTogether = 4;  // Of each head, where several heads are read together: few streams of memory.

// Heads' parts of blocks that are read one after the other, and of some that come after them.
struct Blocks {
  const std::byte* at[std::max(kAttendPartBlocks, kMaxTile* kBlocksTogether) + kAttendAhead];
  int known = 0;

  // Those that hold these positions; `most` at most.
  void add(const RowStream& stream, const Segment& segment, RowRange rows, int head, std::size_t head_bytes, int most) {
    const int begin = rows.begin / kAttendBlock, end = (rows.end + kAttendBlock - 1) / kAttendBlock;
    for (int b = begin; b < std::min(end, begin + most); ++b)
      at[known++] = head_block(stream, segment, b, head, head_bytes);
  }
};

void score_part(const Call& call, const AttendUnit& unit, const Blocks& keys, Queries& queries) {
  const int at_once = call.kernels.attend_queries;
  for (int begin = 0; begin < unit.count; begin += at_once) {
    const int width = std::min(at_once, unit.count - begin);
    int first = kAttendPart, last = 0;
    for (int i = begin; i < begin + width; ++i) {
      if (!queries.sees(i)) continue;
      first = std::min(first, queries.first[i] / kAttendBlock);
      last = std::max(last, (queries.last[i] + kAttendBlock - 1) / kAttendBlock);
    }
    if (first >= last) continue;
    call.kernels.scores[index_of(call.args.key_type)](
        {.q = queries.q + begin * call.args.key_dim,
         .queries = width,
         .dim = call.args.key_dim,
         .keys = keys.at + first,
         .blocks = last - first,
         .known = keys.known - first,
         .scores = queries.scores + begin * kScoreStride + first * kAttendBlock,
         .stride = kScoreStride});
  }
}

void softmax_part(const Call& call, const AttendUnit& unit, Queries& queries) {
  for (int i = 0; i < unit.count; ++i) {
    if (!queries.sees(i)) continue;
    const int block = queries.first[i] / kAttendBlock, row = block * kAttendBlock;
    call.kernels.softmax({.scores = queries.scores + i * kScoreStride + row,
                          .blocks = (queries.last[i] + kAttendBlock - 1) / kAttendBlock - block,
                          .first = queries.first[i] - row,
                          .last = queries.last[i] - row,
                          .soft_cap = call.args.soft_cap,
                          .rescale = queries.rescale + i * kAttendRescales + block,
                          .maximum = &queries.part_maximum[i],
                          .sum = &queries.part_sum[i]});
  }
}

// Visible rows of each query within a part, counted from its first block that any of them sees.
void place_queries(const Call& call, const AttendUnit& unit, int part, Queries& queries) {
  const int block = unit.rows.part(part).begin / kAttendBlock;
  for (int i = 0; i < unit.count; ++i) {
    const RowRange rows = call.plan.visible(*unit.segment, unit.token(i)).part(part);
    queries.first[i] = rows.empty() ? 0 : rows.begin - block * kAttendBlock;
    queries.last[i] = rows.empty() ? 0 : rows.end - block * kAttendBlock;
  }
}

// The first blocks of keys that are read after this part: those of the next one, or of the next head.
void add_next_keys(const Call& call, const AttendUnit& unit, int part, Blocks& blocks) {
  const bool more = part + 1 < unit.last_part();
  const int head = more ? unit.kv_head : unit.kv_head + 1;
  if (head == call.args.kv_heads) return;
  const RowRange rows = unit.rows.part(more ? part + 1 : unit.first_part());
  blocks.add(call.args.state->rows[0], *unit.segment, rows, head, key_bytes(call.args), kAttendAhead);
}

// Calls body(blocks, first, count) for each few blocks of a part: `blocks` has their keys (stream 0) or values (1) of
// every head of the unit, and what is read after them. `first`: counted from the part's first one.
template <class Body>
void for_blocks_of_heads(const Call& call, const AttendUnit& unit, int part, int stream, const Body& body) {
  const RowStream* const streams = call.args.state->rows;
  const auto add = [&](Blocks& blocks, int of, RowRange rows, int most) {
    const std::size_t head_bytes = of == 0 ? key_bytes(call.args) : value_bytes(call.args);
    for (int head = 0; head < unit.kv_heads && most > 0; ++head, most -= kBlocksTogether)
      blocks.add(streams[of], *unit.segment, rows, unit.kv_head + head, head_bytes, kBlocksTogether);
  };
  const RowRange rows = unit.rows.part(part);
  constexpr int kRows = kBlocksTogether * kAttendBlock;
  for (int at = rows.begin / kAttendBlock * kAttendBlock, first = 0; at < rows.end; at += kRows) {
    Blocks blocks;
    add(blocks, stream, {at, std::min(at + kRows, rows.end)}, kMaxTile * kBlocksTogether);
    const int count = blocks.known / unit.kv_heads;
    if (at + kRows < rows.end) {
      add(blocks, stream, {at + kRows, std::min(at + 2 * kRows, rows.end)}, kAttendAhead);
    } else if (stream == 0) {
      add(blocks, 1, rows, kAttendAhead);
    } else if (part + 1 < unit.last_part()) {
      add(blocks, 0, unit.rows.part(part + 1), kAttendAhead);
    }
    body(blocks, first, count);
    first += count;
  }
}

// As compute_part(), for the queries of one token that read several key heads.
void compute_part_of_heads(const Call& call, const AttendUnit& unit, int part, Queries& queries) {
  const AttendArgs& args = call.args;
  for_blocks_of_heads(call, unit, part, 0, [&](const Blocks& keys, int first, int count) {
    for (int head = 0; head < unit.kv_heads; ++head) {
      const int query = head * unit.group;
      call.kernels.scores[index_of(args.key_type)](
          {.q = queries.q + query * args.key_dim,
           .queries = unit.group,
           .dim = args.key_dim,
           .keys = keys.at + head * count,
           .blocks = count,
           .known = keys.known - head * count,
           .scores = queries.scores + query * kScoreStride + first * kAttendBlock,
           .stride = kScoreStride});
    }
  });
  softmax_part(call, unit, queries);
  for_blocks_of_heads(call, unit, part, 1, [&](const Blocks& values, int first, int count) {
    int first_row[kMaxTile], last_row[kMaxTile];  // All queries see the same.
    std::fill_n(first_row, unit.group, std::max(0, queries.first[0] - first * kAttendBlock));
    std::fill_n(last_row, unit.group, std::min(count * kAttendBlock, queries.last[0] - first * kAttendBlock));
    for (int head = 0; head < unit.kv_heads; ++head) {
      const int query = head * unit.group;
      call.kernels.weigh[index_of(args.value_type)](
          {.queries = unit.group,
           .weights = queries.scores + query * kScoreStride + first * kAttendBlock,
           .stride = kScoreStride,
           .rescale = queries.rescale + query * kAttendRescales + first,
           .first = first_row,
           .last = last_row,
           .values = values.at + head * count,
           .known = values.known - head * count,
           .dim = args.value_dim,
           .out = queries.out + query,
           .add = first > 0});
    }
  });
}

// The part's share of each query that sees some of it: values to queries.out, maximum and sum beside.
void compute_part(const Call& call, const AttendUnit& unit, int part, Queries& queries) {
  if (unit.kv_heads > 1) return compute_part_of_heads(call, unit, part, queries);
  const AttendArgs& args = call.args;
  const RowRange rows = unit.rows.part(part);
  Blocks keys, values;
  keys.add(args.state->rows[0], *unit.segment, rows, unit.kv_head, key_bytes(args), kAttendPartBlocks);
  values.add(args.state->rows[1], *unit.segment, rows, unit.kv_head, value_bytes(args), kAttendPartBlocks);
  for (int i = 0, count = std::min(values.known, kAttendAhead); i < count; ++i) keys.at[keys.known++] = values.at[i];
  add_next_keys(call, unit, part, values);
  score_part(call, unit, keys, queries);
  softmax_part(call, unit, queries);
  call.kernels.weigh[index_of(args.value_type)]({.queries = unit.count,
                                                 .weights = queries.scores,
                                                 .stride = kScoreStride,
                                                 .rescale = queries.rescale,
                                                 .first = queries.first,
                                                 .last = queries.last,
                                                 .values = values.at,
                                                 .known = values.known,
                                                 .dim = args.value_dim,
                                                 .out = queries.out});
}

// ---------------------------------------------------------------- whole units, and units cut by part

// The sink comes last; then what was summed is divided by the sum of weights.
void finish(const Call& call, int head, AttendShare share) {
  const AttendArgs& args = call.args;
  if (args.sinks != nullptr) {
    const float* const sinks = reinterpret_cast<const float*>(args.sinks->buffer->host() + args.sinks->offset);
    call.kernels.merge(share, {.maximum = sinks[head], .sum = 1, .values = nullptr}, args.value_dim);
  }
  call.kernels.scale(share.values, 1.0f / share.sum, share.values, args.value_dim);
}

void compute_whole(const Call& call, const AttendUnit& unit, float* memory) {
  const int dim = call.args.value_dim;
  Queries queries;
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

float* partial_of(const Call& call, const AttendUnit& unit, float* partials, int part, int i) {
  return partials + static_cast<std::ptrdiff_t>((part - unit.first_part()) * unit.count + i) * call.plan.share_floats();
}

void compute_partial(const Call& call, const AttendItem& item, float* memory) {
  const AttendUnit& unit = item.unit;
  Queries queries;
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
void merge_parts(const Call& call, const AttendUnit& unit, float* partials, int i) {
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

void compute_items(const Call& call, int worker) {
  call.plan.for_each_item([&](const AttendItem& item) {
    if (call.plan.worker_of(item) != worker) return;
    if (item.partials == nullptr) {
      compute_whole(call, item.unit, call.scratch.worker(worker));
    } else {
      compute_partial(call, item, call.scratch.worker(worker));
    }
  });
}

void merge_cut_units(const Call& call, int worker) {
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
  const AttendPlan plan(args, std::min(kMaxTile, fit), on.kernels.attend_queries, on.pool.threads(), scratch.partials(),
                        scratch.partial_floats());
  const Call call{args, on.kernels, scratch, plan};
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
