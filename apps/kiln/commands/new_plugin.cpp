// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "kiln/errors.hpp"

#include "cli/arguments.hpp"
#include "cli/plugin_option.hpp"
#include "commands/commands.hpp"
#include "commands/plugin_template.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// In C++ a part of names, in files a name, with a hyphen for a schedule: letters, digits,
// underlines.
void check_name(const std::string& name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool valid = !name.empty() && name.size() <= 40 && name[0] >= 'a' && name[0] <= 'z' &&
                     std::ranges::all_of(name, is_part) && name.back() != '_' &&
                     name.find("__") == std::string::npos;
  // Targets that CMake makes itself; kiln_plugin is a type of kiln/plugin.h.
  constexpr std::array<std::string_view, 8> reserved{"all",     "clean", "edit_cache",    "help",
                                                     "install", "kiln",  "rebuild_cache", "test"};
  if (valid && std::ranges::count(reserved, name) == 0) return;
  throw InvalidArgument(
      "cli.value", fmt::format("'{}' cannot be the name of a plug-in", clean(name)),
      "small letters, digits and single underlines, at most 40, a letter first; no name of a "
      "target of CMake, such as test",
      "kiln new-plugin my_schedule");
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
  return text;
}

std::string file_name(const std::string& of_template, const std::string& name) {
  if (of_template.starts_with("kernel.") || of_template.starts_with("plugin.")) {
    return name + of_template.substr(of_template.find('.'));
  }
  return of_template;
}

void write_files(const fs::path& folder, const std::string& name, const std::string& schedule) {
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  std::error_code failed;
  fs::create_directories(folder.has_parent_path() ? folder.parent_path() : fs::path("."), failed);
  if (!fs::create_directory(folder, failed)) {
    const std::string reason = failed ? failed.message() : "it exists";
    throw IoError("output.folder",
                  fmt::format("cannot make the folder {}: {}", clean(folder.string()), reason), {},
                  "name a new folder with -o");
  }
  for (const TemplateFile& file : plugin_template()) {
    std::string text = replaced(file.text, "@NAME@", name);
    text = replaced(std::move(text), "@UPPER@", upper);
    text = replaced(std::move(text), "@SCHEDULE@", schedule);
    write_file(folder / file_name(file.name, name), text, Existing::refuse);
  }
}

}  // namespace

const std::vector<OptionSpec>& new_plugin_specs() {
  static const std::vector<OptionSpec> specs{
      {"output", 'o', "DIR", "write the files to DIR, which must be new (default NAME)"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

std::string new_plugin_help() {
  return "usage: kiln new-plugin NAME [-o DIR]\n\n" +
         paragraph(
             "Writes the folder of a plug-in that works: a schedule with a kernel for the CPU and "
             "for GPUs, its CMakeLists.txt, a test and a README.") +
         "\noptions:\n" + describe_options(new_plugin_specs()) +
         "\nexamples:\n"
         "  kiln new-plugin mine\n"
         "  cmake -S mine -B mine/build && cmake --build mine/build\n"
         "  kiln solve gset:G1 --plugin mine/build/mine.so --schedule mine\n";
}

ExitCode run_new_plugin(const Words& words) {
  const Arguments arguments = parse_arguments("new-plugin", words, new_plugin_specs(), 1);
  if (arguments.has("help")) {
    print_text(new_plugin_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln new-plugin needs a name", {},
                          "kiln new-plugin my_schedule");
  }
  const std::string& name = arguments.positional.front();
  check_name(name);
  const std::string schedule = replaced(name, "_", "-");
  if (known_registry().has_schedule(schedule)) {
    throw InvalidArgument("cli.value", fmt::format("there is a schedule '{}' already", schedule),
                          {}, "choose another name");
  }
  const fs::path folder = arguments.has("output") ? arguments.text("output") : name;
  if (folder.empty()) throw InvalidArgument("cli.value", "--output needs the name of a folder");
  write_files(folder, name, schedule);
  const std::string where = shell_word(folder.string());
  print_text(
      fmt::format("wrote {}: the schedule {}, with a kernel for the CPU and for GPUs\n"
                  "next:\n  cmake -S {} -B {}/build && cmake --build {}/build\n"
                  "  kiln plugin-test {}/build/{}.so\n",
                  clean(folder.string()), schedule, where, where, where, where, name));
  return ExitCode::ok;
}

}  // namespace kiln::cli
