// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/fronts/front.hpp"
#include "kiln/problem.hpp"
#include "kiln/result.hpp"

namespace kiln::cli {

/// Adds what the front of a result is worth beside another one to its diagnostics: igd, igd_plus,
/// epsilon and spread, in units of the box of the front; nothing if one of them is empty. Two
/// million pairs of a member and a point are compared at most: of a larger front fewer points
/// (thinned_front()).
void compare_with(const Points& reference, Result& result);

/// The lines after `done`: volume, size, knee and ends of the front, and the comparison.
/// @param other  what the front was compared with, "the true front"
std::string front_text(const Result& result, const char* other);

/// One member a line: objectives as users read them, then all variables.
std::string front_csv(const Front& front, const Problem& problem);

/// The same of Front::nearest, with the violation behind the objectives.
std::string infeasible_csv(const Front& front, const Problem& problem);

/// A picture of the front and, as a line, of another one; that may be empty.
std::string front_picture(const Result& result, const Points& reference);

}  // namespace kiln::cli
