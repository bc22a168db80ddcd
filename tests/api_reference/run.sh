#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh ROOT WORK
# Writes the API reference of ROOT into WORK, and finds in it what programs begin with. Then each of some
# mistakes in a header must be an error. Exit status 77 where there is no doxygen.
set -euo pipefail
root=$1 work=$2
say() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
rm -rf "$work"
mkdir -p "$work"

say "the reference of the public headers"
status=0
"$root/scripts/api_reference.sh" "$work/reference" || status=$?
[[ $status -eq 0 ]] || exit "$status"
for page in index classkiln_1_1Engine structkiln_1_1Result classkiln_1_1SimulatedAnnealing \
  kiln_8h plugin_8h device__objective_8cuh; do
  [[ -s $work/reference/html/$page.html ]] || fail "no page $page"
done
grep -q 'kiln_solve' "$work/reference/html/kiln_8h.html" || fail "kiln.h has no kiln_solve"
grep -q 'KILN_PLUGIN' "$work/reference/html/plugin_8hpp.html" || fail "plugin.hpp has no KILN_PLUGIN"
version=$(sed -n '/^project(kiln/,/)/s/^ *VERSION //p' "$root/CMakeLists.txt")
grep -qF "$version" "$work/reference/html/index.html" || fail "the first page does not say $version"
if find "$work/reference/html" -name '*_1_1detail*' | grep .; then fail "these pages are of namespaces detail"; fi

# expect_warning NAME WORDS: the header on standard input is refused with these words.
expect_warning() {
  say "a header with $1 is refused"
  cat >"$work/mistake.hpp"
  if "$root/scripts/api_reference.sh" "$work/mistake" "$work/mistake.hpp" >"$work/log" 2>&1; then
    fail "$1: no error"
  fi
  grep -q "mistake.hpp.*$2" "$work/log" || { cat "$work/log"; fail "$1: not said"; }
}
expect_warning "a parameter that is left out" "not documented" <<'CPP'
namespace kiln {
/// Adds.
/// @param a  the first number
int add_two(int a, int b);
}
CPP
expect_warning "a parameter that does not exist" "not found in the argument list" <<'CPP'
namespace kiln {
/// Adds.
/// @param a  the first number
/// @param c  the second number
int add_two(int a, int b);
}
CPP
expect_warning "a reference that leads nowhere" "unable to resolve reference" <<'CPP'
namespace kiln {
/// As @ref kiln::add_three.
int add_two(int a, int b);
}
CPP
echo "all passed"
