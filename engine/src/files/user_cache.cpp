// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/files/user_cache.hpp"

#include <cstdlib>

namespace kiln {

std::filesystem::path user_cache_folder() {
  using Path = std::filesystem::path;
  const auto set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? Path(value) : Path();
  };
  if (const Path own = set("KILN_CACHE_DIR"); !own.empty()) return own;
  if (const Path all = set("XDG_CACHE_HOME"); !all.empty()) return all / "kiln";
  if (const Path home = set("HOME"); !home.empty()) return home / ".cache/kiln";
  return {};
}

}  // namespace kiln
