# shellcheck shell=bash
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by apps/demo.sh, tests/run.sh and .ci/run: the packages that Kiln needs, and how they get there.
#
# A package counts as present when what it brings works, so libraries from elsewhere are fine too. Each
# entry is "package|kind|probe": a command to be found, or a header that must preprocess.
# shellcheck disable=SC2034  # the lists are used by the scripts that source this one

KILN_BUILD_PACKAGES=(
  "build-essential|command|c++"
  "cmake|command|cmake"
  "ninja-build|command|ninja"
  "libfmt-dev|header|fmt/format.h"
  "nlohmann-json3-dev|header|nlohmann/json.hpp"
  "libeigen3-dev|header|eigen3/Eigen/Core"
  "libzstd-dev|header|zstd.h"
  "libxxhash-dev|header|xxhash.h"
  "zlib1g-dev|header|zlib.h"
  "liblzma-dev|header|lzma.h"
  "libboost-program-options-dev|header|boost/program_options.hpp"
  "libtomlplusplus-dev|header|toml++/toml.h"
)
KILN_TEST_PACKAGES=("libgtest-dev|header|gtest/gtest.h")
# Of the API reference.
KILN_DOCS_PACKAGES=("doxygen|command|doxygen")
# Installed along with the others, never required.
KILN_OPTIONAL_PACKAGES=(libbenchmark-dev)

kiln_package_present() { # KIND PROBE
  case $1 in
    command) command -v "$2" >/dev/null ;;
    header) printf '#include <%s>\n' "$2" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1 ;;
  esac
}

# kiln_need_packages ENTRY...: installs what is missing. Where that is not possible it prints the line
# that would do it and ends the script with status 2.
kiln_need_packages() {
  local entry package kind probe
  local missing=()
  for entry in "$@"; do
    IFS='|' read -r package kind probe <<<"$entry"
    kiln_package_present "$kind" "$probe" || missing+=("$package")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    return 0
  fi
  missing+=("${KILN_OPTIONAL_PACKAGES[@]}")

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    as_root=(sudo)
  fi
  if ! command -v apt-get >/dev/null; then
    echo "These packages are missing (names as on Debian 12): ${missing[*]}" >&2
    echo "Please install them with the package manager of this system and try again." >&2
    exit 2
  fi
  if [[ ${#as_root[@]} -gt 0 ]] && ! sudo -n true >/dev/null 2>&1; then
    echo "Some packages are missing and this user may not install them. Please run" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 2
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
}

# Puts nvcc on PATH where the toolkit lies in its usual place and nobody has done so.
kiln_find_nvcc() {
  if ! command -v nvcc >/dev/null && [[ -x /usr/local/cuda/bin/nvcc ]]; then
    export PATH="$PATH:/usr/local/cuda/bin"
  fi
}
