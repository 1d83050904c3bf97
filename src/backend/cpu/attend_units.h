// How attention is cut into units of work: (segment, key heads, queries), and where that is too coarse, by part.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/ops.h"
#include "kernels/float_kernels.h"

namespace plait {

// A range of positions.
struct RowRange {
  int begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  RowRange part(int p) const { return {std::max(begin, p * kAttendPart), std::min(end, (p + 1) * kAttendPart)}; }
};

// Queries of one segment that read one key head; query i is head i % group of the segment's token i / group. Or the
// queries of its only token that read several key heads: a long past is read in the order of memory, where the heads of
// a block lie side by side.
struct AttendUnit {
  const Segment* segment = nullptr;
  int group = 1;  // Query heads of a key head.
  int kv_head = 0, kv_heads = 1;
  int begin = 0, count = 0;  // Queries.
  RowRange rows;             // Rows that any of them sees.

  // Of its query `i`.
  int token(int i) const { return kv_heads > 1 ? 0 : (begin + i) / group; }
  int head(int i) const { return kv_head * group + (kv_heads > 1 ? i : (begin + i) % group); }

  int first_part() const { return rows.begin / kAttendPart; }
  int last_part() const { return (rows.end - 1) / kAttendPart + 1; }
  int parts() const { return last_part() - first_part(); }
  std::int64_t cost(RowRange of) const { return static_cast<std::int64_t>(count) * (of.end - of.begin); }
};

// Some parts of a unit; `partials` is null when they are all of them.
struct AttendItem {
  AttendUnit unit;
  int first_part = 0, last_part = 0;
  float* partials = nullptr;  // Of the unit: [parts][count] shares of 2 + value_dim floats.
  std::int64_t middle = 0;    // The cost of all items that come before, and half its own.
};

// The cut of one call. A function of shapes and the number of workers; the results do not depend on it.
class AttendPlan {
 public:
  // `tile`: queries of a unit, at most. `partials`: where shares of parts can be left.
  AttendPlan(const AttendArgs& args, int tile, int workers, float* partials, std::ptrdiff_t partial_floats)
      : args_(args), tile_(tile), workers_(workers), partials_(partials), partial_floats_(partial_floats) {
    for_each_unit([this](const AttendUnit& unit) { total_ += unit.cost(unit.rows); });
  }

  int group() const { return args_.heads / args_.kv_heads; }

  RowRange visible(const Segment& segment, int token) const {
    const int position = segment.past + token;
    return {args_.window > 0 ? std::max(0, position - args_.window + 1) : 0, position + 1};
  }

  template <class Body>
  void for_each_item(const Body& body) const {
    std::int64_t cost = 0;
    for_each_split([&](const AttendUnit& unit, float* partials) {
      if (partials == nullptr) {
        const std::int64_t own = unit.cost(unit.rows);
        body(AttendItem{unit, unit.first_part(), unit.last_part(), nullptr, cost + own / 2});
        cost += own;
        return;
      }
      for (int part = unit.first_part(); part < unit.last_part(); ++part) {
        const std::int64_t own = unit.cost(unit.rows.part(part));
        body(AttendItem{unit, part, part + 1, partials, cost + own / 2});
        cost += own;
      }
    });
  }

  // Calls body(unit, partials) for the units that were cut by part.
  template <class Body>
  void for_each_cut_unit(const Body& body) const {
    for_each_split([&](const AttendUnit& unit, float* partials) {
      if (partials != nullptr) body(unit, partials);
    });
  }

  // Equal shares of the cost, each a run of items.
  int worker_of(const AttendItem& item) const { return static_cast<int>(item.middle * workers_ / total_); }
  int workers() const { return workers_; }
  int share_floats() const { return 2 + args_.value_dim; }

 private:
  static constexpr int kManyParts = 4;  // For each worker: so many can be shared out evenly.

  // Of the shares of a unit that is cut by part.
  std::ptrdiff_t floats_of(const AttendUnit& unit) const {
    return static_cast<std::ptrdiff_t>(unit.parts()) * unit.count * share_floats();
  }

  // Key heads of a unit of this segment; 1 if it is not to have several.
  int heads_together(const Segment& segment) const {
    if (segment.count != 1) return 1;
    const AttendUnit all{&segment, group(), 0, args_.kv_heads, 0, args_.heads, visible(segment, 0)};
    const auto segments = static_cast<std::ptrdiff_t>(args_.batch->segments.size());
    if (all.parts() < kManyParts * workers_ || floats_of(all) * segments > partial_floats_) return 1;
    return std::max(1, std::min(args_.kv_heads, tile_ / group()));
  }

  template <class Body>
  void for_each_unit(const Body& body) const {
    for (const Segment& segment : args_.batch->segments) {
      const int together = heads_together(segment);
      for (int head = 0; head < args_.kv_heads; head += together) {
        const int heads = std::min(together, args_.kv_heads - head), queries = heads * segment.count * group();
        for (int begin = 0; begin < queries; begin += tile_) {
          AttendUnit unit{&segment, group(), head, heads, begin, std::min(tile_, queries - begin), {}};
          unit.rows = {visible(segment, unit.token(0)).begin, visible(segment, unit.token(unit.count - 1)).end};
          body(unit);
        }
      }
    }
  }

  // A unit is cut where it alone is more than a quarter of a worker's share and there is memory for it.
  template <class Body>
  void for_each_split(const Body& body) const {
    std::ptrdiff_t used = 0;
    for_each_unit([&](const AttendUnit& unit) {
      const std::ptrdiff_t floats = floats_of(unit);
      const bool large = workers_ > 1 && unit.parts() > 1 && 4 * workers_ * unit.cost(unit.rows) > total_;
      if (!large || used + floats > partial_floats_) return body(unit, static_cast<float*>(nullptr));
      body(unit, partials_ + used);
      used += floats;
    });
  }

  const AttendArgs& args_;
  int tile_, workers_;
  float* partials_;
  std::ptrdiff_t partial_floats_;
  std::int64_t total_ = 0;
};

}  // namespace plait
