// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the command line gives, as it was given.
#include <fmt/format.h>

#include "cli/settings.hpp"
#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {

Settings settings_of(const Arguments& arguments) {
  Settings settings;
  for (const auto& [name, texts] : arguments.options) {
    std::string shown;
    for (const std::string& one : texts) shown += (shown.empty() ? "" : "; ") + one;
    settings[name] = {shown, Origin::command_line};
    if (texts.size() > 1) settings[name].repeated = texts;
  }
  return settings;
}

Settings parameters_of(const Arguments& arguments) {
  Settings parameters;
  const auto given = arguments.options.find("parameter");
  if (given == arguments.options.end()) return parameters;
  for (const std::string& pair : given->second) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InvalidArgument("cli.parameter",
                            fmt::format("-p {}: this is not KEY=VALUE", clean(pair)), {},
                            "for example -p beta_max=3.2");
    }
    const std::string key = clean(pair.substr(0, equals));
    const Setting setting{pair.substr(equals + 1), Origin::command_line};
    // What is passed on is what was given; a cleaned value would be another one.
    if (!is_clean(pair)) {
      throw InvalidArgument(
          "cli.parameter",
          fmt::format("-p {} has a control character, or bytes that are not UTF-8", clean(pair)),
          {}, "type the value again: a number, a word, or a list of numbers or words");
    }
    if (!parameters.emplace(key, setting).second) {
      throw InvalidArgument("cli.repeated", fmt::format("-p {} is given twice", key), {},
                            fmt::format("give -p {} once", key));
    }
  }
  return parameters;
}

}  // namespace kiln::cli
