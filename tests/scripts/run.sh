#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests scripts/build.sh with programs that pretend to be nvidia-smi, nvcc and cmake, and that tests/attacks leave no
# process behind.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=scripts/build.sh
source "$root/scripts/build.sh"
kiln_find_nvcc() { :; }
mkdir "$work/bin"
PATH=$work/bin:$PATH

fail() { printf 'script test: %s\n' "$*" >&2; exit 1; }
# program NAME LINE...: a program that is found before any other of that name.
program() {
  local name=$1
  shift
  printf '%s\n' '#!/bin/bash' "$@" >"$work/bin/$name"
  chmod +x "$work/bin/$name"
}
# expect WHAT EXPECTED GOT
expect() { [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"; }

program nvcc 'printf "compute_%s\n" 75 80 86 90 100 120'
chosen() { kiln_choose_backend && echo "${kiln_backend_arguments[*]}"; }
program nvidia-smi 'exit 9'
expect "a driver that does not answer" "-DKILN_CUDA=OFF" "$(chosen)"
program nvidia-smi 'echo 9.0; echo 12.0; echo 9.0'
expect "three GPUs of two kinds" "-DKILN_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=90-real;120-real" "$(chosen)"
program nvidia-smi 'echo 10.3'
expect "a GPU newer than nvcc" "-DKILN_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=100-virtual" "$(chosen)"
program nvidia-smi 'echo 7.5'
expect "a GPU that is too old" "-DKILN_CUDA=OFF" "$(chosen)"
program nvidia-smi 'echo "[N/A]"'
expect "a driver that does not know" "-DKILN_CUDA=OFF" "$(chosen)"

# A compiler that is silent for long: progress goes on. The pretended ninja waits until it was shown twice.
seen=$work/seen
silent_ninja() {
  echo '[0/2] Re-checking globbed directories...'
  echo '@1/3 Building one'
  local tries=0
  while [[ $(grep -c 'built 1 of 3' "$seen") -lt 2 && $((++tries)) -lt 600 ]]; do sleep 0.1; done
  echo "$tries" >"$work/tries"
  printf 'warning: of a compiler\n@2/3 Building two\n@3/3 Linking'
}
: >"$seen"
silent_ninja | KILN_PROGRESS_S=1 kiln_show_progress "$work/log" >>"$seen"
(($(cat "$work/tries") < 600)) || fail "nothing is shown while the compiler is silent"
expect "lines of other kinds" "0" "$(grep -c -v '^  built [123] of 3' "$seen" || true)"
expect "what is kept" $'[0/2] Re-checking globbed directories...\n@1/3 Building one\nwarning: of a compiler\n@2/3 Building two\n@3/3 Linking' \
  "$(cat "$work/log")"
expect "the rest at a third" ", about 20 s left" "$(kiln_time_left 5 15 10 0)"
expect "a rest in minutes" ", about 15 min left" "$(kiln_time_left 100 400 300 0)"

# A build that fails says what the compiler said, and that memory ran out where it did.
program cmake 'echo "@1/2 Building a"; echo "FAILED: a.o"; echo "a.cpp:1: error: no"; echo "c++: fatal error: Killed signal terminated program cc1plus"; exit 1'
if kiln_build "$work" >"$work/out" 2>"$work/err"; then fail "a failed build passed"; fi
for text in 'FAILED: a.o' 'a.cpp:1: error: no' 'memory ran out' "$work/build.log"; do
  grep -q -F "$text" "$work/err" || fail "'$text' is not told: $(cat "$work/err")"
done
program cmake 'echo "@1/1 Building a"'
kiln_build "$work" >/dev/null || fail "a build that succeeded failed"

# A folder of another generator is configured afresh; a mistake is shown.
# shellcheck disable=SC2016
program cmake '[[ $1 == --fresh ]] || { echo "another generator"; exit 1; }'
if kiln_configure "$work/new" --preset x 2>"$work/err"; then fail "a failed configure step passed"; fi
grep -q "another generator" "$work/err" || fail "why the configure step failed is not told"
touch "$work/new/CMakeCache.txt"
kiln_configure "$work/new" --preset x >/dev/null || fail "a folder of another generator stays unusable"
echo "scripts/build.sh does what it says"

if command -v python3 >/dev/null; then
  (cd "$root/tests/attacks" && python3 -B processes_test.py 2>"$work/err") || fail "$(cat "$work/err")"
  echo "rows of tests/attacks end with all that they have started"
fi
