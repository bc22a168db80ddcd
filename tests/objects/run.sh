#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run.sh NM LIST. LIST names object files of the backends, one a line. Each instance of a
# density's or vector function's kernels must be defined in one of them only, that of its own folder:
# a second copy costs minutes of nvcc and is linked in its place, with other options of the compiler.
# No object of the CPU backend may have a variable of a thread with a destructor: its memory is counted
# nowhere and outlives the run, and a process without room to note the destructor is ended. Kernels
# take for_each_with_scratch(). What an object for AVX2 or AVX-512 shares with others is nothing but the namespace of Eigen
# for its instruction set: the linker keeps one copy of a shared function for all processors.
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

# W, V and u: definitions that the linker merges. DW.ref is the address of a function of the runtime.
merged=0
with_eigen=0
while read -r object; do
  [[ $object =~ _(avx2|avx512)\.cpp\. ]] || continue
  set=${BASH_REMATCH[1]}
  while read -r name; do
    echo "$object defines $name, and so may others"
    merged=1
  done < <("$nm" --defined-only "$object" | awk '$2 ~ /[WVu]/ {print $3}' |
    grep -vE "kiln_eigen_$set|^DW\.ref\." || true)
  ! "$nm" "$object" | grep "kiln_eigen_$set" >/dev/null || with_eigen=$((with_eigen + 1))
done <"$list"
[[ $merged -eq 0 ]] || exit 1
if grep -q '_avx2\.cpp\.' "$list" && [[ $with_eigen -lt 2 ]]; then
  echo "expected Eigen in objects for AVX2 and for AVX-512, found it in $with_eigen"
  exit 1
fi

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
