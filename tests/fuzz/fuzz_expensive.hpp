// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/problems/command.hpp"
#include "kiln/problems/table.hpp"

#include "expensive/command_words.hpp"
#include "fuzz.hpp"

namespace kiln::test {

/// A variable as it was read: its values are numbers, and more than one.
inline void check_variable(const problems::CommandVariable& variable) {
  using Kind = problems::CommandVariable::Kind;
  require(!variable.name.empty(), "a variable has a name");
  require(variable.lower < variable.upper, "a variable has more than one value");
  require(std::isfinite(variable.upper - variable.lower), "its span is a number");
  require(!variable.logarithmic || std::isfinite(std::log(variable.upper / variable.lower)),
          "the ratio of its bounds is one");
  require((variable.kind == Kind::category) == (variable.labels.size() >= 2),
          "categories, and only these, have words");
}

/// Reads a command in the first line and a variable in each other one: they are refused as an
/// InvalidArgument, whose code and message are returned, or give words with each variable in them.
inline std::string check_command(const std::string& text) {
  std::istringstream in(text);
  std::string command, line;
  std::getline(in, command);
  try {
    std::vector<problems::CommandVariable> variables;
    while (std::getline(in, line)) {
      variables.push_back(problems::parse_variable(line));
      check_variable(variables.back());
    }
    const auto words = problems::detail::split_command(command, variables);
    require(!words.empty(), "a command has a program");
    std::vector<bool> used(variables.size());
    for (const auto& word : words) {
      for (const auto& part : word) {
        require(part.variable < static_cast<int>(variables.size()), "variables are those given");
        require(part.variable < 0 || part.text.empty(), "a part is a text or a variable");
        if (part.variable >= 0) used[static_cast<std::size_t>(part.variable)] = true;
      }
    }
    for (const bool one : used) require(one, "each variable is used");
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message();
  }
  return "accepted";
}

/// Reads a table whose objective is the column y: it is refused as a ParseError or for its columns,
/// with the message that is returned, or gives configurations of levels that there are.
inline std::string check_table(const std::string& text) {
  std::istringstream in(text);
  problems::TableOptions options;
  options.target = "y";
  problems::ConfigurationTable table;
  try {
    table = problems::read_table(in, "f", options);
  } catch (const ParseError& error) {
    require(!error.issues().empty() && error.issues().size() <= 5 &&
                error.total() >= static_cast<std::int64_t>(error.issues().size()),
            "an error lists one to five issues and counts all");
    return error.message();
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message();
  }
  require(table.levels.size() == table.values.size() * table.inputs.size(), "all have levels");
  require(table.rows >= static_cast<std::int64_t>(table.values.size()), "and a row");
  for (const double value : table.values) require(std::isfinite(value), "values are numbers");
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const auto setting = table.setting(i);
    for (std::size_t k = 0; k < setting.size(); ++k) {
      const auto levels = static_cast<std::int32_t>(table.inputs[k].labels.size());
      require(levels >= 2 && setting[k] >= 0 && setting[k] < levels, "which there is");
    }
  }
  return "accepted";
}

}  // namespace kiln::test
