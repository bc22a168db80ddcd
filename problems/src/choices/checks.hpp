// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "kiln/problems/assignment.hpp"
#include "kiln/problems/portfolio.hpp"

#include "sha256.hpp"

namespace kiln::problems::detail {

/// @throws InvalidArgument as make_portfolio().
void require_valid(const Portfolio& portfolio);
/// @throws InvalidArgument as make_assignment().
void require_valid(const Assignment& assignment);
/// @throws InvalidArgument as make_quadratic_assignment().
void require_valid(const QuadraticAssignment& assignment);

/// Adds numbers or names to a fingerprint.
void add_to(Sha256& hash, const std::vector<double>& numbers);
void add_to(Sha256& hash, const std::vector<std::string>& names);

}  // namespace kiln::problems::detail
