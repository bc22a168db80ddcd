// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "expressions/expression_text.hpp"
#include "expressions/formula.hpp"

namespace kiln::problems {

/// Bounds how far two evaluations of a resolved formula may differ anywhere in the bounds of its
/// variables, whatever the order of its additions, and how far one of them may be from the value
/// with decimal fractions.
///
/// Bounded are sums of multiples of variables, products and powers of integers, and abs, min and
/// max of these. A product of reals has no bound that is of use: its terms at a wide box are far
/// larger than near a solution. Of products of integers that are not binary, a bound above 1e-9
/// is as little use.
/// @return 0 where all results are exact; nothing where there is no such bound
/// @par Source  Higham, Accuracy and Stability of Numerical Algorithms (2002), sections 3.1
/// and 4.2.
std::optional<double> rounding_of(const Formula& formula, const ExpressionNode& node);

}  // namespace kiln::problems
