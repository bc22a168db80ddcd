#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: run.sh SOURCE BUILD WORK. Packs the build tree as packages of Debian and as an archive, and uses
# them: lintian (where it is installed) finds nothing; each library that a program or library was linked
# to comes from a package that it depends on, and stands in THIRD_PARTY.md; in a root folder that has
# nothing but the packages and those libraries, kiln solves; the archive works from any folder.
set -euo pipefail
export LC_ALL=C

source=$1
build=$2
work=$3
unset LD_LIBRARY_PATH KILN_CUDA_MODULE

say() { printf '== %s\n' "$*"; }
fail() { printf 'package test: %s\n' "$*" >&2; exit 1; }

# Of a triangle, at most two edges are cut.
triangle() {
  cat <<'TEXT'
3 3
1 2 1
2 3 1
1 3 1
TEXT
}

# solves COMMAND...: kiln finds that.
solves() {
  local printed
  printed=$(triangle | "$@" solve - --format rudy --sweeps 20 --device cpu -q --json) || fail "'$*' does not solve"
  grep -q '"best":2,' <<<"$printed" || fail "expected a cut of 2, '$*' printed $printed"
}

rm -rf "$work"
mkdir -p "$work"

generators=TGZ
if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
  generators="TGZ;DEB"
fi
say "cpack -G '$generators'"
(cd "$build" && cpack -G "$generators" -B "$work" >"$work/cpack.log" 2>&1) ||
  { cat "$work/cpack.log" >&2; fail "cpack failed"; }

say "the archive, in a folder with a blank in its name"
mkdir "$work/any where"
tar -xzf "$work"/kiln-*.tar.gz -C "$work/any where" --strip-components=1
solves "$work/any where/bin/kiln"
# What the linker recorded, and the page.
for file in "$work/any where/bin/kiln" "$work/any where"/lib*/libkiln.so; do
  needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^libkiln')
  for library in $needed; do
    grep -qF "| \`$library\` |" "$source/THIRD_PARTY.md" || echo "THIRD_PARTY.md does not list $library"
  done
done >"$work/unlisted"
# Other systems have other versions: there the page cannot be compared.
if grep -q '^VERSION_ID="12"' /etc/os-release 2>/dev/null && grep -q '^ID=debian' /etc/os-release; then
  [[ ! -s $work/unlisted ]] || { cat "$work/unlisted" >&2; fail "the list of libraries is not complete"; }
fi

if [[ $generators == TGZ ]]; then
  say "no dpkg here: the packages of Debian are skipped"
  exit 0
fi

if command -v lintian >/dev/null; then
  say "lintian"
  # A build for another prefix than /usr has no folder for each architecture.
  lintian --no-cfg --allow-root --fail-on error,warning \
    --suppress-tags pkg-config-unavailable-for-cross-compilation "$work"/*.deb ||
    fail "lintian complains"
else
  say "no lintian here: skipped"
fi

root=$work/root
mkdir "$root"
for package in "$work"/kiln_*.deb "$work"/libkiln0.*_*.deb; do
  dpkg-deb -x "$package" "$root"
done
for page in usr/share/man/man1/kiln.1.gz usr/share/man/man1/kiln-solve.1.gz \
  usr/share/bash-completion/completions/kiln usr/share/zsh/vendor-completions/_kiln \
  usr/share/doc/kiln/THIRD_PARTY.md usr/share/doc/kiln/SECURITY.md; do
  [[ -s $root/$page ]] || fail "$page is in no package"
done

say "each library comes from a package that is depended on"
program=$root/usr/bin/kiln
library=$(find "$root/usr/lib" -name 'libkiln.so.*' -type f)
folder=$(dirname "$library")
# The number in its name is that of the SONAME, so that packages of two versions can stay side by side.
library_package=libkiln$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[libkiln\.so\.\(.*\)\]/\1/p')
for file in "$program" "$library"; do
  if readelf -d "$file" | grep -E '\((RPATH|RUNPATH)\)'; then
    fail "$file looks for libraries elsewhere than the system does"
  fi
done
depends_of() { dpkg-deb -f "$work/$1"_*.deb Depends | tr ',' '\n' | awk '{print $1}'; }
needs() {  # PACKAGE FILE
  local needed path owner
  readelf -d "$2" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r needed; do
    if [[ $needed == libkiln.so.* ]]; then
      owner=$library_package
    else
      path=$(LD_LIBRARY_PATH=$folder ldd "$2" | awk -v n="$needed" '$1 == n {print $3} $1 ~ "/" n "$" {print $1}' | head -1)
      owner=$(dpkg -S "$path" "$(readlink -f "$path")" "/usr$path" 2>/dev/null | head -1 | cut -d: -f1) || true
      [[ -n $owner ]] || continue  # of no package
    fi
    depends_of "$1" | grep -qxF "$owner" || echo "$1 does not depend on $owner, which has $needed"
  done
}
missing=$(needs kiln "$program"; needs "$library_package" "$library")
[[ -z $missing ]] || fail "$missing"

say "kiln in a bare root folder"
ldd_paths=$(LD_LIBRARY_PATH=$folder ldd "$program" | grep -oE '/[^ ]+' | grep -v "^$root" | sort -u)
for path in $ldd_paths; do
  mkdir -p "$root$(dirname "$path")"
  cp -L "$path" "$root$path"
done
# As a user who may not do that, nothing is tried.
enter=()
[[ $(id -u) -eq 0 ]] || enter=(unshare -r)
if "${enter[@]}" chroot "$root" /usr/bin/kiln --version >/dev/null 2>"$work/chroot.log"; then
  solves "${enter[@]}" chroot "$root" /usr/bin/kiln
elif grep -q 'kiln:' "$work/chroot.log"; then
  cat "$work/chroot.log" >&2
  fail "the installed program does not start"
else
  say "no chroot here: skipped"
fi
say "the packages work"
