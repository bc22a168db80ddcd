#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes tables and plots from docs/benchmarks/*.json: the tables go between the markers in
# docs/benchmarks/README.md, the plots beside it. Needs python3 and gnuplot.
set -euo pipefail

if [[ $# -gt 1 || ($# -eq 1 && $1 != --png) ]]; then
  echo "usage: apps/bench/plot.sh [--png]    (--png: plots as PNG in out/ as well, for looking at)" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

python3 "$here/report.py" "$root/docs/benchmarks" "$data"

# draw TERMINAL SUFFIX FOLDER
draw() {
  local plot name rows height
  for plot in "$here"/*.gp; do
    name=$(basename "$plot" .gp)
    if [[ ! -s $data/$name.dat ]]; then continue; fi
    rows=$(($(wc -l <"$data/$name.dat") - 1))
    height=$((rows > 20 ? 20 * rows + 140 : 520))
    gnuplot -e "data='$data/$name.dat'" -e "rows=$rows" \
      -e "series=$(cat "$data/$name.series")" \
      -e "set terminal $1 size 900,$height" -e "set output '$3/$name.$2'" "$plot"
  done
}
draw "svg dynamic background rgb 'white' font 'sans-serif,12'" svg "$root/docs/benchmarks"
if [[ ${1:-} == --png ]]; then
  mkdir -p "$root/out"
  draw "pngcairo font 'sans-serif,11'" png "$root/out"
fi
