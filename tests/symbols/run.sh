#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run.sh NM LIBRARY TABLE HEADER. The C symbols that LIBRARY exports are those of TABLE, begin with
# kiln_, and HEADER declares each of them. Its C++ symbols name something of namespace kiln, or are weak: copies of templates of the standard
# library and descriptions of types, which the linker merges. It imports nothing that prints or that handles signals.
set -euo pipefail
export LC_ALL=C

nm=$1
library=$2
table=$3
header=$4
failed=0
complain() { printf '%s\n' "$*"; failed=1; }

symbols=$("$nm" -D --defined-only "$library" | awk '{print $2, $3}' | sed 's/@.*//')
found=$(awk '$2 !~ /^_Z/ {print $2}' <<<"$symbols" | sort -u)
listed=$(grep -v '^#' "$table" | sed '/^$/d' || true)
[[ $listed == "$(sort -u <<<"$listed")" ]] || complain "$table is not sorted"
while read -r name; do
  [[ -z $name ]] || complain "$name is exported, and not in $table"
done < <(comm -23 <(printf '%s\n' "$found") <(printf '%s\n' "$listed"))
while read -r name; do
  [[ -z $name ]] || complain "$name is in $table, and not exported"
done < <(comm -13 <(printf '%s\n' "$found") <(printf '%s\n' "$listed"))
while read -r name; do
  [[ -z $name || $name == kiln_* ]] || complain "$name does not begin with kiln_"
  [[ -z $name ]] || grep -q "KILN_API .*\b$name(" "$header" || complain "$header does not declare $name"
done <<<"$found"

# W, V and u: weak, or unique in the process.
count=0
while read -r kind name; do
  [[ $name == _Z* ]] || continue
  count=$((count + 1))
  [[ $name == *4kiln* ]] && continue
  # Another copy of a dependency's functions in the program would be replaced by these, or replace them.
  [[ $kind == [WVu] && ! $name =~ (3fmt|8nlohmann|5boost|4toml|ZSTD) ]] ||
    complain "$name is exported, and is nothing of Kiln"
done <<<"$symbols"
[[ $count -gt 100 ]] || complain "expected more than 100 C++ symbols in $library, found $count"

# No handlers. pthread_sigmask is none: a thread that writes to a worker keeps SIGPIPE from itself meanwhile,
# and restores its own mask.
imports=$("$nm" -D --undefined-only "$library" | awk '{print $NF}' | sed 's/@.*//')
while read -r name; do
  case $name in
    sigaction | signal | sigset | sigprocmask | bsd_signal | __sysv_signal | psignal | \
      printf | vprintf | puts | putchar | putc | perror | __printf_chk | __vprintf_chk | \
      _ZSt4cout | _ZSt4cerr | _ZSt4clog)
      complain "$library imports $name: a library prints nothing and leaves signals to its program"
      ;;
  esac
done <<<"$imports"
[[ $(wc -l <<<"$imports") -gt 50 ]] || complain "expected more than 50 imports of $library"

[[ $failed -ne 0 ]] || echo "$count C++ symbols of Kiln, C symbols as in the table"
exit "$failed"
