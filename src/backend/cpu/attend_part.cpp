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

// A unit's queries that read one key head.
int queries_of_head(const AttendUnit& unit) { return unit.count / unit.kv_heads; }

// Which row stream of a layer.
enum Stream { kKeys = 0, kValues = 1 };

// Heads' parts of blocks that are read one after the other, and of some that come after them.
struct Blocks {
  const std::byte* at[std::max(kAttendPartBlocks, kMaxTile* kBlocksTogether) + kAttendAhead];
  int known = 0;

  // From every head that holds these positions, `each` blocks at most, and `most` in all.
  void add(const AttendCall& call, const AttendUnit& unit, Stream stream, RowRange rows, int kv_head, int each,
           int most) {
    const std::size_t head_bytes = stream == kKeys ? key_bytes(call.args) : value_bytes(call.args);
    const int begin = rows.begin / kAttendBlock, end = (rows.end + kAttendBlock - 1) / kAttendBlock;
    for (int head = kv_head; head < std::min(kv_head + unit.kv_heads, call.args.kv_heads) && most > 0; ++head) {
      for (int b = begin; b < std::min(end, begin + std::min(each, most)); ++b)
        at[known++] = head_block(call.args.state->rows[stream], *unit.segment, b, head, head_bytes);
      most -= each;
    }
  }
};

// Calls body(blocks, first, count) for `count` blocks of a part at a time, from its block `first` on: `blocks` has
// those of every head of the unit, head by head, and what is read after them. One head's are all taken at once.
template <class Body>
void for_blocks(const AttendCall& call, const AttendUnit& unit, int part, Stream stream, const Body& body) {
  const RowRange rows = unit.rows.part(part);
  const int each = unit.kv_heads > 1 ? kBlocksTogether : kAttendPartBlocks;
  const int begin = rows.begin / kAttendBlock, end = (rows.end + kAttendBlock - 1) / kAttendBlock;
  for (int block = begin; block < end; block += each) {
    const int count = std::min(each, end - block), after = (block + each) * kAttendBlock;
    Blocks blocks;
    blocks.add(call, unit, stream, {block * kAttendBlock, rows.end}, unit.kv_head, count, unit.kv_heads * count);
    const auto add_next = [&](Stream of, RowRange next, int kv_head) {
      blocks.add(call, unit, of, next, kv_head, each, kAttendAhead);
    };
    if (after < rows.end) {
      add_next(stream, {after, rows.end}, unit.kv_head);
    } else if (stream == kKeys) {
      add_next(kValues, rows, unit.kv_head);
    } else if (part + 1 < unit.last_part()) {
      add_next(kKeys, unit.rows.part(part + 1), unit.kv_head);
    } else {
      add_next(kKeys, unit.rows.part(unit.first_part()), unit.kv_head + unit.kv_heads);
    }
    body(blocks, block - begin, count);
  }
}

// Of `count` blocks of one head, from the part's block `first` on.
void score_blocks(const AttendCall& call, const AttendUnit& unit, int head, const Blocks& keys, int first, int count,
                  AttendQueries& queries) {
  const int at_once = call.kernels.attend_queries, end = (head + 1) * queries_of_head(unit);
  for (int query = head * queries_of_head(unit); query < end; query += at_once) {
    const int width = std::min(at_once, end - query);
    int from = first + count, to = first;
    for (int i = query; i < query + width; ++i) {
      if (!queries.sees(i)) continue;
      from = std::min(from, queries.first[i] / kAttendBlock);
      to = std::max(to, (queries.last[i] + kAttendBlock - 1) / kAttendBlock);
    }
    from = std::max(from, first);
    to = std::min(to, first + count);
    if (from >= to) continue;
    const int skipped = head * count + from - first;
    call.kernels.scores[index_of(call.args.key_type)](
        {.q = queries.q + query * call.args.key_dim,
         .queries = width,
         .dim = call.args.key_dim,
         .keys = keys.at + skipped,
         .blocks = to - from,
         .known = keys.known - skipped,
         .scores = queries.scores + query * kScoreStride + from * kAttendBlock,
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

// As score_blocks().
void weigh_blocks(const AttendCall& call, const AttendUnit& unit, int head, const Blocks& values, int first, int count,
                  AttendQueries& queries) {
  const int query = head * queries_of_head(unit);
  int first_row[kMaxTile], last_row[kMaxTile];
  for (int i = 0; i < queries_of_head(unit); ++i) {
    first_row[i] = std::max(0, queries.first[query + i] - first * kAttendBlock);
    last_row[i] = std::min(count * kAttendBlock, queries.last[query + i] - first * kAttendBlock);
  }
  call.kernels.weigh[index_of(call.args.value_type)](
      {.queries = queries_of_head(unit),
       .weights = queries.scores + query * kScoreStride + first * kAttendBlock,
       .stride = kScoreStride,
       .rescale = queries.rescale + query * kAttendRescales + first,
       .first = first_row,
       .last = last_row,
       .values = values.at + head * count,
       .known = values.known - head * count,
       .dim = call.args.value_dim,
       .out = queries.out + query,
       .add = first > 0});
}

}  // namespace

void compute_part(const AttendCall& call, const AttendUnit& unit, int part, AttendQueries& queries) {
  for_blocks(call, unit, part, kKeys, [&](const Blocks& keys, int first, int count) {
    for (int head = 0; head < unit.kv_heads; ++head) score_blocks(call, unit, head, keys, first, count, queries);
  });
  softmax_part(call, unit, queries);
  for_blocks(call, unit, part, kValues, [&](const Blocks& values, int first, int count) {
    for (int head = 0; head < unit.kv_heads; ++head) weigh_blocks(call, unit, head, values, first, count, queries);
  });
}

}  // namespace plait
