#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run.sh NM LIST. LIST names object files of the backends, one a line. Each instance of a
# density's or vector function's kernels must be defined in one of them only, that of its own folder:
# a second copy costs minutes of nvcc and is linked in its place, with other options of the compiler.
# No object of the CPU backend may have a variable of a thread with a destructor: its memory is counted
# nowhere and outlives the run, and a process without room to note the destructor is ended. Kernels
# take for_each_with_scratch().
set -euo pipefail

nm=$1
list=$2
instances=$(mktemp)
trap 'rm -f "$instances"' EXIT

# "<symbol><tab><object>" for every definition of such an instance.
while read -r object; do
  "$nm" -C --defined-only "$object" | cut -c20- |
    grep -E '(Density|VectorFunction)Kernels<|_kernels<|_by_(threads|teams)<|evaluate_slots<' |
    sort -u | sed "s|\$|\t$object|" || true
done <"$list" >"$instances"

kept=0
while read -r object; do
  [[ $object =~ /cpu_fallback/|/src/(densities|vector_functions)/.*\.cpp\. ]] || continue
  if "$nm" --undefined-only "$object" | grep __cxa_thread_atexit >/dev/null; then
    echo "a thread_local variable with a destructor in $object"
    kept=1
  fi
done <"$list"
[[ $kept -eq 0 ]] || exit 1

awk -F '\t' '
  FILENAME == ARGV[1] {
    where[$1] = where[$1] " " $2
    if (++copies[$1] == 2) twice[++repeated] = $1
    if ($1 ~ /(density|vector_function)_kernels<.*>\(\)/) defines[$2] = 1
    next
  }
  /\/src\/(densities|vector_functions)\// {
    ++folder
    if (!($1 in defines)) { print "not instantiated in " $1; failed = 1 }
  }
  END {
    if (folder == 0) { print "no object of a density was given"; failed = 1 }
    for (i = 1; i <= repeated; ++i) {
      if (i <= 10) print "compiled " copies[twice[i]] " times: " twice[i] " in" where[twice[i]]
      failed = 1
    }
    if (repeated > 10) print "and " repeated - 10 " more"
    if (!failed) print folder " densities and functions, each compiled once"
    exit failed
  }' "$instances" "$list"
