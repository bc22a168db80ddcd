// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "cli/settings.hpp"
#include "errors.hpp"
#include "output/text.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t max_config_bytes = std::size_t{1} << 20;
constexpr int max_key_parts = 16;  // of a key; options have two

/// Goes through a TOML text and counts the parts of dotted keys and of headers of tables: the
/// parser goes one call deeper for each, and a long key would be the end of the program.
class KeyCounter {
 public:
  /// The line of the first key with too many parts; 0: there is none.
  static std::int64_t line_of_long_key(std::string_view text) {
    KeyCounter counter(text);
    while (counter.at_ < text.size()) {
      counter.step();
      if (counter.dots_ >= max_key_parts) return counter.line_;
    }
    return 0;
  }

 private:
  explicit KeyCounter(std::string_view text) : text_(text) {}

  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    ++at_;
    line_ += c == '\n' ? 1 : 0;
    if (c == '.') ++dots_;
    // Blanks may stand around the dots of a key; all else that is no part of it ends it.
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots_ = 0;
  }

  void skip_string(char quote) {
    const bool long_one = text_.substr(at_, 3) == std::string(3, quote);
    const std::string end(long_one ? 3 : 1, quote);
    at_ += end.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (text_[at_] == '\n' && !long_one) return;  // an error that the parser will find
      line_ += text_[at_] == '\n' ? 1 : 0;
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  int dots_ = 0;
};

/// The line of the first control character that no TOML text has; 0: there is none.
std::int64_t line_of_control_character(std::string_view text) {
  std::int64_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    line += byte == '\n' ? 1 : 0;
    const bool ends_line = byte == '\n' || (byte == '\r' && text.substr(i + 1).starts_with('\n'));
    if ((byte < 0x20 && byte != '\t' && !ends_line) || byte == 0x7f) return line;
  }
  return 0;
}

std::string place_of(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", path, source.begin.line, source.begin.column);
}

std::string scalar_text(const toml::node& node, const std::string& place) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  throw InvalidArgument("config.type",
                        fmt::format("{}: the value is not a string, a number or a boolean", place));
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
  // `pid.gain = 0.2` is a table of TOML within the table `schedule`: `prefix` is "pid." in there.
  void read_schedule(const toml::table& table, const std::string& prefix = {}) {
    for (const auto& [key, node] : table) {
      const std::string place = place_of(path_, key.source());
      const std::string name = prefix + clean(key.str());
      if (const toml::table* const inner = node.as_table(); inner != nullptr && prefix.empty()) {
        read_schedule(*inner, name + ".");
        continue;
      }
      const Setting setting{clean(text_of(node, place)), Origin::config, place};
      if (name == "name") {
        config_.options["schedule"] = setting;
      } else {
        config_.parameters[name] = setting;
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
                              fmt::format("{}: '{}' must be true or false", place, name));
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
      // A file names no other file and gives no leave to execute one, and parameters have their own
      // table.
      constexpr std::array<std::string_view, 8> never{"config",        "repeat",   "parameter",
                                                      "plugin",        "help",     "allow-jit",
                                                      "allow-command", "supervise"};
      if (std::ranges::find(never, spec.name) != never.end()) continue;
      if (spec.name == name) return spec;
      names.push_back(spec.name);
    }
    throw InvalidArgument(
        "config.key",
        fmt::format("{}: '{}' is not an option of kiln {}{}", place, clean(name), verb_.name,
                    nearest_hint(name, names)),
        {},
        fmt::format("kiln {} --help lists the options; parameters belong in the table [schedule]",
                    verb_.name));
  }

  std::string path_;
  const RunVerb& verb_;
  ConfigFile config_;
};

std::string text_of_file(const std::string& path, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InvalidArgument("config.open", name + ": this is a folder, not a file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InvalidArgument("config.open", name + ": the configuration file cannot be opened");
  try {
    return read_all(in, name, max_config_bytes);
  } catch (const InputError& error) {
    throw InvalidArgument("config.read", error.message());
  } catch (const ParseError& error) {
    throw InvalidArgument("config.size", error.message());
  }
}

}  // namespace

ConfigFile read_config(const std::string& path, const RunVerb& verb) {
  const std::string name = clean(path);
  const std::string text = text_of_file(path, name);
  if (const std::int64_t line = line_of_control_character(text); line > 0) {
    throw InvalidArgument(
        "config.syntax",
        fmt::format("{}:{}: the line has a control character, which TOML forbids", name, line));
  }
  if (const std::int64_t line = KeyCounter::line_of_long_key(text); line > 0) {
    throw InvalidArgument(
        "config.depth", fmt::format("{}:{}: a key has more than {} dot-separated parts", name, line,
                                    max_key_parts));
  }
  try {
    return ConfigReader(name, verb).read(toml::parse(text, name));
  } catch (const toml::parse_error& error) {
    throw InvalidArgument("config.syntax", fmt::format("{}: {}", place_of(name, error.source()),
                                                       clean(error.description())));
  }
}

}  // namespace kiln::cli
