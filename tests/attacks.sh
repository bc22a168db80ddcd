#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tests/attacks.sh [--kiln PROGRAM] [--data FOLDER] [--fast] [--list] [NAME...]

What hostile, unlucky and new users did to the program, row by row: broken pipes, signals, full disks, killed
runs, hostile files and options, and first steps with data of one's own. What a run answers is counted again
here. Each row that fails says why; the last line is "N passed, N failed, N skipped".

  --kiln PROGRAM   the program; else build/ci/bin/kiln
  --data FOLDER    instances of others (also KILN_SHARED_DATA); rows that need them are skipped without
  --fast           only rows that take less than about a second
  --list           the names of the rows
  NAME             only rows whose names begin so, for example A1 or F
TEXT
}

for word in "$@"; do
  case $word in
    -h | --help) usage; exit 0 ;;
  esac
done
command -v python3 >/dev/null || { echo "tests/attacks.sh needs python3" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec python3 -B "$here/attacks/main.py" "$@"
