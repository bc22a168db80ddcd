#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/packages.sh
source scripts/packages.sh
# shellcheck source=scripts/build.sh
source scripts/build.sh

if [[ $# -gt 0 ]]; then
  echo "usage: apps/demo.sh    (no arguments: builds Kiln and solves one Max-Cut instance)" >&2
  if [[ $1 == -h || $1 == --help ]]; then exit 0; else exit 2; fi
fi

number=1
while [[ -e out/demo-$number ]]; do
  number=$((number + 1))
done

echo "1. Build in build/release what this machine can run; install missing packages first."
echo "2. Search a large cut of the graph G22 (2000 nodes, 19990 edges) for ten seconds."
echo "3. Show the cut, how near it is to the best one known, the device, and the files in out/demo-$number."
echo

trap 'echo; echo "Interrupted. Run apps/demo.sh again: it goes on where it stopped." >&2; exit 130' INT TERM
kiln_need_packages "${KILN_BUILD_PACKAGES[@]}"
kiln_choose_backend
echo "$kiln_backend_sentence"
kiln_configure build/release --preset release "${kiln_backend_arguments[@]}" || exit 1
grep "Kiln: CUDA backend off" build/release/configure.log | grep -v 'KILN_CUDA=OFF' || true
kiln_build build/release --target kiln_runtime || exit 1
trap - INT TERM

mkdir -p out
echo
build/release/bin/kiln solve gset:G22 --time-limit 10 -o "out/demo-$number"
