#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tests/run.sh [--preset PRESET] [--cuda]

Builds what this machine can run and runs all tests: without a GPU the CPU build, where GPU cases are
counted as skipped; with one, the CUDA backend for its architecture, too. The last line is "N passed,
N failed, N skipped", counted over the single cases; the exit status is 0 only if nothing failed.

  --preset PRESET   a preset with tests: ci (the default), dev, cuda, checked, asan, tsan
  --cuda            the CUDA backend must be built (KILN_CUDA=ON), with or without a GPU

Environment: KILN_REQUIRE_GPU=1 makes a missing GPU a failure; KILN_TEST_TIMEOUT is the limit for a
part of a test program in seconds (1800); KILN_TEST_SHARDS is how many parts run at once (a core each,
four where there is a GPU). Missing packages are installed where that is allowed.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/packages.sh
source scripts/packages.sh
# shellcheck source=scripts/build.sh
source scripts/build.sh

preset=ci
force_cuda=0
while [[ $# -gt 0 ]]; do
  case $1 in
    --preset) preset=${2:?--preset needs a name}; shift 2 ;;
    --preset=*) preset=${1#*=}; shift ;;
    --cuda) force_cuda=1; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown argument '$1'" >&2; usage >&2; exit 2 ;;
  esac
done

passed=0
failed=0
skipped=0
troubles=()

finish() {
  echo
  local trouble
  for trouble in ${troubles[@]+"${troubles[@]}"}; do
    echo "FAILED: $trouble"
  done
  echo "$passed passed, $failed failed, $skipped skipped"
  if [[ $failed -eq 0 ]]; then exit 0; else exit 1; fi
}

kiln_need_packages "${KILN_BUILD_PACKAGES[@]}" "${KILN_TEST_PACKAGES[@]}"
kiln_choose_backend
case $preset in
  asan | tsan)
    kiln_backend_arguments=() kiln_backend_sentence="Building for the CPU: host code under its sanitizer."
    # Tests ask for more memory than there is, and want std::bad_alloc.
    export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_stack_use_after_return=1}
    export TSAN_OPTIONS=${TSAN_OPTIONS:-allocator_may_return_null=1}
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
    ;;
  cuda) force_cuda=1 ;;
esac
if [[ $force_cuda -eq 1 ]]; then
  kiln_backend_arguments=("${kiln_backend_arguments[@]/#-DKILN_CUDA=*/-DKILN_CUDA=ON}")
  kiln_backend_sentence="Building for the CPU and, as was asked, the CUDA backend."
fi

build=build/$preset
echo "== configure (preset $preset)"
echo "$kiln_backend_sentence"
if ! kiln_configure "$build" --preset "$preset" ${kiln_backend_arguments[@]+"${kiln_backend_arguments[@]}"}; then
  failed=1
  troubles+=("the configure step, see above")
  finish
fi
echo "== build"
# How many nvcc run at once is bounded by the build itself (KILN_NVCC_JOBS).
if ! kiln_build "$build"; then
  failed=1
  troubles+=("the build, see above")
  finish
fi

# count_xml FILE: prints "passed failed skipped" and then the names of failed cases, from GoogleTest's XML.
# A case is one <testcase> element; failures are its children, each on a line of its own.
count_xml() {
  awk '
    function value(name,   text) {
      if (!match($0, " " name "=\"[^\"]*\"")) return ""
      text = substr($0, RSTART, RLENGTH)
      sub(/^[^"]*"/, "", text)
      sub(/"$/, "", text)
      return text
    }
    /<testcase / {
      name = value("classname") "." value("name")
      counted = 0
      if (value("result") == "skipped" || value("status") == "notrun") skipped++
      else passed++
    }
    /<failure / && !counted { counted = 1; passed--; failed++; names = names name "\n" }
    END { printf "%d %d %d\n%s", passed, failed, skipped, names }
  ' "$1"
}

# count_text FILE: the same from the printed log of a program that did not live to write its XML. A case
# that began and did not end is a failure.
count_text() {
  awk '
    /\[ RUN      \] / { name = $0; sub(/.*\[ RUN      \] /, "", name); running = 1 }
    /\[       OK \] .* ms\)$/ { passed++; running = 0 }
    /\[  SKIPPED \] .* ms\)$/ { skipped++; running = 0 }
    /\[  FAILED  \] .* ms\)$/ { failed++; running = 0; names = names name "\n" }
    END {
      if (running) { failed++; names = names name " (did not end)\n" }
      printf "%d %d %d\n%s", passed, failed, skipped, names
    }
  ' "$1"
}

results=$build/results
rm -rf "$results"
mkdir -p "$results"
limit=${KILN_TEST_TIMEOUT:-1800}

shards=${KILN_TEST_SHARDS:-}
if [[ -z $shards ]]; then
  shards=$(nproc)
  # Parts share the memory of a GPU.
  if kiln_gpu_capabilities >/dev/null && ((shards > 4)); then shards=4; fi
fi

# More parts than run at once, so that no core waits for the longest.
parts=$((4 * shards))

# run_shard LABEL PROGRAM SHARD: one part of a program; its output and status lie in the results.
run_shard() {
  local part=$results/$1-$3 status=0
  GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$3 timeout --foreground --kill-after=10 "$limit" "$2" \
    --gtest_brief=0 --gtest_color=no "--gtest_output=xml:$part.xml" </dev/null >"$part.log" 2>&1 ||
    status=$?
  echo "$status" >"$part.status"
}

# count_shard LABEL SHARD: adds what a part has found.
count_shard() {
  local part=$results/$1-$2 status counted p f s name
  status=$(cat "$part.status")
  if [[ -s $part.xml ]]; then
    counted=$(count_xml "$part.xml")
  else
    counted=$(count_text "$part.log")
  fi
  read -r p f s <<<"$(head -n 1 <<<"$counted")"
  while read -r name; do
    troubles+=("$1: $name")
  done < <(tail -n +2 <<<"$counted")
  if [[ $status -eq 124 ]]; then
    troubles+=("$1: stopped after $limit s")
    [[ $f -gt 0 ]] || f=1
  elif [[ $status -ne 0 && $f -eq 0 ]]; then
    troubles+=("$1: the program ended with status $status")
    f=1
  fi
  passed=$((passed + p))
  failed=$((failed + f))
  skipped=$((skipped + s))
}

labels=() programs=()
while read -r label program; do
  labels+=("$label")
  programs+=("$program")
done < <(cat "$build"/gtest_programs_*.txt)

# report_ready: tells of the programs all of whose parts have ended, in order.
reported=0
report_ready() {
  local label shard
  while ((reported < ${#labels[@]})); do
    label=${labels[reported]}
    for ((shard = 0; shard < parts; shard++)); do
      [[ -s $results/$label-$shard.status ]] || return 0
    done
    # What is neither a case that passed nor one that was skipped.
    for ((shard = 0; shard < parts; shard++)); do
      grep -v -E '^\[ (RUN     |      OK|  SKIPPED) \]|^\[  SKIPPED|^\[[-=]{10}\]|^\[  PASSED|: Skipped$|^no GPU: |^Note: |^$' \
        "$results/$label-$shard.log" || true
      count_shard "$label" "$shard"
    done
    echo "== $label tests: after $((SECONDS - begin)) s $passed passed, $failed failed, $skipped skipped"
    reported=$((reported + 1))
  done
}

# Programs in the background do not hear an interrupt from the terminal.
trap 'trap - INT; kill 0' INT
begin=$SECONDS
running=0
for i in "${!labels[@]}"; do
  for ((shard = 0; shard < parts; shard++)); do
    if ((running == shards)); then
      wait -n
      running=$((running - 1))
      report_ready
    fi
    run_shard "${labels[i]}" "${programs[i]}" "$shard" &
    running=$((running + 1))
  done
done
wait
report_ready
cat "$results"/*-*.log | awk '
  /^no GPU: / { reasons[$0]++ }
  END { for (reason in reasons) print "skipped " reasons[reason] " cases: " reason }'
trap - INT

# Everything that is no GoogleTest program counts as one test each.
echo "== headers, install, examples and guides"
log=$results/ctest.log
(cd "$build" && ctest --output-on-failure --parallel "$(nproc)" \
  --label-exclude '^(unit|conformance|statistical|cli)$') </dev/null 2>&1 | tee "$log" || true
while read -r outcome name; do
  case $outcome in
    passed) passed=$((passed + 1)) ;;
    skipped) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)); troubles+=("$name") ;;
  esac
done < <(awk '
  /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
    name = $0
    sub(/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /, "", name)
    rest = name
    sub(/ .*/, "", name)
    if (rest ~ / Passed +[0-9.]+ sec/) print "passed", name
    else if (rest ~ /\*\*\*Skipped|\(Disabled\)/) print "skipped", name
    else print "failed", name
  }' "$log")
if ! grep -q -E '^100% tests passed|tests failed out of|^No tests were found' "$log"; then
  failed=$((failed + 1))
  troubles+=("ctest itself")
fi
finish
