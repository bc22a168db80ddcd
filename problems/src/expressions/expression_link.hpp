// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expressions/expression_program.hpp"

namespace kiln::problems {

/// A load leaves a part of a derivative at `place` + iteration.
struct ExpressionLoad {
  std::int32_t place;            ///< behind the results
  std::vector<std::int32_t> of;  ///< by iteration: a variable from 0, or a result from n
};

/// The end of a compilation: moves places behind the results, whose number is known now, and lists
/// the parts of each derivative.
/// @param memory  doubles behind the results
void link_expression(ExpressionProgram& program, std::span<const ExpressionLoad> loads,
                     std::int32_t coordinates, std::int32_t results, std::int32_t memory);

}  // namespace kiln::problems
