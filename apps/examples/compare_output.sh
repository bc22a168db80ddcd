#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# compare_output.sh PROGRAM EXPECTED: runs PROGRAM and compares its stdout with the file EXPECTED.
# Exit status: 0 equal, 77 the program skipped itself with 77, 1 anything else.
set -euo pipefail

program=$1
expected=$2
output=$(mktemp)
trap 'rm -f "$output"' EXIT

status=0
"$program" >"$output" || status=$?
if [[ $status -eq 77 ]]; then
  exit 77
fi
if [[ $status -ne 0 ]]; then
  echo "$program ended with status $status" >&2
  exit 1
fi
# --label is GNU diff; - is what was expected, + what was printed.
if ! diff -u --label expected --label printed "$expected" "$output"; then
  echo "The output of $program differs from $expected." >&2
  exit 1
fi
