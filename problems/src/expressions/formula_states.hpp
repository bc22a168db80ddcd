// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/problem.hpp"
#include "kiln/problems/expression.hpp"
#include "kiln/space.hpp"

namespace kiln::problems {

/// The space of a formula. Coordinates count in the order of the variables; in a state those of one
/// kind and, if they are integers, of the same bounds are a block.
class FormulaStates {
 public:
  /// @throws InvalidArgument `expr.variables` for integers of too many different bounds
  explicit FormulaStates(const std::vector<ExpressionVariable>& variables);

  const Space& space() const noexcept { return space_; }
  /// Which coordinate stands at each place of a state, block after block.
  const std::vector<std::size_t>& coordinate_at() const noexcept { return coordinate_at_; }
  const std::vector<std::string>& names() const noexcept { return names_; }

  /// The coordinates of a state.
  std::vector<double> point_of(StateSpan state) const;
  /// The state of coordinates.
  /// @throws InvalidArgument `state.value` for one out of its bounds, or no whole number
  State state_of(std::span<const double> point) const;

 private:
  Space space_;
  std::vector<std::size_t> coordinate_at_;
  std::vector<std::string> names_;  // of coordinates
};

/// Names the coordinates of a problem and writes its solutions, in the order of the variables.
void name_states(Problem& problem, const std::shared_ptr<const FormulaStates>& states);

}  // namespace kiln::problems
