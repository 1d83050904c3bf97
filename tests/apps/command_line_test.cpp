// What the program's own helpers promise: suggestions, amounts of memory, progress, safe text.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "common_options.h"
#include "progress.h"
#include "suggest.h"

namespace plait {
namespace {

TEST(Suggest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("threads", "threads"), 0);
  EXPECT_EQ(edit_distance("thread", "threads"), 1);
  EXPECT_EQ(edit_distance("trheads", "threads"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, FindsTheNearestWordOrNone) {
  const std::vector<std::string> words = {"--threads", "--temp", "--top-k", "-t", "--ctx-size"};
  EXPECT_EQ(nearest("--thread", words), "--threads");
  EXPECT_EQ(nearest("--tmep", words), "--temp");
  EXPECT_EQ(nearest("--ctx", words), "--ctx-size");
  EXPECT_EQ(nearest("--top_k", words), "--top-k");
  EXPECT_EQ(nearest("--something-else-entirely", words), "");
}

TEST(ParseBytes, KnowsTheSuffixes) {
  const std::vector<std::pair<std::string, size_t>> cases = {
      {"1", 1},         {"4096", 4096},          {"512K", 512u << 10},
      {"3m", 3u << 20}, {"2G", size_t{2} << 30}, {"1.5GiB", size_t{3} << 29},
      {"8kb", 8192},    {"1T", size_t{1} << 40}, {"7B", 7}};
  for (const auto& [text, bytes] : cases) {
    const Result<size_t> parsed = parse_bytes(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(ParseBytes, RefusesWhatIsNoAmount) {
  for (const char* text : {"", "G", "-1G", "0", "1Q", "1 G", "1GG", "nan", "inf", "1e3", "99999999999999T", "K1"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(Output, ShowsNoTerminalCodes) {
  EXPECT_EQ(without_terminal_codes("plain\ttext\n"), "plain\ttext\n");
  EXPECT_EQ(without_terminal_codes("a\x1b[31mred\x07"), "a\xef\xbf\xbd[31mred\xef\xbf\xbd");
  EXPECT_EQ(without_terminal_codes("\xc2\x9b"
                                   "31m"),
            "\xef\xbf\xbd"
            "31m");  // C1: the one-character CSI.
  EXPECT_EQ(without_terminal_codes("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

CLI::App& command_of(CLI::App& app, CommonOptions& options) {
  CLI::App& command = *app.add_subcommand("test", "");
  add_common_options(command, options);
  return command;
}

TEST(CommonOptions, AreReadAsTheirUsersKnowThem) {
  CLI::App app;
  CommonOptions options;
  command_of(app, options);
  app.parse(
      "test -t 3 --isa scalar -c 0 -b 64 --mem 1G --cache-type-k f32 --seed 7 -v --no-check --mlock --no-mmap "
      "--no-pin --activations 16");
  EXPECT_EQ(options.threads, 3);
  EXPECT_EQ(options.isa, "scalar");
  EXPECT_EQ(options.activations, 16);
  EXPECT_EQ(options.context_size, 0);
  EXPECT_EQ(options.batch_size, 64);
  EXPECT_EQ(options.memory_bytes, size_t{1} << 30);
  EXPECT_EQ(options.cache_type_k, "f32");
  EXPECT_EQ(options.cache_type_v, "f16");
  EXPECT_EQ(options.seed, 7u);
  EXPECT_TRUE(options.verbose && options.lock_memory);
  EXPECT_FALSE(options.check || options.map_file || options.pin);
}

TEST(CommonOptions, HaveDefaultsWhenNothingIsSaid) {
  CLI::App app;
  CommonOptions options;
  command_of(app, options);
  app.parse("test");
  EXPECT_FALSE(options.context_size || options.memory_bytes || options.seed);
  EXPECT_TRUE(options.check && options.map_file && options.pin);
  EXPECT_FALSE(options.verbose || options.lock_memory);
}

TEST(CommonOptions, RefuseValuesThatMakeNoSense) {
  for (const char* line : {"test -t 0", "test -t x", "test -c -1", "test -b 0", "test --mem lots",
                           "test --cache-type-v q8", "test --activations 12", "test --activations 7"}) {
    CLI::App app;
    CommonOptions options;
    command_of(app, options);
    EXPECT_THROW(app.parse(line), CLI::ParseError) << line;
  }
}

TEST(OnRun, GivesEachKindOfErrorItsExitStatus) {
  const std::vector<std::pair<ErrorCode, int>> cases = {{ErrorCode::kCorrupt, kExitFailed},
                                                        {ErrorCode::kInvalidArgument, kExitFailed},
                                                        {ErrorCode::kCancelled, kExitInterrupted}};
  for (const auto& [code, status] : cases) {
    CLI::App app;
    Context context;
    CLI::App& command = add_command(app, CommandGroup::kUse, {"work", "works", ""});
    on_run(command, context, [wanted = code] { return Result<void>(fail(wanted, "for the test")); });
    app.parse("work");
    EXPECT_EQ(context.exit_status, status);
  }
  CLI::App app;
  Context context;
  CLI::App& command = add_command(app, CommandGroup::kUse, {"work", "works", ""});
  on_run(command, context, [&] { return Result<void>(context.usage("for the test")); });
  app.parse("work");
  EXPECT_EQ(context.exit_status, kExitUsage);
}

TEST(Progress, ShowsShareRateAndTimeLeft) {
  const ProgressState half{.done = 50'000'000, .total = 100'000'000, .per_second = 10e6, .unit = ProgressUnit::kBytes};
  EXPECT_EQ(progress_line("smollm2", half, 10), "smollm2  [#####-----]  50%  50.0/100.0 MB  10.0 MB/s  5 s left");
  const ProgressState unknown{.done = 7, .total = 0, .per_second = 2, .unit = ProgressUnit::kCount};
  EXPECT_EQ(progress_line("windows", unknown, 10), "windows  7  2.0/s");
}

TEST(Progress, PrintsLinesWhereThereIsNoTerminal) {
  std::string out;
  ProgressStyle style{.terminal = false, .interval = std::chrono::milliseconds(0), .write = [&](std::string_view text) {
                        out += text;
                      }};
  {
    Progress progress("work", 4, ProgressUnit::kCount, style);
    progress.update(1);
    progress.update(4);
    progress.finish();
  }
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
  EXPECT_EQ(out.find('\r'), std::string::npos);
}

TEST(Progress, StaysSilentInAFileWhenTheWorkIsShort) {
  std::string out;
  ProgressStyle style{
      .terminal = false, .interval = std::chrono::hours(1), .write = [&](std::string_view text) { out += text; }};
  Progress progress("work", 4, ProgressUnit::kCount, style);
  progress.update(4);
  progress.finish();
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace plait
