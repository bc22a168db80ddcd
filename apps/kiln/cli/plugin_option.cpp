// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_option.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

struct Known {
  Registry registry = builtin_registry();
  std::vector<PluginInfo> plugins;
  std::vector<LeftOutPlugin> left_out;

  Known() {
    for (const fs::path& path : find_plugins()) {
      try {
        load(path);
      } catch (const Error& error) {
        left_out.push_back({path, error});
        print_note(fmt::format("warning[{}]: {}\n  kiln does without this plug-in\n", error.code(),
                               clean(error.message())));
      }
    }
  }

  // One that was found may be named, too.
  void load(const fs::path& path) {
    std::error_code failed;
    const fs::path real = fs::canonical(path, failed);
    if (!failed && std::ranges::count(plugins, real, &PluginInfo::path) > 0) return;
    plugins.push_back(load_plugin(path, registry));
  }
};

Known& known() {
  static Known all;
  return all;
}

}  // namespace

const Registry& known_registry() { return known().registry; }
const std::vector<PluginInfo>& known_plugins() { return known().plugins; }
const std::vector<LeftOutPlugin>& left_out_plugins() { return known().left_out; }

const OptionSpec& plugin_spec() {
  static const OptionSpec spec{
      "plugin", 0, "FILE", "load a plug-in, whose code has the rights of kiln; may be repeated"};
  return spec;
}

void load_plugins(const Arguments& arguments) {
  const auto given = arguments.options.find(plugin_spec().name);
  if (given == arguments.options.end()) return;
  for (const std::string& path : given->second) {
    if (path.empty()) {
      throw InvalidArgument("cli.value", "--plugin needs the name of a file");
    }
    known().load(path);
  }
}

}  // namespace kiln::cli
