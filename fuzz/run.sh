#!/usr/bin/env bash
# Runs every fuzzer of a build for some time over its corpus. usage: fuzz/run.sh BUILD_DIR SECONDS [NAME...]
# Ends with 1 if one found something; the input that did it lies in BUILD_DIR/findings.
set -u
build=${1:?usage: fuzz/run.sh BUILD_DIR SECONDS [NAME...]}
seconds=${2:?usage: fuzz/run.sh BUILD_DIR SECONDS [NAME...]}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
findings=$build/findings
mkdir -p "$findings"
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for source in "$here"/*_fuzz.cpp; do names+=("$(basename "$source" _fuzz.cpp)"); done
fi
failed=0
for name in "${names[@]}"; do
  program=$build/fuzz/${name}_fuzz
  if [ ! -x "$program" ]; then
    echo "$name: $program is not built" >&2
    failed=1
    continue
  fi
  # New inputs go to a copy, so that the seeds stay as they are.
  corpus=$build/corpus/$name
  mkdir -p "$corpus" "$here/corpus/$name"
  words=()
  [ -f "$here/$name.dict" ] && words=("-dict=$here/$name.dict")
  echo "== $name for $seconds s"
  if ! "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=0 -verbosity=0 \
      -artifact_prefix="$findings/$name-" "${words[@]}" "$corpus" "$here/corpus/$name"; then
    echo "$name: found something; see $findings" >&2
    failed=1
  fi
done
exit $failed
