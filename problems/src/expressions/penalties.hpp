// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expressions/expression_text.hpp"
#include "expressions/formula.hpp"

namespace kiln::problems {

/// What is searched instead of a formula with constraints.
struct Penalized {
  ExpressionNode text;
  double margins = 0;  ///< sum_j slope_j margin_j: about as much better f may be at the constraints
};

/// The objective of a formula with one objective, with penalties for its constraints:
///
///     f + sum_j slope_j v_j + jump sign(sum_j v_j),   v_j = max(g_j + margin_j, 0)
///
/// The penalties are 0 where all g_j + margin_j are at most 0. The slopes lead to such states, and
/// the jump makes worse every state that is not such, however near it is. Both are made to the
/// measure of f and g at states of the space that are the same in every run. The margin, in a space
/// of reals, is more than the rounding of g.
/// @param negated  f is maximised
Penalized penalized(const Formula& formula, bool negated);

}  // namespace kiln::problems
