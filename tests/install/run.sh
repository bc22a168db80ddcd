#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
export LC_ALL=C

usage() {
  cat <<'TEXT'
usage: tests/install/run.sh [--installed-from BUILD] [--work FOLDER] [--static] [--quick]

Builds and runs small projects that use Kiln:
  1. by add_subdirectory and by FetchContent from a local folder, shared and static;
  2. by find_package, on what that build installs into a temporary prefix;
  3. with --installed-from: by find_package, on what the build tree BUILD installs, its program kiln
     and its CUDA component included; by pkg-config; three plug-ins; and a function of a user beside Kiln's own.
--work keeps the build folders in FOLDER, so that the next run is quick. --static builds 1 and 2 static.
--quick compiles no library: of 1 only the project's own files, and 2 is left out. Needs --installed-from.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=
work=
shared=ON
quick=0
while [[ $# -gt 0 ]]; do
  case $1 in
    --installed-from) build=${2:?--installed-from needs a folder}; shift 2 ;;
    --work) work=${2:?--work needs a folder}; shift 2 ;;
    --static) shared=OFF; shift ;;
    --quick) quick=1; shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown argument '$1'" >&2; usage >&2; exit 2 ;;
  esac
done
if [[ $quick -eq 1 && -z $build ]]; then
  echo "--quick needs --installed-from" >&2
  usage >&2
  exit 2
fi
if [[ -z $work ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)

consumer=$root/tests/install/consumer
generator=()
if command -v ninja >/dev/null; then
  generator=(-G Ninja)
fi
launcher=()
if command -v ccache >/dev/null; then
  # As in cmake/KilnOptions.cmake: precompiled headers are cached, too.
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
unset LD_LIBRARY_PATH KILN_CUDA_MODULE

say() { printf '== %s\n' "$*"; }
fail() { printf 'install test: %s\n' "$*" >&2; exit 1; }

# has_pages PREFIX: the pages that messages and help point to are installed.
has_pages() {
  local pages page
  pages=$(cd "$root" && grep -rhoE --include='*.cpp' 'docs/[a-z_/]+\.md' engine problems schedules apps/kiln | sort -u)
  [[ -n $pages ]] || fail "no message points to a page"
  for page in $pages; do
    find "$1" -path "*/doc/kiln/$page" | grep -q . || fail "$page is not installed"
  done
}

# only_public_headers PREFIX: what is exported for Kiln's own tests stands in no header that is installed.
only_public_headers() {
  local found
  found=$(grep -rl KILN_TEST_API "$1/include" | grep -v '/kiln/export\.hpp$' || true)
  [[ -z $found ]] || fail "these headers are installed and use KILN_TEST_API:
$found"
}

# configure FOLDER ARGUMENT...: a fresh configure step of the consumer project.
configure() {
  local folder=$1
  shift
  rm -f "$folder/CMakeCache.txt"
  cmake -S "$consumer" -B "$folder" "${generator[@]}" "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release "$@"
}

# build_and_run FOLDER: builds the consumers in FOLDER, runs them, checks that they print a version.
build_and_run() {
  cmake --build "$1" --parallel "$(nproc)"
  local program printed
  # It looks for what is printed and for handlers of signals itself; here somebody else looks.
  printed=$("$1/guest" 2>&1) || fail "the library changes the program in $1 that uses it (status $?)"
  [[ -z $printed ]] || fail "the library in $1 printed '$printed'"
  for program in consumer device_consumer; do
    [[ -x $1/$program ]] || continue
    printed=$("$1/$program") || fail "the $program in $1 failed"
    [[ $printed =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] || fail "expected a version, the $program printed '$printed'"
    say "the $program printed $printed"
  done
}

# find_package_consumer NAME PREFIX COMPONENTS
find_package_consumer() {
  say "find_package(kiln COMPONENTS $3) in $2"
  configure "$work/$1" -DCMAKE_PREFIX_PATH="$2" -DKILN_COMPONENTS="$3" >"$work/$1.log" 2>&1 ||
    { cat "$work/$1.log" >&2; fail "find_package failed"; }
  grep -q "^kiln_DIR:PATH=$2/" "$work/$1/CMakeCache.txt" || fail "another kiln than that in $2 was found"
  build_and_run "$work/$1"
}

# without_cuda NAME PREFIX: the component core, where CMake can find nothing of CUDA.
without_cuda() {
  say "find_package(kiln COMPONENTS core) in $2 with no CUDA in sight"
  local path=$PATH folder clean=
  while IFS= read -r -d : folder; do
    [[ -x $folder/nvcc ]] || clean+=${clean:+:}$folder
  done <<<"$path:"
  PATH=$clean configure "$work/$1" -DCMAKE_PREFIX_PATH="$2" -DKILN_COMPONENTS=core \
    -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON >"$work/$1.log" 2>&1 ||
    { cat "$work/$1.log" >&2; fail "kiln::core needs CUDA"; }
  build_and_run "$work/$1"
  if readelf -d "$work/$1/consumer" | grep -i -E 'NEEDED.*(cuda|cudart|nvrtc)'; then
    fail "the host program is linked to CUDA"
  fi
}

# pkg_config_consumer NAME PREFIX: with the compiler's command line alone. The package lies in another
# folder than it was configured for.
pkg_config_consumer() {
  command -v pkg-config >/dev/null || { say "no pkg-config here: skipped"; return 0; }
  local pc flags static=() printed
  pc=$(find "$2" -name kiln.pc)
  [[ -n $pc ]] || fail "there is no kiln.pc in $2"
  say "pkg-config with $pc"
  [[ -n $(find "$2" -name libkiln.so) ]] || static=(--static)
  flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config "${static[@]}" --cflags --libs kiln) ||
    fail "pkg-config refuses kiln.pc"
  [[ $flags == *"-I$2/include"* || $flags == *"/../include"* ]] || fail "expected folders in $2, pkg-config gives '$flags'"
  # The words of $flags are arguments of their own.
  # shellcheck disable=SC2086
  "${CXX:-c++}" -std=c++20 "$consumer/main.cpp" $flags -Wl,-rpath,"$(dirname "$(dirname "$pc")")" \
    -o "$work/$1" || fail "the flags of pkg-config do not suffice: $flags"
  printed=$("$work/$1") || fail "the program built with pkg-config failed"
  [[ $printed == "$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --modversion kiln)" ]] ||
    fail "kiln.pc has another version than the library, $printed"
  say "the consumer printed $printed"
}

# missing_component NAME PREFIX: asks for CUDA where it was not built; must fail and say why.
missing_component() {
  say "find_package(kiln COMPONENTS cuda) in $2 must fail with the reason"
  if configure "$work/$1" -DCMAKE_PREFIX_PATH="$2" -DKILN_COMPONENTS=cuda >"$work/$1.log" 2>&1; then
    fail "a package without the component cuda was accepted"
  fi
  tr -s ' \n' ' ' <"$work/$1.log" | grep -q "The component cuda is missing: " ||
    { cat "$work/$1.log" >&2; fail "the reason is not told"; }
}

# plugin NAME SOURCE PREFIX: a plug-in outside of this repository, as its guide says: it is configured against
# the installed Kiln, built, tested, installed, listed and used.
plugin() {
  local name=$1 source=$2 prefix=$3 kiln=$3/bin/kiln schedule=${1//_/-}
  say "the plug-in $name with $prefix"
  rm -f "$work/plugin-$name/CMakeCache.txt"
  cmake -S "$source" -B "$work/plugin-$name" "${generator[@]}" "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CUDA_ARCHITECTURES="${CMAKE_CUDA_ARCHITECTURES:-90}" \
    >"$work/plugin-$name.log" 2>&1 || { cat "$work/plugin-$name.log" >&2; fail "the plug-in $name is not configured"; }
  cmake --build "$work/plugin-$name" --parallel "$(nproc)" >"$work/plugin-$name.log" 2>&1 ||
    { cat "$work/plugin-$name.log" >&2; fail "the plug-in $name is not built"; }
  "$kiln" plugin-test "$work/plugin-$name/$name.so" || fail "the plug-in $name fails its tests"
  cmake --install "$work/plugin-$name" >/dev/null
  "$kiln" list schedules | grep -q "^$schedule " || fail "kiln list does not show the schedule $schedule"
  "$kiln" solve torus:8x8,1 --schedule "$schedule" --sweeps 400 --device cpu -q |
    grep -q 'recomputed on the CPU in integers: equal' || fail "the schedule $schedule gives no verified answer"
}

# rate PREFIX: a function of a user, compiled outside of this repository, runs beside the same function of Kiln.
rate() {
  say "a functor of a user beside function:rosenbrock-10 with $1"
  rm -f "$work/rate/CMakeCache.txt"
  { cmake -S "$root/tests/install/rate" -B "$work/rate" "${generator[@]}" "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$1" && cmake --build "$work/rate"; } >"$work/rate.log" 2>&1 ||
    { cat "$work/rate.log" >&2; fail "the program rate is not built"; }
  "$work/rate/rate" device=cpu replicas=64 sweeps=50 pairs=1 || fail "the program rate failed"
}

# named_folders_only FOLDER: no library or program in it looks for others in the current folder.
named_folders_only() {
  local file files=()
  while IFS= read -r -d '' file; do
    files+=("$file")
  done < <(find "$1" -type f \( -name 'libkiln*.so*' -o -path '*/bin/kiln' \) -print0)
  [[ ${#files[@]} -gt 0 ]] || return 0
  "$root/tests/libraries/run.sh" readelf "${files[@]}" || fail "a library would be loaded from anywhere"
}

say "add_subdirectory"
configure "$work/subdirectory" -DKILN_FROM_SOURCE="$root" -DKILN_INSTALL=ON -DKILN_CUDA=OFF \
  -DBUILD_SHARED_LIBS=$shared
say "FetchContent from a local folder, static"
configure "$work/fetched" -DKILN_FROM_SOURCE="$root" -DKILN_FETCH=ON -DKILN_CUDA=OFF -DBUILD_SHARED_LIBS=OFF
if [[ $quick -eq 1 ]]; then
  cmake --build "$work/subdirectory" --target consumer_object
  cmake --build "$work/fetched" --target consumer_object
else
  build_and_run "$work/fetched"
  build_and_run "$work/subdirectory"
  named_folders_only "$work/subdirectory"

  prefix=$work/prefix-library
  rm -rf "$prefix"
  cmake --install "$work/subdirectory" --prefix "$prefix" >"$work/install-library.log"
  has_pages "$prefix"
  find_package_consumer package "$prefix" core
  pkg_config_consumer pkg-config-program "$prefix"
  missing_component package-without-cuda "$prefix"
fi

if [[ -n $build ]]; then
  prefix=$work/prefix-build
  rm -rf "$prefix"
  cmake --install "$build" --prefix "$prefix" >"$work/install-build.log"
  has_pages "$prefix"
  only_public_headers "$prefix"
  without_cuda build-package "$prefix"
  grep -q "^kiln_DIR:PATH=$prefix/" "$work/build-package/CMakeCache.txt" ||
    fail "another kiln than that in $prefix was found"
  pkg_config_consumer build-pkg-config-program "$prefix"
  if [[ -n $(find "$prefix" -name 'libkiln_cuda.*') ]]; then
    find_package_consumer build-package-cuda "$prefix" "core;cuda"
  else
    missing_component build-package-without-cuda "$prefix"
  fi
  rate "$prefix"
  if [[ -x $prefix/bin/kiln ]]; then
    say "the installed program: kiln --version"
    "$prefix/bin/kiln" --version || fail "the installed program does not start"
    if find "$prefix" -name 'libkiln.so' | grep -q .; then
      rm -rf "$work/mine"
      "$prefix/bin/kiln" new-plugin mine -o "$work/mine"
      plugin mine "$work/mine" "$prefix"
      for name in threshold_accepting cross_entropy; do
        rm -rf "${work:?}/$name"
        cp -r "$root/apps/plugins/$name" "$work/$name"
        plugin "$name" "$work/$name" "$prefix"
      done
    fi
  fi
  named_folders_only "$prefix"
fi
say "all consumer projects work"
