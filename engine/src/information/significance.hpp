// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/export.hpp"
#include "kiln/information/information_map.hpp"

namespace kiln {

/// The probability that Student's t with `degrees` degrees of freedom is t or more.
KILN_TEST_API double student_tail(double t, double degrees);

/// The probability that a gamma distribution with shape a and scale 1 gives x or more; x > 0.
KILN_TEST_API double gamma_tail(double a, double x);

/// What is known of the surrogates of an estimate beyond their values.
struct SurrogateTail {
  /// Whether fewer than ten surrogates beyond the value make a p-value by a distribution.
  bool is_smooth = true;
  double skewness = 0;  ///< of that distribution
};

/// The skewness of the surrogates of several estimates, each about its own mean and in units of its
/// own deviation; at least 0.
KILN_TEST_API double pooled_skewness(const std::vector<std::vector<double>>& surrogates);

/// Compares an estimate with its surrogates: sets effective, surrogate_mean, surrogate_deviation
/// and p_value.
KILN_TEST_API void compare_with_surrogates(const std::vector<double>& surrogates,
                                           const SurrogateTail& tail,
                                           InformationEstimate& estimate);

/// Sets q_value and significant of links with p-values, at the map's rate of false discoveries.
void mark_significant(InformationMap& map);

}  // namespace kiln
