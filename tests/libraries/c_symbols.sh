#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: c_symbols.sh NM LIBRARY HEADER. The functions that a C program can link are those of
# c_symbols.txt, and the header declares each of them.
set -euo pipefail
export LC_ALL=C

expected=$(dirname "${BASH_SOURCE[0]}")/c_symbols.txt
# Of the symbols of C++, which begin with _Z, nothing is promised.
if ! "$1" -D --defined-only "$2" | awk '{ print $NF }' | sed 's/@.*//' | grep -v '^_Z' | sort |
  diff "$expected" -; then
  echo "$2 exports other C symbols than $expected lists"
  exit 1
fi
while read -r name; do
  grep -q "KILN_API .*\b$name(" "$3" || { echo "$3 does not declare $name"; exit 1; }
done <"$expected"
echo "$(wc -l <"$expected") C symbols"
