// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/improvement.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// For a normal variable Y and an interval (l, u]: the logarithm of the expected length of the part
/// above Y, E[u - max(l, Y)] = deviation (h((u - mean) / deviation) - h((l - mean) / deviation)),
/// with the derivatives of this logarithm. It is one side of a cell of expected hypervolume
/// improvement; l may be -infinity, and l < u. The logarithm has an absolute error below 1e-11 up
/// to 40 deviations, and nothing underflows.
///
/// In z = (y - mean) / deviation the length is the integral of Phi from z_l to z_u. For an interval
/// so short that values of h would cancel, it uses Gauss' rule. Above the mean, the difference to u
/// - l is small and exact. Elsewhere it is a difference of logarithms.
/// @par Source  Emmerich, Deutz, Klinkenberg, IEEE Congress on Evolutionary Computation (2011)
/// 2147, for the product form; logarithms as in StandardImprovement.
struct ExpectedLength {
  double log_value = 0;
  double by_mean = 0;
  double by_deviation = 0;

  KILN_HD ExpectedLength(double mean, double deviation, double lower, double upper) {
    const double z_upper = (upper - mean) / deviation, z_lower = (lower - mean) / deviation;
    const double width = (upper - lower) / deviation;
    const double farthest = z_upper > -z_lower ? z_upper : -z_lower;
    if (width * (1.0 + farthest) < short_interval) {
      by_gauss(z_lower + 0.5 * width, width);
    } else if (z_lower >= 0) {
      by_complement(z_lower, z_upper, width);
    } else {
      by_logarithms(z_lower, z_upper);
    }
    log_value += math::log(deviation);
    by_mean /= deviation;
    by_deviation /= deviation;
  }

 private:
  static constexpr double short_interval = 0.05;  // Gauss' rule is exact to 1e-14 below it

  KILN_HD void by_gauss(double middle, double width) {
    const double step = 0.38729833462074168852 * width;  // sqrt(3 / 5) / 2
    const StandardImprovement centre(middle);
    double length = 8.0 / 18.0, slope = length * centre.hazard, spread = slope * middle;
    for (int side = -1; side <= 1; side += 2) {
      const double z = middle + side * step;
      const StandardImprovement at(z);
      const double share = 5.0 / 18.0 * math::exp(at.log_cdf - centre.log_cdf);
      length += share;
      slope += share * at.hazard;
      spread += share * at.hazard * z;
    }
    log_value = math::log(width) + centre.log_cdf + math::log(length);
    by_mean = -slope / length;
    by_deviation = -spread / length;
  }
  /// h(z) = z + h(-z).
  KILN_HD void by_complement(double z_lower, double z_upper, double width) {
    const StandardImprovement below(-z_lower), above(-z_upper);
    const double length = width - (below.value - above.value);
    log_value = math::log(length);
    by_mean = -(below.cdf - above.cdf) / length;
    by_deviation = (above.pdf - below.pdf) / length;
  }
  KILN_HD void by_logarithms(double z_lower, double z_upper) {
    const StandardImprovement at(z_upper);
    log_value = at.log_value;
    by_mean = -at.cdf_ratio;
    by_deviation = at.pdf_ratio;
    if (z_lower < -1e100) return;  // the lower end contributes nothing
    const StandardImprovement under(z_lower);
    const double difference = under.log_value - at.log_value;
    const double ratio = math::exp(difference), left = -math::expm1(difference);
    log_value += math::log(left);
    by_mean = -(at.cdf_ratio - ratio * under.cdf_ratio) / left;
    by_deviation = (at.pdf_ratio - ratio * under.pdf_ratio) / left;
  }
};

}  // namespace kiln
