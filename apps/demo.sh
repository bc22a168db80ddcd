#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/packages.sh
source scripts/packages.sh

if [[ $# -gt 0 ]]; then
  echo "usage: apps/demo.sh    (no arguments: builds Kiln and solves one Max-Cut instance)" >&2
  if [[ $1 == -h || $1 == --help ]]; then exit 0; else exit 2; fi
fi

number=1
while [[ -e out/demo-$number ]]; do
  number=$((number + 1))
done

echo "1. Build Kiln in build/release, for the GPU too where nvcc is found; install missing packages first."
echo "2. Search a large cut of the graph G22 (2000 nodes, 19990 edges) for ten seconds."
echo "3. Show the cut, how near it is to the best one known, the device, and the files in out/demo-$number."
echo

kiln_need_packages "${KILN_BUILD_PACKAGES[@]}"
kiln_find_nvcc

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# quietly WHAT COMMAND...: shows the command's output only if it fails.
quietly() {
  local what=$1
  shift
  if ! "$@" >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "$what failed; the output is above." >&2
    exit 1
  fi
}
quietly "The configure step" cmake --preset release
grep "Kiln: CUDA backend" "$log" || true
echo "Building (a few minutes the first time) ..."
quietly "The build" cmake --build build/release --target kiln_runtime --parallel "$(nproc)"

mkdir -p out
echo
build/release/bin/kiln solve gset:G22 --time-limit 10 -o "out/demo-$number"
