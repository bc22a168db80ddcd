// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_scope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kiln/device/team.hpp"
#include "kiln/errors.hpp"
#include "kiln/option_info.hpp"

namespace kiln::problems {
namespace {

using Kind = ExpressionNode::Kind;
using Means = ExpressionNode::Means;

// How else the functions are called, and what to write instead.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"ln", "log(x), the natural logarithm"},
    {"log10", "log(x)/log(10)"},
    {"log2", "log(x)/log(2)"},
    {"arcsin", "asin(x)"},
    {"arccos", "acos(x)"},
    {"arctan", "atan(x)"},
    {"cot", "1/tan(x)"},
    {"sqr", "x^2"},
    {"square", "x^2"},
    {"mean", "sum(i=1..length(x), x[i])/length(x)"},
    {"len", "length(x)"},
    {"product", "prod(i=1..n, x[i])"},
};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

// "x has 10 elements: x[1] .. x[10]"
std::string form_of(const std::string& name, const std::vector<std::int64_t>& shape) {
  if (shape.empty()) return in_quotes(name) + " is a number";
  std::string last;
  for (const std::int64_t n : shape) last += (last.empty() ? "" : ",") + std::to_string(n);
  return in_quotes(name) + " has the elements " + name + (shape.size() == 1 ? "[1]" : "[1,1]") +
         " .. " + name + "[" + last + "]; indices count from 1";
}

}  // namespace

ExpressionScope::ExpressionScope(std::span<const ExpressionVariable> variables,
                                 const ModelData* data)
    : variables_(variables) {
  for (const ExpressionVariable& one : variables) {
    offsets_.push_back(coordinates_);
    coordinates_ += static_cast<std::int32_t>(one.elements());
  }
  if (data == nullptr) return;
  for (const DataArray& array : data->arrays()) {
    if (array.shape.size() <= 2 && !array.values.empty()) data_.push_back(&array);
  }
}

void ExpressionScope::resolve(ExpressionNode& node) const {
  std::vector<std::string> levels;
  resolve(node, levels);
}

void ExpressionScope::resolve(ExpressionNode& node, std::vector<std::string>& levels) const {
  if (node.kind == Kind::fold) return resolve_fold(node, levels);
  if (node.kind == Kind::call) {
    // The array whose length is asked for is no value.
    if (node.text == "length") return resolve_call(node);
    if (expression_function(node.text) == nullptr) refuse_call(node);
  }
  for (ExpressionNode& part : node.parts) {
    resolve(part, levels);
    node.varies |= part.varies;
    node.indices |= part.indices;
  }
  if (node.kind == Kind::name || node.kind == Kind::item) resolve_name(node, levels);
  if (node.kind == Kind::call) resolve_call(node);
}

void ExpressionScope::resolve_name(ExpressionNode& node,
                                   const std::vector<std::string>& levels) const {
  const auto level = std::find(levels.rbegin(), levels.rend(), node.text);
  const auto variable = std::ranges::find(variables_, node.text, &ExpressionVariable::name);
  const auto array = std::ranges::find(data_, node.text, &DataArray::name);
  if (level != levels.rend() && node.kind == Kind::name) {
    node.means = Means::index;
    node.which = static_cast<std::size_t>(levels.rend() - level) - 1;
    node.indices = 1U << node.which;
    return;
  }
  if (node.varies && (variable != variables_.end() || array != data_.end())) {
    refuse_expression("expr.index", node.column,
                      "an index of " + in_quotes(node.text) + " depends on a variable",
                      "numbers, data and the indices of sums");
  }
  if (variable != variables_.end()) {
    node.means = Means::variable;
    node.which = static_cast<std::size_t>(variable - variables_.begin());
    node.varies = true;
  } else if (array != data_.end()) {
    node.means = Means::data;
    node.which = static_cast<std::size_t>(array - data_.begin());
  } else if (node.kind == Kind::name && (node.text == "pi" || node.text == "e")) {
    node.kind = Kind::number;
    node.number = node.text == "pi" ? std::numbers::pi : std::numbers::e;
    return;
  } else {
    refuse_name(node, levels);
  }
  const Shape& shape = shape_of(node);
  if (node.parts.size() != shape.size()) {
    const std::string n = std::to_string(node.parts.size());
    refuse_expression("expr.index", node.column,
                      node.parts.empty() ? in_quotes(node.text) + " stands here without an index"
                                         : in_quotes(node.text) + " stands here with " + n +
                                               (n == "1" ? " index" : " indices"),
                      form_of(node.text, shape));
  }
}

void ExpressionScope::refuse_name(const ExpressionNode& node,
                                  const std::vector<std::string>& levels) const {
  const std::string& name = node.text;
  if (expression_function(name) != nullptr || name == "length") {
    refuse_expression("expr.name", node.column, in_quotes(name) + " is the name of a function",
                      "its argument in parentheses: " + name + "(x)");
  }
  refuse_expression("expr.name", node.column, "the name " + in_quotes(name) + " is not known",
                    known_names(levels, name),
                    "declare a variable: --var '" + name + (node.kind == Kind::item ? "[10]" : "") +
                        "=real:LOW:HIGH'");
}

void ExpressionScope::refuse_call(const ExpressionNode& node) const {
  const auto variable = std::ranges::find(variables_, node.text, &ExpressionVariable::name);
  const auto array = std::ranges::find(data_, node.text, &DataArray::name);
  if (variable != variables_.end() || array != data_.end()) {
    const Shape& shape = variable != variables_.end() ? variable->shape : (*array)->shape;
    refuse_expression("expr.call", node.column, in_quotes(node.text) + " is not a function",
                      form_of(node.text, shape),
                      shape.empty() ? "a product needs a '*'" : "an element stands in brackets");
  }
  for (const auto& [other, ours] : other_names) {
    if (lower(node.text) != other) continue;
    refuse_expression("expr.call", node.column,
                      "the function " + in_quotes(node.text) + " is not known",
                      "write " + std::string(ours));
  }
  std::vector<std::string> names{"length", "prod", "sum"};
  for (const ExpressionFunction& one : expression_functions()) names.emplace_back(one.name);
  std::ranges::sort(names);
  std::string near, all;
  for (const std::string& one : names) {
    all += (all.empty() ? "" : ", ") + one;
    if (lower(node.text).starts_with(one) && one.size() > near.size()) near = one;
  }
  refuse_expression("expr.call", node.column,
                    "the function " + in_quotes(node.text) + " is not known",
                    near.empty() ? all : "the nearest is " + in_quotes(near));
}

void ExpressionScope::resolve_call(ExpressionNode& node) const {
  if (node.text == "length") {
    const bool is_name = node.parts.size() == 1 && node.parts[0].kind == Kind::name;
    const std::string name = is_name ? node.parts[0].text : std::string{};
    const auto variable = std::ranges::find(variables_, name, &ExpressionVariable::name);
    const auto array = std::ranges::find(data_, name, &DataArray::name);
    const Shape* const shape = variable != variables_.end() ? &variable->shape
                               : array != data_.end()       ? &(*array)->shape
                                                            : nullptr;
    if (is_name && shape == nullptr) refuse_name(node.parts[0], {});
    if (shape == nullptr || shape->empty()) {
      refuse_expression("expr.call", node.column, "length() takes the name of an array",
                        "such as length(x)");
    }
    node.kind = Kind::number;
    node.number = static_cast<double>(shape->front());
    node.parts.clear();
    return;
  }
  const ExpressionFunction* const function = expression_function(node.text);
  node.op = function->op;
  const std::size_t n = node.parts.size();
  if (n >= function->least && n <= function->most) return;
  refuse_expression("expr.call", node.column,
                    node.text + "() stands here with " + std::to_string(n) +
                        (n == 1 ? " argument" : " arguments"),
                    function->most > function->least ? "2 to 12 arguments"
                    : function->least == 1           ? "1 argument"
                                                     : "2 arguments");
}

void ExpressionScope::resolve_fold(ExpressionNode& node, std::vector<std::string>& levels) const {
  const std::size_t outer = levels.size();
  for (ExpressionNode::Range& range : node.ranges) {
    for (ExpressionNode& bound : range.bounds) {
      resolve(bound, levels);
      if (bound.varies) {
        refuse_expression(
            "expr.index", bound.column,
            "a bound of the index " + in_quotes(range.index) + " depends on a variable",
            "numbers, data and the indices of outer sums");
      }
      node.indices |= bound.indices;
    }
    if (levels.size() == max_levels) {
      refuse_expression("expr.size", range.column,
                        "over " + std::to_string(max_levels) + " indices stand in each other");
    }
    const bool is_taken =
        std::ranges::count(variables_, range.index, &ExpressionVariable::name) > 0 ||
        std::ranges::count(data_, range.index, &DataArray::name) > 0;
    if (is_taken) {
      refuse_expression(
          "expr.index", range.column,
          "the index " + in_quotes(range.index) + " has the name of a variable or of data", {},
          "give the index another name");
    }
    range.level = levels.size();
    levels.push_back(range.index);
  }
  resolve(node.parts.front(), levels);
  node.varies = node.parts.front().varies;
  node.indices |= node.parts.front().indices;
  node.indices &= (1U << outer) - 1;
  levels.resize(outer);
}

std::string ExpressionScope::known_names(const std::vector<std::string>& levels,
                                         const std::string& name) const {
  std::vector<std::string> names = levels;
  for (const ExpressionVariable& one : variables_) names.push_back(one.name);
  for (const DataArray* const one : data_) {
    if (is_expression_name(one->name)) names.push_back(one->name);
  }
  const std::string near = name.size() > 2 ? nearest_name(name, names) : std::string{};
  if (!near.empty()) return "the nearest is " + in_quotes(near);
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  return all.empty() ? "a declared variable" : "known: " + all;
}

const ExpressionScope::Shape& ExpressionScope::shape_of(const ExpressionNode& node) const {
  return node.means == Means::variable ? variables_[node.which].shape : data_[node.which]->shape;
}

const ExpressionVariable* ExpressionScope::unused(
    std::span<const ExpressionNode* const> formulas) const {
  std::vector<bool> used(variables_.size(), false);
  const auto mark = [&](const auto& self, const ExpressionNode& one) -> void {
    if (one.means == Means::variable) used[one.which] = true;
    for (const ExpressionNode& part : one.parts) self(self, part);
  };
  for (const ExpressionNode* const formula : formulas) mark(mark, *formula);
  const auto found = std::ranges::find(used, false);
  return found == used.end() ? nullptr
                             : &variables_[static_cast<std::size_t>(found - used.begin())];
}

std::int64_t ExpressionScope::place(const ExpressionNode& node, Indices& indices) const {
  const Shape& shape = shape_of(node);
  std::int64_t place = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const double index = value(node.parts[k], indices, {});
    if (!(index >= 1 && index <= static_cast<double>(shape[k])) || index != std::floor(index)) {
      refuse_expression(
          "expr.index", node.parts[k].column,
          "an index of " + in_quotes(node.text) + " becomes " + kiln::detail::show_real(index),
          form_of(node.text, shape));
    }
    place = place * shape[k] + static_cast<std::int64_t>(index) - 1;
  }
  return place;
}

std::int32_t ExpressionScope::coordinate(const ExpressionNode& node, Indices& indices) const {
  if (steps_left_ > 0 && --steps_left_ == 0) refuse_terms(node.column);
  return offsets_[node.which] + static_cast<std::int32_t>(place(node, indices));
}

std::optional<std::array<std::int32_t, 2>> ExpressionScope::bounds(
    const ExpressionNode::Range& range, Indices& indices) const {
  std::array<std::int32_t, 2> ends{};
  for (std::size_t k = 0; k < 2; ++k) {
    const double end = value(range.bounds[k], indices, {});
    if (!(std::abs(end) <= 1e9) || end != std::floor(end)) {
      refuse_expression("expr.index", range.bounds[k].column,
                        "a bound of the index " + in_quotes(range.index) + " becomes " +
                            kiln::detail::show_real(end),
                        "a whole number from -1e9 to 1e9");
    }
    ends[k] = static_cast<std::int32_t>(end);
  }
  if (ends[0] > ends[1]) return std::nullopt;
  return ends;
}

double ExpressionScope::value(const ExpressionNode& node, Indices& indices,
                              std::span<const double> x) const {
  if (steps_left_ > 0 && --steps_left_ == 0) refuse_terms(node.column);
  switch (node.kind) {
    case Kind::number:
      return node.number;
    case Kind::name:
    case Kind::item:
      if (node.means == Means::index) return indices[node.which];
      if (node.means == Means::data) {
        return data_[node.which]->values[static_cast<std::size_t>(place(node, indices))];
      }
      return x[static_cast<std::size_t>(coordinate(node, indices))];
    case Kind::call:
      return call(node, indices, x);
    case Kind::negative:
      return -value(node.parts[0], indices, x);
    case Kind::power:
      return power(value(node.parts[0], indices, x), value(node.parts[1], indices, x));
    case Kind::chain: {
      double result = value(node.parts[0], indices, x);
      for (std::size_t k = 1; k < node.parts.size(); ++k) {
        const double part = value(node.parts[k], indices, x);
        const char op = node.operators[k];
        result = op == '+'   ? result + part
                 : op == '-' ? result - part
                 : op == '*' ? result * part
                             : result / part;
      }
      return result;
    }
    default: {
      double result = node.text == "prod" ? 1 : 0;
      fold(node, 0, indices, x, result);
      return result;
    }
  }
}

double ExpressionScope::call(const ExpressionNode& node, Indices& indices,
                             std::span<const double> x) const {
  double result = value(node.parts[0], indices, x);
  if (node.parts.size() == 1) return expression_function_of(node.op, result, 0);
  for (std::size_t k = 1; k < node.parts.size(); ++k) {
    result = expression_function_of(node.op, result, value(node.parts[k], indices, x));
  }
  return result;
}

// The terms of all ranges one after the other.
void ExpressionScope::fold(const ExpressionNode& node, std::size_t range, Indices& indices,
                           std::span<const double> x, double& result) const {
  if (range == node.ranges.size()) {
    const double part = value(node.parts[0], indices, x);
    result = node.text == "prod" ? result * part : result + part;
    return;
  }
  const auto ends = bounds(node.ranges[range], indices);
  if (!ends) return;
  for (std::int32_t i = (*ends)[0]; i <= (*ends)[1]; ++i) {
    if (terms_left_ == 0) refuse_terms(node.column);
    if (terms_left_ > 0) --terms_left_;
    indices[node.ranges[range].level] = i;
    fold(node, range + 1, indices, x, result);
  }
}

}  // namespace kiln::problems
