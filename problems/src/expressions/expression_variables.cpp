// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_variables.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

#include "kiln/errors.hpp"

#include "continuous/density_model.hpp"
#include "expensive/settings.hpp"
#include "expressions/expression_functions.hpp"
#include "expressions/expression_text.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems {
namespace {

constexpr std::int64_t max_coordinates = std::int64_t{1} << 20;
constexpr double max_integer = 1e9;

[[noreturn]] void refuse_variable(std::string_view text, const std::string& why) {
  throw InvalidArgument("expr.variable",
                        "--var " + detail::printable(std::string(text)) + ": " + why,
                        "NAME=real:LOW:HIGH, NAME=int:LOW:HIGH or NAME=binary; NAME may be an "
                        "array, x[N] or x[N,M]",
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

// A search draws from the width of a box; one that overflows would be no box.
bool is_too_wide(double lower, double upper) {
  return std::isfinite(lower) && std::isfinite(upper) && !std::isfinite(upper - lower);
}

bool is_whole(double x) { return std::abs(x) <= max_integer && x == std::floor(x); }

// "real:-2:2", "int:0:10" or "binary"
void read_kind(std::string_view kind, std::string_view whole, ExpressionVariable& variable) {
  const bool is_integer = kind.starts_with("int:");
  if (kind == "binary") {
    variable.kind = ExpressionVariable::Kind::binary;
    return;
  }
  if (kind == "real" || kind == "int") refuse_variable(whole, "LOW and HIGH are missing");
  if (!is_integer && !kind.starts_with("real:")) {
    refuse_variable(whole, "a variable of a formula is real, int or binary");
  }
  if (is_integer) variable.kind = ExpressionVariable::Kind::integer;
  kind.remove_prefix(kind.find(':') + 1);
  const std::size_t colon = kind.find(':');
  if (colon == kind.npos || !reads(kind.substr(0, colon), variable.lower) ||
      !reads(kind.substr(colon + 1), variable.upper)) {
    refuse_variable(whole, "LOW or HIGH is not a number");
  }
  if (std::isnan(variable.lower) || std::isnan(variable.upper)) {
    refuse_variable(whole, "LOW or HIGH is not a number");
  }
  if (is_integer && !(is_whole(variable.lower) && is_whole(variable.upper))) {
    refuse_variable(whole, "LOW or HIGH is not a whole number of -1e9 .. 1e9");
  }
  if (!(variable.lower < variable.upper)) refuse_variable(whole, "LOW is not below HIGH");
  if (is_too_wide(variable.lower, variable.upper)) {
    refuse_variable(whole, "HIGH - LOW is above 1.8e308, the largest number");
  }
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
  read_kind(kind, text, variable);
  return variable;
}

void check_expression_variables(const ExpressionOptions& options) {
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
    if (is_too_wide(one.lower, one.upper)) {
      throw InvalidArgument("expr.variable",
                            "the bounds of '" + one.name + "' are too far from each other",
                            "HIGH - LOW of at most 1.8e308, or a bound that is infinite");
    }
    const bool counts = one.kind != ExpressionVariable::Kind::real;
    const bool is_binary = one.kind == ExpressionVariable::Kind::binary;
    if ((counts && !(is_whole(one.lower) && is_whole(one.upper))) ||
        (is_binary && (one.lower != 0 || one.upper != 1))) {
      throw InvalidArgument("expr.variable", "the bounds of '" + one.name + "' are not of its kind",
                            "whole numbers of -1e9 .. 1e9; 0 and 1 for binary");
    }
  }
  if (!options.variables.empty()) return;
  throw InvalidArgument("expr.variable", "the formula has no variables", {},
                        "declare each: --var x=real:-2:2");
}

std::vector<std::string> expression_coordinates(const std::vector<ExpressionVariable>& variables) {
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

std::vector<ExpressionVariable> expression_variables_of(const ProblemSettings& settings) {
  std::vector<ExpressionVariable> variables;
  for (const std::string& text : detail::texts_of(settings, "var")) {
    for (const std::string& one : detail::split_list(text, ';')) {
      variables.push_back(parse_expression_variable(one));
    }
  }
  return variables;
}

}  // namespace kiln::problems
