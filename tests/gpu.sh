#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds Kiln with its CUDA backend on a machine with a GPU and runs what CI cannot: every test with
# KILN_REQUIRE_GPU=1, and with --sanitize the conformance tests under compute-sanitizer.
# Boost and toml++ are not needed: the command line is left out where they are missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
build=${KILN_GPU_BUILD:-build/gpu}
sanitize=0
for argument in "$@"; do
  case $argument in
    --sanitize) sanitize=1 ;;
    -h | --help) sed -n '4,8p' "$0" | cut -c3-; exit 0 ;;
    *) echo "unknown argument '$argument'; there is --sanitize" >&2; exit 2 ;;
  esac
done

apps=ON
for header in boost/program_options.hpp toml++/toml.h; do
  printf '#include <%s>\n' "$header" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1 || apps=OFF
done
echo '#include <boost/program_options.hpp>
int main() { boost::program_options::options_description d; }' >"${TMPDIR:-/tmp}/kiln_boost.$$.cpp"
c++ "${TMPDIR:-/tmp}/kiln_boost.$$.cpp" -o /dev/null -lboost_program_options 2>/dev/null || apps=OFF
rm -f "${TMPDIR:-/tmp}/kiln_boost.$$.cpp"

mkdir -p "$(dirname "$build")"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKILN_CUDA=ON -DKILN_WERROR=ON \
  -DCMAKE_CUDA_ARCHITECTURES="${KILN_GPU_ARCHITECTURE:-90}" -DKILN_APPS=$apps \
  -DKILN_NVCC_JOBS="$(nproc)" >"$build.configure.log" 2>&1 || { cat "$build.configure.log"; exit 1; }
ninja -k 0 -C "$build" >"$build.build.log" 2>&1 || { tail -40 "$build.build.log"; exit 1; }

export KILN_REQUIRE_GPU=1
failed=0
for program in "$build"/bin/kiln_*_tests; do
  echo "== ${program##*/}"
  filter='*'
  [[ $program == *cli* ]] && filter='*OnAGpu*' # the others need none
  "$program" --gtest_brief=1 "--gtest_filter=$filter" || failed=1
done
if [[ $sanitize -eq 1 ]]; then
  for tool in memcheck racecheck; do
    echo "== compute-sanitizer $tool"
    compute-sanitizer --tool $tool --error-exitcode 9 "$build"/bin/kiln_conformance_tests \
      --gtest_brief=1 "--gtest_filter=${KILN_SANITIZE_FILTER:-*uda*}" || failed=1
  done
fi
exit $failed
