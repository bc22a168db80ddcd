// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/penalties.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kiln::problems {
namespace {

using Kind = ExpressionNode::Kind;

// A slope makes the greatest violation ten times as bad as the worst value.
constexpr double slope_share = 10;
// Of the greatest magnitude of a constraint; sums of thousands of terms are rounded by less.
constexpr double margin_share = 1e-12;
// Of what has no bounds an interval of this width is measured, at a bound or around 0.
constexpr double open_width = 20;
// How many random states are measured, by the parts of formulas that they may compute together.
constexpr std::int64_t most_parts = std::int64_t{1} << 24;
constexpr std::int64_t least_states = 4, most_states = 256;

/// What a function was at random states, where it was finite.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  void take(double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  /// 1 for what does not vary.
  double width() const { return greatest > least ? greatest - least : 1; }
  double magnitude() const {
    return greatest >= least ? std::max(std::abs(least), std::abs(greatest)) : 0;
  }
};

struct Measures {
  Extent objective;
  std::vector<Extent> constraints;
};

Bounds measured(const ExpressionVariable& variable) {
  const bool below = std::isinf(variable.lower), above = std::isinf(variable.upper);
  if (below && above) return {-open_width / 2, open_width / 2};
  if (below) return {variable.upper - open_width, variable.upper};
  return {variable.lower, above ? variable.lower + open_width : variable.upper};
}

void draw(const std::vector<ExpressionVariable>& variables, std::mt19937_64& random,
          std::vector<double>& x) {
  std::size_t at = 0;
  for (const ExpressionVariable& one : variables) {
    for (std::int64_t k = 0; k < one.elements(); ++k) {
      const double share = static_cast<double>(random() >> 11U) * 0x1p-53;
      const bool counts = one.kind != ExpressionVariable::Kind::real;
      const Bounds ends = measured(one);
      const double width = ends.upper - ends.lower;
      x[at++] = ends.lower + (counts ? std::floor(share * (width + 1)) : share * width);
    }
  }
}

/// Evaluates texts that no program has been made of yet, and which may have any number of terms.
class Evaluation {
 public:
  Evaluation(const Formula& formula, std::vector<double> x) : formula_(formula), x_(std::move(x)) {}
  ~Evaluation() { formula_.scope.limit(-1, -1); }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  /// @throws InvalidArgument `expr.size`
  double value(const ExpressionNode& node) {
    formula_.scope.limit(max_terms, max_steps);
    const double value = formula_.value(node, x_);
    parts_ += max_steps - formula_.scope.steps_left();
    return value;
  }
  std::int64_t parts() const { return parts_; }

 private:
  const Formula& formula_;
  std::vector<double> x_;
  std::int64_t parts_ = 0;
};

Measures measure(const Formula& formula) {
  Measures measures;
  measures.constraints.resize(formula.constraints.size());
  std::vector<double> x(static_cast<std::size_t>(formula.scope.coordinates()));
  std::mt19937_64 random(1);
  std::int64_t states = most_states;
  for (std::int64_t k = 0; k < states; ++k) {
    draw(formula.variables, random, x);
    Evaluation at(formula, x);
    measures.objective.take(at.value(formula.objectives.front().text));
    for (std::size_t j = 0; j < formula.constraints.size(); ++j) {
      const Formula::Constraint& one = formula.constraints[j];
      measures.constraints[j].take(at.value(one.left) - at.value(one.right));
    }
    if (k > 0) continue;
    states =
        std::clamp(most_parts / std::max<std::int64_t>(at.parts(), 1), least_states, most_states);
  }
  return measures;
}

ExpressionNode number(double value) {
  ExpressionNode node;
  node.number = value;
  return node;
}

// With the column of its first part, which a complaint about its size would name.
ExpressionNode made(Kind kind, std::vector<ExpressionNode> parts) {
  ExpressionNode node;
  node.kind = kind;
  node.column = parts.front().column;
  for (const ExpressionNode& part : parts) {
    node.varies |= part.varies;
    node.indices |= part.indices;
  }
  node.parts = std::move(parts);
  return node;
}

ExpressionNode chain(std::string operators, std::vector<ExpressionNode> parts) {
  ExpressionNode node = made(Kind::chain, std::move(parts));
  node.operators = std::move(operators);
  return node;
}

ExpressionNode call(const char* name, std::vector<ExpressionNode> parts) {
  ExpressionNode node = made(Kind::call, std::move(parts));
  node.text = name;
  node.op = expression_function(name)->op;
  return node;
}

// max(g + margin, 0), which is no number where g is none.
ExpressionNode excess(const Formula::Constraint& constraint, double margin) {
  ExpressionNode g = chain("+-", {constraint.left, constraint.right});
  if (constraint.equality) {
    g = chain("+-", {call("abs", {std::move(g)}), number(equality_tolerance)});
  }
  if (margin > 0) g = chain("++", {std::move(g), number(margin)});
  return call("max", {std::move(g), number(0)});
}

}  // namespace

Penalized penalized(const Formula& formula, bool negated) {
  const Measures measures = measure(formula);
  const double margin_of = formula.all_real() ? margin_share : 0;
  double margins = 0;
  std::vector<ExpressionNode> parts{formula.objectives.front().text}, all;
  for (std::size_t j = 0; j < formula.constraints.size(); ++j) {
    const Extent& extent = measures.constraints[j];
    const double margin = margin_of * extent.magnitude();
    all.push_back(excess(formula.constraints[j], margin));
    const double slope = slope_share * measures.objective.width() / extent.width();
    parts.push_back(chain("**", {number(slope), all.back()}));
    margins += slope * margin;
  }
  const std::string pluses(all.size(), '+');
  ExpressionNode total = all.size() == 1 ? all.front() : chain(pluses, std::move(all));
  parts.push_back(
      chain("**", {number(measures.objective.width()), call("sign", {std::move(total)})}));
  const std::string operators = "+" + std::string(parts.size() - 1, negated ? '-' : '+');
  return {chain(operators, std::move(parts)), margins};
}

}  // namespace kiln::problems
