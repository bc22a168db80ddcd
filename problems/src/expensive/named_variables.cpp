// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "named_variables.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/options.hpp"

#include "command_states.hpp"
#include "command_words.hpp"
#include "readers/data_text.hpp"
#include "readers/text_reader.hpp"
#include "settings.hpp"

namespace kiln::problems::detail {
namespace {

using Kind = CommandVariable::Kind;

struct NamedVariables {
  explicit NamedVariables(std::vector<CommandVariable> of) : all(std::move(of)), states(all) {}
  const CommandVariable& variable(std::size_t place) const {
    return all[static_cast<std::size_t>(states.order()[place])];
  }
  std::vector<CommandVariable> all;
  CommandStates states;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Variables are separated by semicolons, which the words of a category may have, too: there they
// stand before what is no NAME=.
std::vector<std::string> split_variables(const std::string& text) {
  std::vector<std::string> variables;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    const std::string piece = text.substr(at, end - at);
    const bool of_category =
        !variables.empty() && variables.back().find("=cat:") != std::string::npos;
    const bool blank = trimmed(piece).empty() && end == text.size();
    if (of_category && !blank && piece.find('=') == std::string::npos) {
      variables.back() += ";" + piece;
    } else {
      variables.push_back(piece);
    }
    at = end + 1;
  }
  for (std::string& variable : variables) variable = trimmed(variable);
  std::erase(variables, "");
  return variables;
}

}  // namespace

std::vector<CommandVariable> variables_of(const ProblemSettings& settings) {
  std::vector<CommandVariable> variables;
  for (const std::string& given : texts_of(settings, "var")) {
    for (const std::string& text : split_variables(given)) {
      variables.push_back(parse_variable(text));
    }
  }
  return variables;
}

int constraints_of(const ProblemSettings& settings) {
  const std::string constraints = setting_or(settings, "constraints", "0");
  const double count = kiln::detail::parse_real(constraints, "--constraints");
  // What is no whole number in range is refused as one that is not.
  const bool whole = count == std::floor(count) && std::abs(count) <= 1000;
  return whole ? static_cast<int>(count) : -1;
}

void check_variables(const std::vector<CommandVariable>& variables, const std::string& of,
                     const std::string& example) {
  if (variables.empty()) {
    throw InvalidArgument("command.variable", of + " has no variables",
                          "NAME=real:LOW:HIGH, NAME=int:LOW:HIGH or NAME=cat:A,B,C",
                          example_of_variable(example));
  }
  std::vector<std::string> names;
  for (const CommandVariable& variable : variables) {
    if (std::ranges::count(names, variable.name) > 0) {
      throw InvalidArgument("command.variable",
                            "the variable '" + variable.name + "' is declared twice");
    }
    names.push_back(variable.name);
  }
}

void check_constraints(int constraints, const std::string& of) {
  if (constraints < 0 || constraints > max_constraints) {
    throw InvalidArgument("command.constraints",
                          of + " cannot have " + std::to_string(constraints) + " constraints",
                          "0 .. " + std::to_string(max_constraints));
  }
}

void describe_variables(Problem& problem, std::vector<CommandVariable> variables) {
  const auto named = std::make_shared<const NamedVariables>(std::move(variables));
  for (std::size_t i = 0; i < named->states.order().size(); ++i) {
    const CommandVariable& variable = named->variable(i);
    problem.coordinates.push_back(
        {variable.name, variable.kind == Kind::category, {}, variable.labels});
  }
  problem.solution.named_values = [named](StateSpan state) {
    std::vector<std::pair<std::string, std::string>> values;
    const Numbers numbers = CommandStates::numbers_of(state);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      values.emplace_back(named->variable(i).name, text_of(named->variable(i), numbers[i]));
    }
    return values;
  };
  problem.solution.format = [named](StateSpan state) {
    std::string text;
    const Numbers numbers = CommandStates::numbers_of(state);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const CommandVariable& variable = named->variable(i);
      text += kiln::detail::show_real(value_of(variable, numbers[i])) + "  # " + variable.name;
      if (variable.kind == Kind::category) {
        text += " = " + in_one_line(text_of(variable, numbers[i]));
      }
      text += "\n";
    }
    return text;
  };
  problem.solution.parse = [named](std::span<const double> values) {
    Numbers numbers;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const CommandVariable& variable = named->variable(i);
      if (!(values[i] >= variable.lower && values[i] <= variable.upper)) {
        throw InvalidArgument("state.value", kiln::detail::show_real(values[i]) +
                                                 " is outside the bounds of the variable '" +
                                                 variable.name + "'");
      }
      numbers.push_back(std::clamp(number_of(variable, values[i]),
                                   variable.kind == Kind::real ? 0.0 : variable.lower,
                                   variable.kind == Kind::real ? 1.0 : variable.upper));
    }
    return named->states.state_of(numbers);
  };
}

}  // namespace kiln::problems::detail
