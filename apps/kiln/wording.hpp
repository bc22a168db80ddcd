// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kiln/problem.hpp"

namespace kiln::cli {

/// "minimize" or "maximize": as options and documents have it.
const char* option_of(Sense) noexcept;

/// "maximise cut", or that of several objectives: "minimise cost, latency, maximise quality"
std::string aim_text(const Problem& problem);

/// table_text() with a number of blanks between columns.
std::string spaced_table(const std::vector<std::vector<std::string>>& rows,
                         std::size_t first_number, std::size_t blanks);

/// What is measured, and in what: "mass [kg]" is a name and a unit, "x[1]" a name only.
struct NamedUnit {
  std::string name;
  std::string unit;  ///< "" where there is none
};
NamedUnit named_unit(const std::string& text);

/// The names without their units, but where two would then be alike.
std::vector<std::string> without_units(const std::vector<std::string>& names);

}  // namespace kiln::cli
