// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::cli {

/// A share of 0 to 1 as a bar in a cell of a table.
std::string bar_html(double share);

}  // namespace kiln::cli
