// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/expression.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/objectives/catalog_density.hpp"
#include "kiln/option_info.hpp"

#include "continuous/density_model.hpp"
#include "expensive/settings.hpp"
#include "expressions/expression_program.hpp"
#include "readers/text_reader.hpp"
#include "sha256.hpp"

namespace kiln::problems {
namespace {

constexpr std::int64_t max_coordinates = std::int64_t{1} << 20;

[[noreturn]] void refuse_variable(std::string_view text, const std::string& why) {
  throw InvalidArgument("expr.variable",
                        "--var " + detail::printable(std::string(text)) + ": " + why,
                        "NAME=real:LOW:HIGH, NAME[N]=real:LOW:HIGH or NAME[N,M]=real:LOW:HIGH",
                        "kiln solve 'expr:sum(i=1..10, x[i]^2)' --var 'x[10]=real:-5:5'");
}

template <class T>
bool reads(std::string_view text, T& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() && !text.empty();
}

// "10" or "3,4"
std::vector<std::int64_t> shape_in(std::string_view text, std::string_view whole) {
  std::vector<std::int64_t> shape;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int64_t n = 0;
    if (!reads(text.substr(at, end - at), n) || n < 1 || n > max_coordinates) {
      refuse_variable(whole,
                      "between the brackets is no number of 1 .. 1048576, or two with a ','");
    }
    shape.push_back(n);
    at = end + 1;
  }
  if (shape.size() > 2) refuse_variable(whole, "an array has one index or two");
  return shape;
}

void check(const ExpressionOptions& options) {
  std::set<std::string> names;
  std::int64_t coordinates = 0;
  for (const ExpressionVariable& one : options.variables) {
    if (!is_expression_name(one.name) || expression_function(one.name) != nullptr ||
        one.name == "sum" || one.name == "prod" || one.name == "length") {
      throw InvalidArgument(
          "expr.variable", "'" + detail::printable(one.name) + "' cannot be the name of a variable",
          "letters, digits and '_', no digit first, and no function's name");
    }
    if (!names.insert(one.name).second) {
      throw InvalidArgument("expr.variable", "the variable '" + one.name + "' is declared twice");
    }
    if (options.data != nullptr && options.data->has(one.name)) {
      throw InvalidArgument("expr.variable",
                            "'" + one.name + "' is a variable and a column of " +
                                detail::printable(options.data->source()),
                            "different names");
    }
    const auto is_size = [](std::int64_t n) { return n >= 1 && n <= max_coordinates; };
    const bool has_shape = one.shape.size() <= 2 && std::ranges::all_of(one.shape, is_size);
    if (has_shape) coordinates += one.elements();
    if (!has_shape || coordinates > max_coordinates) {
      throw InvalidArgument("expr.size",
                            "the variables have over 1048576 elements, or an array of none or of "
                            "more than two indices");
    }
    if (!(one.lower < one.upper)) {
      throw InvalidArgument("expr.variable", "the bounds of '" + one.name + "' are not in order",
                            "LOW < HIGH");
    }
  }
  if (!options.variables.empty()) return;
  throw InvalidArgument("expr.variable", "the formula has no variables", {},
                        "declare each: --var x=real:-2:2");
}

std::vector<std::string> coordinate_names(const std::vector<ExpressionVariable>& variables) {
  std::vector<std::string> names;
  for (const ExpressionVariable& one : variables) {
    if (one.shape.empty()) names.push_back(one.name);
    if (one.shape.size() == 1) {
      append_indexed(names, one.name, static_cast<std::size_t>(one.shape[0]));
    }
    if (one.shape.size() < 2) continue;
    for (std::int64_t i = 1; i <= one.shape[0]; ++i) {
      for (std::int64_t j = 1; j <= one.shape[1]; ++j) {
        names.push_back(one.name + "[" + std::to_string(i) + "," + std::to_string(j) + "]");
      }
    }
  }
  return names;
}

/// What a problem needs of its formula for as long as it lives.
struct Formula {
  Formula(const ExpressionOptions& options)
      : variables(options.variables),
        data(options.data != nullptr ? *options.data : ModelData{}),
        scope(variables, &data),
        text(parse_expression(options.formula)) {
    scope.resolve(text);
  }
  Formula(const Formula&) = delete;
  Formula& operator=(const Formula&) = delete;

  double value(Point x) const {
    ExpressionScope::Indices indices{};
    return scope.value(text, indices, x);
  }

  std::vector<ExpressionVariable> variables;
  ModelData data;
  ExpressionScope scope;
  ExpressionNode text;
};

void name_solution(Problem& problem, const std::vector<ExpressionVariable>& variables) {
  const auto names = std::make_shared<const std::vector<std::string>>(coordinate_names(variables));
  for (const std::string& name : *names) problem.coordinates.push_back({.name = name});
  problem.solution.format = [names](StateSpan state) {
    std::string text;
    const Point x = std::get<Point>(state.front());
    for (std::size_t i = 0; i < x.size(); ++i) {
      text += kiln::detail::show_real(x[i]) + "  # " + (*names)[i] + "\n";
    }
    return text;
  };
}

// Formula, variables with their bounds, and data.
std::string fingerprint_of(const ExpressionOptions& options) {
  detail::Sha256 hash;
  hash.update(options.formula + "\n");
  for (const ExpressionVariable& one : options.variables) {
    std::string line = one.name;
    for (const std::int64_t n : one.shape) line += " " + std::to_string(n);
    hash.update(line + " " + kiln::detail::show_real(one.lower) + " " +
                kiln::detail::show_real(one.upper) + "\n");
  }
  if (options.data != nullptr) hash.update(options.data->fingerprint());
  return hash.hex().substr(0, 16);
}

}  // namespace

ExpressionVariable parse_expression_variable(std::string_view text) {
  ExpressionVariable variable;
  const std::size_t equals = text.find('=');
  if (equals == text.npos) refuse_variable(text, "there is no '='");
  std::string_view name = text.substr(0, equals), kind = text.substr(equals + 1);
  if (const std::size_t bracket = name.find('['); bracket != name.npos) {
    if (!name.ends_with(']')) refuse_variable(text, "a '[' is not closed before the '='");
    variable.shape = shape_in(name.substr(bracket + 1, name.size() - bracket - 2), text);
    name = name.substr(0, bracket);
  }
  if (!is_expression_name(name))
    refuse_variable(text, "the name is not of letters, digits and '_'");
  variable.name = name;
  if (!kind.starts_with("real:"))
    refuse_variable(text, "variables of formulas are real, with bounds");
  kind.remove_prefix(5);
  const std::size_t colon = kind.find(':');
  if (colon == kind.npos || !reads(kind.substr(0, colon), variable.lower) ||
      !reads(kind.substr(colon + 1), variable.upper)) {
    refuse_variable(text, "LOW or HIGH is not a number");
  }
  if (!std::isfinite(variable.lower) || !std::isfinite(variable.upper)) {
    refuse_variable(text, "LOW or HIGH is not finite");
  }
  if (!(variable.lower < variable.upper)) refuse_variable(text, "LOW is not below HIGH");
  return variable;
}

Problem make_expression_problem(const ExpressionOptions& options) {
  check(options);
  const auto formula = std::make_shared<const Formula>(options);
  const double sign = options.sense == Sense::maximize ? -1 : 1;
  DensityModel model;
  model.source = source_of(compile_expression(formula->scope, formula->text, sign < 0));
  if (const ExpressionVariable* const unused = formula->scope.unused(formula->text)) {
    throw InvalidArgument("expr.variable",
                          "the formula does not have the variable '" + unused->name + "'", {},
                          "leave its --var out");
  }
  for (const ExpressionVariable& one : options.variables) {
    model.box.insert(model.box.end(), static_cast<std::size_t>(one.elements()),
                     {one.lower, one.upper});
  }
  model.plain = [formula](Point x) { return formula->value(x); };
  Problem problem = to_problem(std::move(model), "expr:" + options.formula, "expr");
  problem.units.sense = options.sense;
  problem.units.objective_of_stored = {0, sign};
  problem.identity.fingerprint = fingerprint_of(options);
  name_solution(problem, options.variables);
  return problem;
}

Problem expression_by_name(const std::string& formula, const ProblemSettings& settings,
                           const ModelData* data) {
  if (formula.find_first_not_of(' ') == std::string::npos) {
    throw InvalidArgument("problem.parameters", "'expr:' does not have the form expr:FORMULA",
                          "a formula of the variables that --var declares",
                          "kiln solve 'expr:(1-x)^2+100*(y-x^2)^2' --var x=real:-2:2 --var "
                          "y=real:-2:2");
  }
  ExpressionOptions options;
  options.formula = formula;
  options.data = data;
  options.sense = detail::sense_of(settings, Sense::minimize);
  for (const std::string& text : detail::texts_of(settings, "var")) {
    for (const std::string& one : detail::split_list(text, ';')) {
      options.variables.push_back(parse_expression_variable(one));
    }
  }
  return make_expression_problem(options);
}

}  // namespace kiln::problems
