#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run.sh READELF FILE... Each entry of the search path in a program or library must begin with /
# or $ORIGIN: an empty or relative one is the current folder, where a library may be anybody's.
set -euo pipefail
export LC_ALL=C

readelf=$1
shift
failed=0
for file in "$@"; do
  # "(RUNPATH)  Library runpath: [a:b]" becomes "a:b:", so that an empty last entry counts.
  entries=$("$readelf" -d "$file" | sed -n 's/.*(\(RPATH\|RUNPATH\)).*\[\(.*\)\]$/\2:/p')
  while IFS= read -r -d : entry; do
    case $entry in
      /* | '$ORIGIN' | '$ORIGIN'/*) ;;
      *)
        echo "$file looks for libraries in '$entry': expected a path from / or \$ORIGIN"
        failed=1
        ;;
    esac
  done < <(printf '%s' "$entries")
done
[[ $failed -ne 0 ]] || echo "$# files look for libraries in named folders only"
exit "$failed"
