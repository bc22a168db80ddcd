#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests tests/same_bits.py with a program that pretends to be kiln: what counts as a difference.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'same_bits test: %s\n' "$*" >&2; exit 1; }

# The pretended program takes its energy, clock and states from the environment.
cat >"$work/kiln" <<'TEXT'
#!/bin/bash
[[ ${BROKEN:-0} == 1 ]] && { echo 'error[internal]: broken' >&2; exit 1; }
while [[ $# -gt 0 ]]; do [[ $1 == -o ]] && out=$2; shift; done
mkdir "$out"
printf '{"energy":%s,"work":{"sweeps":3},"time":{"run_s":%s},"sample":{"rates":{"x":%s},"draws":[1.5,%s]}}' \
  "${ENERGY:--4.25}" "$RANDOM" "$RANDOM" "${DRAW:-2.5}" >"$out/result.json"
printf '%s\n' "${STATE:-1 -1}" >"$out/solution.txt"
printf 'x,value,eval_s\n0.5,%s,%s\n' "${VALUE:-7}" "$RANDOM" >"$out/evaluations.csv"
TEXT
chmod +x "$work/kiln"
record() { "$root/tests/same_bits.py" record --kiln "$work/kiln" --only annealing-sparse "$@" >"$work/log"; }
compare() { "$root/tests/same_bits.py" compare "$work/before.json" "$work/after.json" >"$work/log"; }

record "$work/before.json" || fail "a run was not recorded"
record "$work/after.json"
compare || fail "two equal runs differ: $(cat "$work/log")"
for planted in ENERGY=-4.250000000000001 DRAW=2.5000000000000004 STATE='1 1' VALUE=7.5; do
  (export "${planted?}" && record "$work/after.json")
  compare && fail "$planted was not seen"
  [[ $(head -n 1 "$work/log") == 'annealing-sparse differs:' ]] || fail "$planted: $(cat "$work/log")"
done
if BROKEN=1 record "$work/after.json"; then fail "a run that failed was recorded as good"; fi
if compare; then fail "a run that failed equals one that did not"; fi
if record --only no-such-run "$work/after.json"; then fail "no run at all was recorded as good"; fi
echo ok
