// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kiln/problems/expression.hpp"
#include "kiln/problems/model_data.hpp"

#include "expressions/expression_scope.hpp"
#include "expressions/expression_text.hpp"

namespace kiln::problems {

/// What a problem needs of its formula for as long as it lives: all texts with their names
/// resolved.
struct Formula {
  struct Objective {
    ExpressionNode text;
    bool maximized = false;
  };
  /// left <= right, or left == right.
  struct Constraint {
    ExpressionNode left, right;
    bool equality = false;
  };

  /// @throws InvalidArgument `expr.*`
  explicit Formula(const ExpressionOptions& options);
  Formula(const Formula&) = delete;
  Formula& operator=(const Formula&) = delete;

  double value(const ExpressionNode& node, std::span<const double> x) const {
    ExpressionScope::Indices indices{};
    return scope.value(node, indices, x);
  }
  /// Writes the value of each constraint by its text: at most 0 where it is met.
  void constraint_values(std::span<const double> x, std::span<double> g) const;
  bool all_real() const;
  /// @throws InvalidArgument `expr.variable` for a declared variable that is nowhere in the texts
  void require_all_used() const;

  std::vector<ExpressionVariable> variables;
  ModelData data;
  ExpressionScope scope;
  std::vector<Objective> objectives;
  std::vector<Constraint> constraints;
};

/// By so much the sides of an equality may differ.
inline constexpr double equality_tolerance = 1e-6;

}  // namespace kiln::problems
