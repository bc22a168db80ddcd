#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs the benchmark suites on one device and keeps the documents that the program writes, as
# docs/benchmarks/<suite>_<device>.json. Needs bash and coreutils, no network.
set -euo pipefail

usage="usage: apps/bench/collect.sh [options] [SUITE ...]

Without a SUITE all that \`kiln list suites\` knows.
  --device NAME    cpu, cuda or cuda:N (default cpu)
  --kiln PROGRAM   default build/release/bin/kiln, else build/ci/bin/kiln
  --output DIR     default docs/benchmarks
  --name NAME      the device in file names (default: cpu, or what the GPU is called)
  --time-limit T   about how long each suite measures (default: the program's own)"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
device=cpu
kiln=
output=$root/docs/benchmarks
name=
limits=()
suites=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) echo "$usage"; exit 0 ;;
    --device | --kiln | --output | --name | --time-limit)
      if [[ $# -lt 2 ]]; then echo "$1 needs a value" >&2; exit 2; fi
      case $1 in
        --device) device=$2 ;;
        --kiln) kiln=$2 ;;
        --output) output=$2 ;;
        --name) name=$2 ;;
        --time-limit) limits=(--time-limit "$2") ;;
      esac
      shift 2 ;;
    -*) echo "unknown option $1" >&2; echo "$usage" >&2; exit 2 ;;
    *) suites+=("$1"); shift ;;
  esac
done

if [[ -z $kiln ]]; then
  for preset in release ci; do
    if [[ -z $kiln && -x $root/build/$preset/bin/kiln ]]; then kiln=$root/build/$preset/bin/kiln; fi
  done
fi
if [[ -z $kiln ]]; then
  echo "no program: build the target kiln_runtime, or give --kiln PROGRAM" >&2
  exit 1
fi
if [[ ${#suites[@]} -eq 0 ]]; then
  mapfile -t suites < <("$kiln" list suites | cut -d ' ' -f 1)
fi

# slug_of DOCUMENT: "NVIDIA H200, driver 580.65" becomes nvidia-h200.
slug_of() {
  local text
  text=$(<"$1")
  if [[ $text =~ \"device\":\ *\{[^}]*\"name\":\ *\"cpu\" ]]; then
    echo cpu
  elif [[ $text =~ \"device\":\ *\{[^}]*\"description\":\ *\"([^\",]+) ]]; then
    tr '[:upper:]' '[:lower:]' <<<"${BASH_REMATCH[1]}" | tr -cs '[:alnum:]\n' '-'
  else
    echo "there is no device in $1" >&2
    return 1
  fi
}

mkdir -p "$output"
for suite in "${suites[@]}"; do
  document=$(mktemp "$output/.$suite.XXXXXX")
  trap 'rm -f "$document"' EXIT
  "$kiln" bench "$suite" --device "$device" ${limits[@]+"${limits[@]}"} --json >"$document"
  slug=${name:-$(slug_of "$document")}
  chmod 644 "$document"
  mv "$document" "$output/${suite}_$slug.json"
  echo "$output/${suite}_$slug.json"
done
