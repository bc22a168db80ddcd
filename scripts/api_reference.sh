#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/api_reference.sh [FOLDER [HEADER...]]

Writes the API reference of the public headers, of C and of C++, as HTML into FOLDER/html
(build/api_reference). Needs doxygen. Each warning is an error: a link that leads nowhere, a command that
Doxygen does not know, a parameter that is left out where others of the function are described. Each
HEADER is read with the public ones.
Exit status: 0, 1 after warnings, 2 for a wrong command line, 77 where there is no doxygen.
TEXT
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) echo "unknown argument '$1'" >&2; usage >&2; exit 2 ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(realpath -m "${1:-$root/build/api_reference}")
headers=()
for header in "${@:2}"; do
  [[ -f $header ]] || { echo "no such file: $header" >&2; exit 2; }
  headers+=("\"$(realpath "$header")\"")
done
command -v doxygen >/dev/null || { echo "no doxygen: apt-get install doxygen"; exit 77; }

mkdir -p "$folder"
cd "$root"
version=$(sed -n '/^project(kiln/,/)/s/^ *VERSION //p' CMakeLists.txt)
{
  cat scripts/api_reference/Doxyfile
  printf 'PROJECT_NUMBER = %s\nOUTPUT_DIRECTORY = "%s"\nINPUT += %s\n' "$version" "$folder" "${headers[*]-}"
} | doxygen - || { echo "the comments above have mistakes" >&2; exit 1; }
echo "wrote $folder/html/index.html"
