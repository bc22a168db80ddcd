// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli {

/// What a diagnostic, a series or a reason to stop is called on the screen: "mean energy" for
/// mean_energy, and more words where the name alone says little.
std::string words_of(std::string_view name);

/// A table as table_text() makes it, cut into several below each other where it is wider than a
/// screen of 80; each begins with the first column.
std::string narrow_tables(const std::vector<std::vector<std::string>>& rows);

}  // namespace kiln::cli
