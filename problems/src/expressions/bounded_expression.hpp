// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "expressions/expression_text.hpp"

namespace kiln::problems {

/// Cuts a resolved formula into pieces of few instructions each: a part that would be too long for
/// the block of the whole becomes a fold without ranges, which has a block. Nothing is reordered.
void bound_expression(ExpressionNode& formula);

}  // namespace kiln::problems
