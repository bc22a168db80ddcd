// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expressions/expression_program.hpp"

namespace kiln::problems {

/// Writes the program of values: the steps of each block, from its instructions.
void add_steps(ExpressionProgram& program);

}  // namespace kiln::problems
