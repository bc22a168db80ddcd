// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

/// The text without blanks, tabs and carriage returns at its ends.
std::string trimmed(std::string_view text);

/// The cells of a line, some of them in double quotes; blanks around the others are left out.
std::vector<std::string> cells_in(const std::string& line);

/// A cell that cells_in() reads back; in quotes where it needs them.
std::string quoted_cell(const std::string& text);

/// The cell as a number, NaN and infinities included; nothing where it is none.
std::optional<double> number_in_cell(const std::string& cell);

}  // namespace kiln::cli
