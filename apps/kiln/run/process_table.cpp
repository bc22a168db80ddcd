// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/process_table.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// Empty if the file cannot be read: a process may end between the opening and the reading of its
// files. Insertion keeps what the buffer throws then; an iterator over the buffer would pass it on.
std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

// The names in a folder of /proc that are numbers.
std::vector<int> numbers_in(const fs::path& folder) {
  std::vector<int> numbers;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    int number = 0;
    const auto [rest, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && rest == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

ProcessStatus status_of(int process) {
  const std::string text = text_of("/proc/" + std::to_string(process) + "/stat");
  // The name, in parentheses, may hold anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream in(text.substr(name_end + 1));
  char state = 0;
  int parent = 0;
  ProcessStatus status;
  in >> state >> parent >> status.group;
  status.zombie = state == 'Z';
  return status;
}

std::vector<int> all_processes() { return numbers_in("/proc"); }

std::vector<int> children_of_this() {
  std::vector<int> children;
  for (const int thread : numbers_in("/proc/self/task")) {
    std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/children");
    for (int child = 0; in >> child;) children.push_back(child);
  }
  return children;
}

bool has_in_environment(int process, const std::string& beginning) {
  const std::string text = text_of("/proc/" + std::to_string(process) + "/environ");
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, beginning.size(), beginning) == 0) return true;
    at = std::min(text.find('\0', at), text.size()) + 1;
  }
  return false;
}

}  // namespace kiln::cli
