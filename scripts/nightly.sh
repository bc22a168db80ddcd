#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/nightly.sh [STEP...]

What takes too long for each change. Each step is one test; the last line is "N passed, N failed, N skipped".
  release      preset release with every architecture; libkiln_cuda.so is smaller than 60 MB (needs nvcc)
  alone        every file compiled alone, without precompiled headers: finds missing includes
  install      the install test on an optimised library, shared and static
  asan, tsan   all tests under the sanitizers
  tidy         the checks of .clang-tidy on every .cpp file (needs clang-tidy and clang++; those in gpu need nvcc)
  attacks      tests/attacks.sh, 2000 failing calls and 200 runs with random limits, signals and pipes, against
               the build of preset ci (need python3); KILN_SHARED_DATA names a folder with instances of others
  fuzz         every fuzzer for KILN_FUZZ_S seconds (600) under its sanitizers, one for each core at once
               (needs clang++)
Without a STEP: all of them. Logs are in build/nightly.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/packages.sh
source scripts/packages.sh
# shellcheck source=scripts/build.sh
source scripts/build.sh

steps=(release alone install asan tsan tidy attacks fuzz)
for step in "$@"; do
  case $step in
    -h | --help) usage; exit 0 ;;
    *) [[ " ${steps[*]} " == *" $step "* ]] || { echo "unknown step '$step'" >&2; usage >&2; exit 2; } ;;
  esac
done
if [[ $# -gt 0 ]]; then steps=("$@"); fi

source_folders=(apps cpu_fallback engine gpu problems schedules tests)
skip=77  # the exit status of a step that this machine cannot do

step_release() {
  local module=build/release/lib/libkiln_cuda.so bytes
  command -v nvcc >/dev/null || { echo "no nvcc"; return $skip; }
  kiln_configure build/release --preset release -DKILN_CUDA=ON || return 1
  kiln_build build/release --target kiln_runtime || return 1
  bytes=$(stat -c %s "$module") || return 1
  echo "$module: $((bytes / 1000000)) MB, with"
  cuobjdump --list-elf "$module" | grep -oE 'sm_[0-9]+' | sort | uniq -c || return 1
  ((bytes < 60000000)) || { echo "expected less than 60 MB"; return 1; }
}

step_alone() {
  kiln_configure build/alone --preset ci -B build/alone -DKILN_FAST_BUILD=OFF -DKILN_CUDA=OFF || return 1
  kiln_build build/alone -- -k 0
}

step_install() {
  tests/install/run.sh && tests/install/run.sh --static
}

step_asan() { tests/run.sh --preset asan; }
step_tsan() { tests/run.sh --preset tsan; }

configure_fuzzers() {
  kiln_configure build/fuzz -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_COMPILER=clang++ -DKILN_FUZZ=ON -DKILN_WERROR=ON -DKILN_CUDA=OFF -DKILN_APPS=OFF -DKILN_EXAMPLES=OFF
}

# Of all sources, by the compile commands of the folder that lists them; the fuzzers have one of their own. A source
# that no folder lists fails, but for the consumer of the install test, whose library is not there.
step_tidy() {
  local folder
  { command -v clang-tidy && command -v clang++; } >/dev/null || { echo "no clang-tidy or no clang++"; return $skip; }
  # Without precompiled headers, which only the compiler that made them reads.
  kiln_configure build/tidy --preset dev -B build/tidy -DKILN_FAST_BUILD=OFF || return 1
  configure_fuzzers || return 1
  find "${source_folders[@]}" -name '*.cpp' ! -path 'tests/install/consumer/*' | sort >build/nightly/tidy-sources
  if ! grep -q '"file": .*/gpu/src/' build/tidy/compile_commands.json; then
    echo "left out, for there is no nvcc: gpu/"
    sed -i '/^gpu\//d' build/nightly/tidy-sources
  fi
  while read -r source; do
    folder=build/tidy
    if [[ $source == tests/fuzz/* ]]; then folder=build/fuzz; fi
    printf '%s\0%s\0' "$folder" "$source"
  done <build/nightly/tidy-sources | xargs -0 -r -n 2 -P "$(nproc)" clang-tidy --quiet -p
}

step_attacks() {
  local kiln=build/ci/bin/kiln failed=0
  command -v python3 >/dev/null || { echo "no python3"; return $skip; }
  kiln_configure build/ci --preset ci || return 1
  kiln_build build/ci --target kiln_program kiln_fail_call || return 1
  tests/attacks.sh --kiln "$kiln" || failed=1
  python3 -B tests/faults/run.py --kiln "$kiln" --shim build/ci/lib/libkiln_fail_call.so --faults 2000 || failed=1
  python3 -B tests/faults/kill.py --kiln "$kiln" --kills 100 || failed=1
  python3 -B tests/faults/kill_calls.py --kiln "$kiln" --shim build/ci/lib/libkiln_fail_call.so || failed=1
  python3 -B tests/attacks/random_runs.py --kiln "$kiln" --runs 200 || failed=1
  return $failed
}

# run_fuzzer PROGRAM SCRATCH: with its corpus; the log is shown where it finds something.
run_fuzzer() {
  local name=${1##*/fuzz_}
  mkdir -p "$2/$name"
  echo "$name"
  "$1" -max_total_time="${KILN_FUZZ_S:-600}" -artifact_prefix="build/nightly/$name-" "$2/$name" \
    "tests/fuzz/corpus/$name" >"build/nightly/fuzz-$name.log" 2>&1 ||
    { tail -n 40 "build/nightly/fuzz-$name.log"; return 1; }
}

step_fuzz() {
  local scratch status=0
  command -v clang++ >/dev/null || { echo "no clang++"; return $skip; }
  configure_fuzzers || return 1
  kiln_build build/fuzz --target kiln_fuzzers || return 1
  scratch=$(mktemp -d)
  export -f run_fuzzer
  # shellcheck disable=SC2016
  printf '%s\0' build/fuzz/bin/fuzz_* |
    xargs -0 -n 1 -P "$(nproc)" bash -c 'run_fuzzer "$1" "$0"' "$scratch" || status=1
  rm -rf "$scratch"
  return $status
}

kiln_need_packages "${KILN_BUILD_PACKAGES[@]}" "${KILN_TEST_PACKAGES[@]}"
kiln_find_nvcc
mkdir -p build/nightly
passed=0 failed=0 skipped=0
for step in "${steps[@]}"; do
  echo "== $step"
  status=0
  "step_$step" 2>&1 | tee "build/nightly/$step.log" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    "$skip") skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)); echo "FAILED: $step" ;;
  esac
done
echo
echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
