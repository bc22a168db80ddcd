// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
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

/// Of a result with a front, the member that it handed out: "knee         f1 = 0.25   f2 = 0.5", or
/// `solution` where the front has no knee. "" without members.
/// @throws nlohmann::json::exception if something is missing or of another type.
std::string chosen_member_text(const nlohmann::json& result);

}  // namespace kiln::cli
