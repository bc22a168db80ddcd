// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/export.hpp"
#include "kiln/information/information_map.hpp"

namespace kiln {

/// The probability that Student's t with `degrees` degrees of freedom is t or more.
KILN_TEST_API double student_tail(double t, double degrees);

/// Compares an estimate with its surrogates: sets effective, surrogate_mean, surrogate_deviation
/// and p_value.
KILN_TEST_API void compare_with_surrogates(const std::vector<double>& surrogates,
                                           InformationEstimate& estimate);

/// Sets q_value and significant of links with p-values, at the map's rate of false discoveries.
void mark_significant(InformationMap& map);

}  // namespace kiln
