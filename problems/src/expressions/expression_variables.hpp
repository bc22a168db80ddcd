// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problems/expression.hpp"

namespace kiln::problems {

/// @throws InvalidArgument `expr.variable` or `expr.size` for variables that no formula can have.
void check_expression_variables(const ExpressionOptions& options);

/// "x", "a[1]", "m[1,1]", ...: one for each element, arrays row after row.
std::vector<std::string> expression_coordinates(const std::vector<ExpressionVariable>& variables);

/// The variables of the setting `var`, several of which a text may have, separated by semicolons.
std::vector<ExpressionVariable> expression_variables_of(const ProblemSettings& settings);

}  // namespace kiln::problems
