// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/improvement.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The acquisition function. With gain = best - mean and z = gain / deviation:
enum class AcquisitionKind : std::uint8_t {
  expected_improvement,            ///< deviation h(z), h(z) = phi(z) + z Phi(z)
  log_expected_improvement,        ///< its logarithm, with nonzero slopes where it underflows
  probability_of_improvement,      ///< Phi(z)
  log_probability_of_improvement,  ///< its logarithm; for a constraint: best is its bound
  confidence_bound,  ///< weight deviation - mean: minus the lower bound of the objective
};

/// An acquisition function with its derivatives.
struct Acquisition {
  double value = 0;
  double by_mean = 0;
  double by_deviation = 0;

  KILN_HD Acquisition(AcquisitionKind kind, double mean, double deviation, double best,
                      double weight) {
    if (kind == AcquisitionKind::confidence_bound) {
      value = weight * deviation - mean;
      by_mean = -1.0;
      by_deviation = weight;
      return;
    }
    const double z = (best - mean) / deviation;
    const StandardImprovement at(z);
    if (kind == AcquisitionKind::expected_improvement) {
      value = deviation * at.value;
      by_mean = -at.cdf;
      by_deviation = at.pdf;
    } else if (kind == AcquisitionKind::log_expected_improvement) {
      value = math::log(deviation) + at.log_value;
      by_mean = -at.cdf_ratio / deviation;
      by_deviation = at.pdf_ratio / deviation;
    } else {
      // Both depend on z alone.
      const bool logarithm = kind == AcquisitionKind::log_probability_of_improvement;
      const double slope = (logarithm ? at.hazard : at.pdf) / deviation;
      value = logarithm ? at.log_cdf : at.cdf;
      by_mean = -slope;
      by_deviation = -z * slope;
    }
  }
};

/// Evaluates acquisition functions from the predictions of a Gaussian process: the larger, the
/// better the point, for an objective that is minimised.
///
/// A variance below `min_variance` (rounding makes some negative) counts as `min_variance`.
/// Logarithms are finite and have slopes that point towards better points as long as z^2 is finite,
/// even if the function underflows. A NaN makes NaN.
///
/// Class D: elementary functions are backend-specific.
/// @par Source  see StandardImprovement; the confidence bound: Srinivas, Krause, Kakade, Seeger,
/// IEEE Trans. Inf. Theory 58 (2012) 3250.
struct KILN_API AcquisitionValues {
  static constexpr const char* name = "acquisition_values";
  static constexpr const char* summary =
      "evaluates acquisition functions and their derivatives from predicted means and variances";
  static constexpr const char* accuracy = "D";

  AcquisitionKind kind = AcquisitionKind::log_expected_improvement;
  View1<const double> mean;      ///< [points]
  View1<const double> variance;  ///< [points]
  std::int64_t group_size = 1;   ///< consecutive points of a group
  View1<const double> best;      ///< [groups], the incumbent value; not for confidence_bound
  View1<const double> weight;    ///< [groups], for confidence_bound only
  double min_variance = 1e-20;

  // Results. An empty view is not computed.
  View1<double> value;                  ///< [points]
  View1<double> by_mean;                ///< [points], the derivative with respect to the mean
  View1<double> by_deviation;           ///< [points], and to the standard deviation
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }

  KILN_HD void operator()(std::int64_t point) const {
    if (!active()) return;
    const std::int64_t group = point / group_size;
    const bool bound = kind == AcquisitionKind::confidence_bound;
    const double v = variance[point] < min_variance ? min_variance : variance[point];
    const Acquisition of(kind, mean[point], math::sqrt(v), bound ? 0.0 : best[group],
                         bound ? weight[group] : 0.0);
    if (value) value[point] = of.value;
    if (by_mean) by_mean[point] = of.by_mean;
    if (by_deviation) by_deviation[point] = of.by_deviation;
  }
};

}  // namespace kiln
