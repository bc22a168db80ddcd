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
  fuzz         every fuzzer for KILN_FUZZ_S seconds (60) under its sanitizers (needs clang++)
Without a STEP: all of them. Logs are in build/nightly.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/packages.sh
source scripts/packages.sh
# shellcheck source=scripts/build.sh
source scripts/build.sh

steps=(release alone install asan tsan fuzz)
for step in "$@"; do
  case $step in
    -h | --help) usage; exit 0 ;;
    *) [[ " ${steps[*]} " == *" $step "* ]] || { echo "unknown step '$step'" >&2; usage >&2; exit 2; } ;;
  esac
done
if [[ $# -gt 0 ]]; then steps=("$@"); fi

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

step_fuzz() {
  local fuzzer name scratch failed=0
  command -v clang++ >/dev/null || { echo "no clang++"; return $skip; }
  kiln_configure build/fuzz -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_COMPILER=clang++ -DKILN_FUZZ=ON -DKILN_CUDA=OFF -DKILN_APPS=OFF -DKILN_EXAMPLES=OFF || return 1
  kiln_build build/fuzz || return 1
  scratch=$(mktemp -d)
  for fuzzer in build/fuzz/bin/fuzz_*; do
    name=${fuzzer##*/fuzz_}
    mkdir -p "$scratch/$name"
    echo "$name"
    "$fuzzer" -max_total_time="${KILN_FUZZ_S:-60}" -artifact_prefix="build/nightly/$name-" "$scratch/$name" \
      "tests/fuzz/corpus/$name" >"build/nightly/fuzz-$name.log" 2>&1 ||
      { tail -n 40 "build/nightly/fuzz-$name.log"; failed=1; }
  done
  rm -rf "$scratch"
  return $failed
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
