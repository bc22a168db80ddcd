// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "attach/command_files.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "output/text.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

std::vector<LoggedCommand> read(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::ifstream file = open_input(path.string());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<LoggedCommand> decisions;
  for (LoggedCommand& one : read_command_log(text, clean(path.string()))) {
    // A run that was stopped and continued has not ended there.
    const bool goes_on = one.applied && one.kind == CommandKind::resume;
    if (goes_on && !decisions.empty() && decisions.back().kind == CommandKind::stop) {
      decisions.pop_back();
    }
    if (one.decides()) decisions.push_back(std::move(one));
  }
  return decisions;
}

}  // namespace

std::vector<LoggedCommand> commands_of_run(const std::string& run) {
  std::error_code ignored;
  if (run == "-") return {};
  const fs::path folder =
      fs::is_directory(run, ignored) ? fs::path(run) : fs::path(run).parent_path();
  return read(folder / command_log);
}

std::vector<LoggedCommand> repeated_commands(const std::string& folder) {
  return read(fs::path(folder) / repeated_command_log);
}

}  // namespace kiln::cli
