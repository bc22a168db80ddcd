// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln::problems::detail {

/// What a program printed about its value and constraints.
struct ProgramOutput {
  std::vector<double> numbers;  ///< the value, then the constraints
  std::string line;             ///< where the value stands, printable
  std::string complaint;        ///< why there are no numbers; "" where there are
};

/// Reads `count` numbers. The last line that says what it is decides: `value = 0.25` (or with a
/// colon), with constraints behind it or in a line `constraints = -1, 0.5`; or a JSON object with
/// "value" and "constraints". Without one, they are the last numbers of the text: nothing stands
/// behind them in their lines, and no word between them and the end begins like a number and is
/// none.
KILN_TEST_API ProgramOutput read_output(std::string_view text, std::size_t count);

}  // namespace kiln::problems::detail
