// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/plugins/plugins.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

void add_once(const fs::path& file, std::vector<fs::path>& files) {
  if (std::ranges::count(files, file) == 0) files.push_back(file);
}

// The shared libraries of a folder, by name; nothing where it cannot be read.
void add_folder(const fs::path& folder, std::vector<fs::path>& files) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->path().extension() == ".so") found.push_back(entry->path());
  }
  std::ranges::sort(found);
  for (const fs::path& file : found) add_once(file, files);
}

}  // namespace

fs::path plugin_folder() {
#if defined(KILN_STATIC)
  return {};
#else
  static const char inside_libkiln = 0;
  Dl_info found{};
  if (dladdr(&inside_libkiln, &found) == 0 || found.dli_fname == nullptr) return {};
  std::error_code failed;
  const fs::path libkiln = fs::canonical(found.dli_fname, failed);
  return failed ? fs::path() : libkiln.parent_path() / "kiln" / "plugins";
#endif
}

std::vector<fs::path> find_plugins() {
  std::vector<fs::path> files;
  const fs::path own = plugin_folder();
  if (!own.empty()) add_folder(own, files);
  const char* const named = std::getenv("KILN_PLUGIN_PATH");
  std::string_view rest = named != nullptr ? named : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (one.empty()) continue;  // never the current folder
    std::error_code failed;
    if (fs::is_directory(one, failed)) {
      add_folder(one, files);
    } else {
      add_once(one, files);
    }
  }
  return files;
}

}  // namespace kiln
