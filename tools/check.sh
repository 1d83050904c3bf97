#!/usr/bin/env bash
# One of the longer checks. ./test --all runs them all, each as a ctest case; each can be run alone.
#
#   tools/check.sh format | lint | clang | tsan | arm
#
# PLAIT_GOLDEN and PLAIT_SMOLLM2 as for ./test; the sanitizers do without.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/install.sh

# Sets version.
need_clang() {
  version=$(clang_version)
  [ -n "$version" ] || die "No clang++ of version 16 or newer is here."
}

sources() { find src include apps tests bench fuzz -name '*.cpp' -o -name '*.h' -o -name '*.c'; }

# configure PRESET [CMAKE ARGUMENTS]: warnings are errors.
configure() {
  # shellcheck disable=SC2046
  cmake --preset "$1" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON $(launcher) "${@:2}"
}

# Of the models that run under every schedule, those that the sanitizers leave out: the code is that of the others.
more_of_the_same='SameBits.*(mistral|rope3|qwen|Q4_1|Q6_K|tiny-hybrid)|MadeModel.*/(llama|qwen2|qwen3|qwen3moe|qwen3next|qwen35|lfm2)$'
# A sanitizer keeps freed memory for a while, and takes its time.
measures='^(engine/EngineMemory|text/PreTokenizer.NeedsTimeLinear)'

# What takes more than a minute in an emulator; the kernels beneath it have tests of their own.
slow_in_an_emulator='^backend/(Recur.GivesTheBits|Attend.*(AcrossParts|AnyNumberOfThreads)|Experts.GiveTheSameBits)'

# run_tests BUILD_DIR [CTEST ARGUMENTS]
run_tests() { ctest --test-dir "$1" --output-on-failure --parallel 2 "${@:2}"; }

# The files are kept as version 16 writes them; others differ in small things.
check_format() {
  if ! command -v clang-format-16 >/dev/null 2>&1; then
    echo "clang-format 16 is not here"
    exit 77
  fi
  sources | xargs clang-format-16 --dry-run --Werror
  echo "formatted: $(sources | wc -l) files"
}

# The compile commands of the release build, which may be g++'s: clang does not know all of its warnings, and its passes
# (-fno-tree-...) are an error to clang. Headers are looked at through the files that include them.
check_lint() {
  need_clang
  [ -e build/compile_commands.json ] || configure release
  mkdir -p build/lint
  sed -E 's/ -fno-tree-[a-z]+//g' build/compile_commands.json >build/lint/compile_commands.json
  sources | grep -E '^(src|apps)/.*\.cpp$' | xargs -P 2 -n 4 "clang-tidy-$version" -p build/lint --quiet \
    --warnings-as-errors='*' --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-optimization-argument
  echo "linted: $(sources | grep -cE '^(src|apps)/.*\.cpp$') files"
}

# The second compiler, the sanitizers and the fuzzers in one build. Sanitized programs are slow: without the full golden
# data and the default model. Of the tests from outside only those that measure neither time nor memory.
check_clang() {
  need_clang
  configure asan -DCMAKE_C_COMPILER="clang-$version" -DCMAKE_CXX_COMPILER="clang++-$version" -DPLAIT_FUZZ=ON
  ninja -C build-asan -j "$(build_jobs)"
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
  run_tests build-asan -E "^(tidy|slow/|end_to_end/|check/|docs/)|$measures|$more_of_the_same"
  run_tests build-asan -R '^end_to_end/pull'
  local names=() source
  for source in fuzz/*_fuzz.cpp; do names+=("$(basename "$source" _fuzz.cpp)"); done
  printf '%s\n' "${names[@]}" | xargs -P 2 -n 1 bash fuzz/run.sh build-asan 60  # Two at a time.
}

# What uses more than one thread.
check_tsan() {
  configure tsan
  local targets=() folder
  for folder in base backend engine models server; do
    if ls tests/$folder/*.cpp >/dev/null 2>&1; then targets+=("${folder}_test"); fi
  done
  ninja -C build-tsan -j "$(build_jobs)" "${targets[@]}"
  run_tests build-tsan -R '^(base|backend|engine|models|server)/' -E "$measures|$more_of_the_same"
}

# has_neon PROCESSOR: whether NEON kernels are there on it, which a test of all instruction sets tells.
has_neon() {
  local said
  said=$(qemu-aarch64 -cpu "$1" -L /usr/aarch64-linux-gnu build-arm64/tests/kernels_test --gtest_filter='Norm.*')
  [[ $said != *"skipped: neon"* ]]
}

# Arm's instruction sets: formats, kernels and the backend over them are built by a cross compiler and run by an emulator,
# which tells of their bits and not of their speed.
check_arm() {
  if [ "$(uname -m)" != x86_64 ]; then
    echo "the cross compiler is for x86-64; on an Arm machine ./test itself runs what this runs"
    exit 77
  fi
  configure arm64
  ninja -C build-arm64 -j "$(build_jobs)"
  python3 tools/tidy.py --objects build-arm64 --nm aarch64-linux-gnu-nm
  has_neon max || die "The emulator's best processor has no NEON kernels."
  ! has_neon cortex-a53 || die "A processor without the dot product has NEON kernels."
  run_tests build-arm64 -E "$slow_in_an_emulator"
}

case "${1:-}" in
  format | lint | clang | tsan | arm) "check_$1" ;;
  *) die "tools/check.sh: one of format, lint, clang, tsan, arm is wanted" ;;
esac
