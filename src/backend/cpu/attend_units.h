// How attention is cut into units of work: (segment, key head, queries), and where that is too coarse, by part.
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

// Queries of one segment that read one key head; query i is head i % group of the segment's token i / group.
struct AttendUnit {
  const Segment* segment = nullptr;
  int kv_head = 0;
  int begin = 0, count = 0;  // Queries.
  RowRange rows;             // Rows that any of them sees.

  int first_part() const { return rows.begin / kAttendPart; }
  int last_part() const { return (rows.end - 1) / kAttendPart + 1; }
  int parts() const { return last_part() - first_part(); }
  std::int64_t cost(RowRange of) const { return static_cast<std::int64_t>(count) * (of.end - of.begin); }
};

// Some parts of a unit; `partials` is null when they are all of them.
struct AttendItem {
  AttendUnit unit;
  int first_part = 0, last_part = 0;
  float* partials = nullptr;     // Of the unit: [parts][count] shares of 2 + value_dim floats.
  std::int64_t cost_before = 0;  // Of all items that come before.
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

  RowRange visible(const Segment& segment, int query) const {
    const int position = segment.past + query / group();
    return {args_.window > 0 ? std::max(0, position - args_.window + 1) : 0, position + 1};
  }

  template <class Body>
  void for_each_item(const Body& body) const {
    std::int64_t cost = 0;
    for_each_split([&](const AttendUnit& unit, float* partials) {
      if (partials == nullptr) {
        body(AttendItem{unit, unit.first_part(), unit.last_part(), nullptr, cost});
        cost += unit.cost(unit.rows);
        return;
      }
      for (int part = unit.first_part(); part < unit.last_part(); ++part) {
        body(AttendItem{unit, part, part + 1, partials, cost});
        cost += unit.cost(unit.rows.part(part));
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
  int worker_of(const AttendItem& item) const { return static_cast<int>(item.cost_before * workers_ / total_); }
  int workers() const { return workers_; }
  int share_floats() const { return 2 + args_.value_dim; }

 private:
  template <class Body>
  void for_each_unit(const Body& body) const {
    for (const Segment& segment : args_.batch->segments) {
      const int queries = segment.count * group();
      for (int head = 0; head < args_.kv_heads; ++head) {
        for (int begin = 0; begin < queries; begin += tile_) {
          const int count = std::min(tile_, queries - begin);
          const RowRange rows{visible(segment, begin).begin, visible(segment, begin + count - 1).end};
          body(AttendUnit{&segment, head, begin, count, rows});
        }
      }
    }
  }

  // A unit is cut where it alone is more than a quarter of a worker's share and there is memory for it.
  template <class Body>
  void for_each_split(const Body& body) const {
    std::ptrdiff_t used = 0;
    for_each_unit([&](const AttendUnit& unit) {
      const std::ptrdiff_t floats = static_cast<std::ptrdiff_t>(unit.parts()) * unit.count * share_floats();
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
