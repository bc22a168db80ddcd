// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <fstream>

#include "errors.hpp"
#include "settings.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

std::string place_of(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", path, source.begin.line, source.begin.column);
}

std::string scalar_text(const toml::node& node, const std::string& place) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  throw InvalidArgument("config.type",
                        fmt::format("{}: the value is neither text nor number", place));
}

std::string text_of(const toml::node& node, const std::string& place) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return scalar_text(node, place);
  std::string text;
  for (const toml::node& element : *list) {
    text += (text.empty() ? "" : ",") + scalar_text(element, place);
  }
  return text;
}

class ConfigReader {
 public:
  ConfigReader(const std::string& path, const RunVerb& verb) : path_(path), verb_(verb) {}

  ConfigFile read(const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string place = place_of(path_, key.source());
      const std::string name(key.str());
      if (name == "schedule" && node.is_table()) {
        read_schedule(*node.as_table());
      } else {
        read_option(name, node, place);
      }
    }
    return std::move(config_);
  }

 private:
  void read_schedule(const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string place = place_of(path_, key.source());
      const Setting setting{clean(text_of(node, place)), Origin::config, place};
      if (key.str() == "name") {
        config_.options["schedule"] = setting;
      } else {
        config_.parameters[clean(key.str())] = setting;
      }
    }
  }

  void read_option(const std::string& name, const toml::node& node, const std::string& place) {
    const OptionSpec& spec = spec_of(name, place);
    const std::string& option = spec.alias_of.empty() ? spec.name : spec.alias_of;
    if (node.is_table() || node.is_array()) {
      throw InvalidArgument("config.type",
                            fmt::format("{}: '{}' takes a single value", place, name));
    }
    std::string text = text_of(node, place);
    if (spec.value.empty()) {
      if (!node.is_boolean()) {
        throw InvalidArgument("config.type",
                              fmt::format("{}: '{}' is either true or false", place, name));
      }
      if (text == "false") return;
      text.clear();
    } else if (node.is_boolean()) {
      // `graph-capture = true` is how TOML says "on".
      text = text == "true" ? "on" : "off";
    }
    config_.options[option] = {text, Origin::config, place};
  }

  const OptionSpec& spec_of(const std::string& name, const std::string& place) const {
    std::vector<std::string> names{"schedule"};
    for (const OptionSpec& spec : verb_.specs) {
      // A file names no other file, and parameters have their own table.
      if (spec.name == "config" || spec.name == "repeat" || spec.name == "parameter" ||
          spec.name == "help")
        continue;
      if (spec.name == name) return spec;
      names.push_back(spec.name);
    }
    throw InvalidArgument(
        "config.key",
        fmt::format("{}: '{}' is not an option of kiln {}{}", place, clean(name), verb_.name,
                    nearest_hint(name, names)),
        {},
        fmt::format("kiln {} --help lists the options; parameters go to [schedule]", verb_.name));
  }

  std::string path_;
  const RunVerb& verb_;
  ConfigFile config_;
};

}  // namespace

ConfigFile read_config(const std::string& path, const RunVerb& verb) {
  const std::string name = clean(path);
  std::ifstream in(path);
  if (!in) {
    throw InvalidArgument("config.open",
                          fmt::format("{}: the configuration file cannot be opened", name));
  }
  try {
    return ConfigReader(name, verb).read(toml::parse(in, name));
  } catch (const toml::parse_error& error) {
    throw InvalidArgument("config.syntax", fmt::format("{}: {}", place_of(name, error.source()),
                                                       clean(error.description())));
  }
}

}  // namespace kiln::cli
