// One part of one unit: what is read next is fetched while this is worked on.
#include "backend/cpu/attend_part.h"

#include <algorithm>

namespace plait {

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

float* query_row(const Mat<float>& rows, const AttendUnit& unit, int i, int dim) {
  return rows.row(unit.segment->begin + unit.token(i)) + unit.head(i) * dim;
}

void load_queries(const AttendCall& call, const AttendUnit& unit, float* memory, AttendQueries& queries) {
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

void place_queries(const AttendCall& call, const AttendUnit& unit, int part, AttendQueries& queries) {
  const int block = unit.rows.part(part).begin / kAttendBlock;
  for (int i = 0; i < unit.count; ++i) {
    const RowRange rows = call.plan.visible(*unit.segment, unit.token(i)).part(part);
    queries.first[i] = rows.empty() ? 0 : rows.begin - block * kAttendBlock;
    queries.last[i] = rows.empty() ? 0 : rows.end - block * kAttendBlock;
  }
}

namespace {

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

void score_part(const AttendCall& call, const AttendUnit& unit, const Blocks& keys, AttendQueries& queries) {
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

void softmax_part(const AttendCall& call, const AttendUnit& unit, AttendQueries& queries) {
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

// The first blocks of keys that are read after this part: those of the next one, or of the next head.
void add_next_keys(const AttendCall& call, const AttendUnit& unit, int part, Blocks& blocks) {
  const bool more = part + 1 < unit.last_part();
  const int head = more ? unit.kv_head : unit.kv_head + 1;
  if (head == call.args.kv_heads) return;
  const RowRange rows = unit.rows.part(more ? part + 1 : unit.first_part());
  blocks.add(call.args.state->rows[0], *unit.segment, rows, head, key_bytes(call.args), kAttendAhead);
}

// Calls body(blocks, first, count) for each few blocks of a part: `blocks` has their keys (stream 0) or values (1) of
// every head of the unit, and what is read after them. `first`: counted from the part's first one.
template <class Body>
void for_blocks_of_heads(const AttendCall& call, const AttendUnit& unit, int part, int stream, const Body& body) {
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
void compute_part_of_heads(const AttendCall& call, const AttendUnit& unit, int part, AttendQueries& queries) {
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

}  // namespace

void compute_part(const AttendCall& call, const AttendUnit& unit, int part, AttendQueries& queries) {
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

}  // namespace plait
