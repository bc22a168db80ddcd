// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/matrix_batch.hpp"

namespace kiln {

/// Computes the data of Gaussian process predictions from the inverses of their factors: the
/// weights K^-1 (y - m) of one or several lists of targets, and the diagonal of K^-1.
///
/// `inverse_factor` has L^-1 on and below its diagonal; the transpose is written above it, so that
/// AcquisitionGradient reads both L^-1 and L^-T along rows. Targets of missing points must be m.
///
/// Class D: sums have a backend-specific order.
/// @par Source  Rasmussen, Williams, Gaussian Processes for Machine Learning, 2.3 and 5.4.2.
struct KILN_API PosteriorWeights {
  static constexpr const char* name = "posterior_weights";
  static constexpr const char* summary =
      "computes the weights of the targets in predictions of Gaussian processes";
  static constexpr const char* accuracy = "D";

  MatrixBatch<double> inverse_factor;  ///< [sets] of [n][n]
  MatrixBatch<const double> target;    ///< [sets] of [lists][n]
  View1<const double> mean;            ///< [sets], m
  MatrixBatch<double> weight;          ///< [sets] of [lists][n]
  View2<double> inverse_diagonal;      ///< [sets][n]; null data: not computed

  /// Size of a team's scratch memory.
  KILN_HD std::int64_t work_size() const { return inverse_factor.rows; }

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t set, double* work) const {
    const View2<double> s = inverse_factor[set];
    for (std::int64_t i = team.rank(); i < s.rows; i += team.size()) {
      for (std::int64_t j = 0; j < i; ++j) s(j, i) = s(i, j);
    }
    team.sync();
    for (std::int64_t list = 0; list < target.rows; ++list) weigh(team, set, list, s, work);
    if (inverse_diagonal.data == nullptr) return;
    for (std::int64_t j = team.rank(); j < s.rows; j += team.size()) {
      double sum = 0;
      for (std::int64_t i = j; i < s.rows; ++i) sum += s(i, j) * s(i, j);
      inverse_diagonal(set, j) = sum;
    }
  }

 private:
  /// Computes L^-1 r, then L^-T of it; neighbouring threads read neighbouring elements in both.
  template <class Team>
  KILN_HD void weigh(const Team& team, std::int64_t set, std::int64_t list, const View2<double>& s,
                     double* half) const {
    const View2<const double> y = target[set];
    const View2<double> out = weight[set];
    for (std::int64_t i = team.rank(); i < s.rows; i += team.size()) {
      double sum = 0;
      for (std::int64_t j = 0; j <= i; ++j) sum += s(j, i) * (y(list, j) - mean[set]);
      half[i] = sum;
    }
    team.sync();
    for (std::int64_t j = team.rank(); j < s.rows; j += team.size()) {
      double sum = 0;
      for (std::int64_t i = j; i < s.rows; ++i) sum += s(i, j) * half[i];
      out(list, j) = sum;
    }
    team.sync();
  }
};

}  // namespace kiln
