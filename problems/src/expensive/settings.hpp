// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

namespace kiln::problems::detail {

/// The texts of a setting; none where it is not given.
std::vector<std::string> texts_of(const ProblemSettings& settings, const std::string& name);

/// The text of a setting that takes one, the last if it is given several times, or `otherwise`.
std::string setting_or(const ProblemSettings& settings, const std::string& name,
                       const std::string& otherwise);

/// Words between separators, without blanks around them; empty ones are left out.
std::vector<std::string> split_list(const std::string& text, char separator);

/// The words of a setting, separated by commas; one with a comma in it stands in double quotes,
/// as a cell of a table does.
std::vector<std::string> list_of(const ProblemSettings& settings, const std::string& name);

/// Of the setting `sense`. @throws InvalidArgument unless it is minimize or maximize.
Sense sense_of(const ProblemSettings& settings, Sense otherwise);

}  // namespace kiln::problems::detail
