// Progress: how far long work is, on standard error: a bar on a terminal, elsewhere a line every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace plait {

enum class ProgressUnit { kCount, kBytes };

// Where and when progress is shown; the default is standard error.
struct ProgressStyle {
  bool terminal = false;
  std::chrono::milliseconds interval{5000};  // Between two lines, or two drawings of the bar.
  std::function<void(std::string_view)> write;

  static ProgressStyle standard_error();
};

class Progress {
 public:
  // `total` of zero: not known.
  Progress(std::string label, std::uint64_t total, ProgressUnit unit,
           ProgressStyle style = ProgressStyle::standard_error());
  ~Progress();  // Ends the bar's line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap to call often. `done` may go back.
  void update(std::uint64_t done);
  void set_total(std::uint64_t total) { total_ = total; }
  // Shows the last state. Nothing was ever shown and the work was short: stays silent, but on a terminal.
  void finish();
  // Takes the bar off the line, so that something else can be printed; the next update draws it again.
  void hide();

 private:
  void show();

  std::string label_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t first_ = 0;  // Where the work began: resumed downloads do not begin at zero.
  bool begun_ = false;
  bool shown_ = false;  // Something stands on the line, or a line was printed.
  bool finished_ = false;
  ProgressUnit unit_;
  ProgressStyle style_;
  std::chrono::steady_clock::time_point start_, last_shown_;
};

struct ProgressState {
  std::uint64_t done, total;  // `total` of zero: not known.
  double per_second;
  ProgressUnit unit;
};

// "smollm2  [#####-----]  48% 47.2/98.4 MB 10.3 MB/s 5 s left"; without the bar when `bar_width` is zero.
std::string progress_line(std::string_view label, const ProgressState& state, int bar_width);

}  // namespace plait
