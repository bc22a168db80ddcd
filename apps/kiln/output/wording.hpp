// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/problem.hpp"

namespace kiln::cli {

/// "minimize" or "maximize": as options and documents have it.
const char* option_of(Sense) noexcept;

/// "maximise cut", or that of several objectives: "minimise cost, latency, maximise quality"
std::string aim_text(const Problem& problem);

/// How many places of a line the text takes on a terminal: wide characters of East Asia take two.
std::size_t display_width(std::string_view text);

/// The text, or its two ends with "..." between them where it is wider than `width`: names of
/// columns often begin alike.
/// @param text  that clean() leaves as it is
/// @param width  at least 5
std::string shortened_name(std::string_view text, std::size_t width);

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

/// table_text() where a line has room for it. Else each row, the header first, takes as many lines
/// as it needs, with the same columns in each; those after the first are indented. A cell that is
/// wider than a line is broken between words.
std::string stacked_table(const std::vector<std::vector<std::string>>& rows,
                          std::size_t first_number, std::size_t columns);

/// "label  a = 1, b = 2, ... and 7 more" in two lines at most.
/// @param rest  what follows "more"
std::string values_text(std::string_view label,
                        const std::vector<std::pair<std::string, std::string>>& values,
                        std::string_view rest, std::size_t columns);

}  // namespace kiln::cli
