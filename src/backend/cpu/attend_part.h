// One part of one unit of attention: scores, softmax and weighted values of its queries.
#pragma once

#include <cstddef>

#include "backend/cpu/attend.h"
#include "backend/cpu/attend_units.h"

namespace plait {

constexpr int kMaxTile = 48;                    // Queries of a unit: whole tiles of all kernels.
constexpr int kScoreStride = kAttendPart + 16;  // Not a power of two, so that queries do not meet in the cache.
constexpr int kQueryFloats = kScoreStride + kAttendRescales;

// One call of attend(), as all its workers see it.
struct AttendCall {
  const AttendArgs& args;
  const FloatKernels& kernels;
  AttendScratch& scratch;
  const AttendPlan& plan;
};

// What a worker knows of its queries; arrays are by query of the unit.
struct AttendQueries {
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

inline int index_of(RowType type) { return static_cast<int>(type); }

// The part of block `index` of a segment that belongs to one key head.
std::byte* head_block(const RowStream& stream, const Segment& segment, int index, int head, std::size_t head_bytes);
// Bytes of one head's keys, or values, in a block.
std::size_t key_bytes(const AttendArgs& args);
std::size_t value_bytes(const AttendArgs& args);

// A unit's query, or its result, in a tensor's rows.
float* query_row(const Mat<float>& rows, const AttendUnit& unit, int i, int dim);

// Lays the queries' arrays out in a worker's memory.
void load_queries(const AttendCall& call, const AttendUnit& unit, float* memory, AttendQueries& queries);
// Visible rows of each query within a part, counted from its first block that any of them sees.
void place_queries(const AttendCall& call, const AttendUnit& unit, int part, AttendQueries& queries);
// The part's share of each query that sees some of it: values to queries.out, maximum and sum beside.
void compute_part(const AttendCall& call, const AttendUnit& unit, int part, AttendQueries& queries);

}  // namespace plait
