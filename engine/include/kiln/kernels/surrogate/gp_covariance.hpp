// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/axes.hpp"
#include "kiln/device/covariance.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/matrix_batch.hpp"

namespace kiln {

/// Borrowed sets of points, each [dimension][points]; coordinate k of set s begins at
/// data + s * set_stride + k * stride.
///
/// All sets have room for the same number of points; with `counts` only the first ones exist.
struct PointSets {
  const double* data = nullptr;
  std::int64_t points = 0;
  std::int64_t stride = 0;
  std::int64_t set_stride = 0;
  View1<const std::int32_t> counts;  ///< [sets]; empty: all points exist

  KILN_HD double operator()(std::int64_t set, std::int64_t k, std::int64_t point) const {
    return data[set * set_stride + k * stride + point];
  }
  KILN_HD std::int64_t count(std::int64_t set) const { return counts ? counts[set] : points; }
};

/// The order of the logarithms of hyperparameters in a vector: length scales, variance, noise, and
/// the alpha of the rational quadratic.
struct HyperLayout {
  std::int64_t lengths = 1;  ///< one for each dimension, or one for all

  KILN_HD std::int64_t variance() const { return lengths; }
  KILN_HD std::int64_t noise() const { return lengths + 1; }
  KILN_HD std::int64_t alpha() const { return lengths + 2; }
  KILN_HD static constexpr std::int64_t size(std::int64_t lengths, CovarianceKind kind) {
    return lengths + (kind == CovarianceKind::rational_quadratic ? 3 : 2);
  }
};

/// Hyperparameters of the prior of each item of a batch, in device memory so that a captured launch
/// sees changes: the values, or vectors of their logarithms.
struct CovarianceParameters {
  View1<const double> variance;    ///< [items], v: the square of the amplitude
  View2<const double> length;      ///< [dimension][items], or [1][items] for a common length scale
  View1<const double> alpha;       ///< [items], of the rational quadratic only
  View1<const double> noise;       ///< [items], on the diagonal of the symmetric form; empty: none
  View2<const double> logarithms;  ///< [items][parameters]; if set, the others are not read
  HyperLayout layout;              ///< of the logarithms

  KILN_HD bool by_logarithms() const { return logarithms.data != nullptr; }
  KILN_HD double exponential(std::int64_t item, std::int64_t at) const {
    return math::exp(logarithms(item, at));
  }
  KILN_HD double variance_of(std::int64_t item) const {
    return by_logarithms() ? exponential(item, layout.variance()) : variance[item];
  }
  KILN_HD std::int64_t lengths() const { return by_logarithms() ? layout.lengths : length.rows; }
  KILN_HD double length_of(std::int64_t k, std::int64_t item) const {
    if (by_logarithms()) return exponential(item, layout.lengths == 1 ? 0 : k);
    return length(length.rows == 1 ? 0 : k, item);
  }
  /// Alpha of the item; 1 for kinds without one.
  KILN_HD double alpha_of(CovarianceKind kind, std::int64_t item) const {
    if (kind != CovarianceKind::rational_quadratic) return 1.0;
    return by_logarithms() ? exponential(item, layout.alpha()) : alpha[item];
  }
  KILN_HD double noise_of(std::int64_t item) const {
    if (by_logarithms()) return exponential(item, layout.noise());
    return noise ? noise[item] : 0.0;
  }
  /// v, NaN where v < 0, l <= 0 or alpha <= 0, or one of them is NaN.
  KILN_HD double accepted_variance(CovarianceKind kind, std::int64_t dimension,
                                   std::int64_t item) const {
    const double v = variance_of(item);
    bool good = v >= 0 && alpha_of(kind, item) > 0;
    for (std::int64_t k = 0; k < (dimension > 0 ? lengths() : 0); ++k) {
      good = good && length_of(k, item) > 0;
    }
    return good ? v : exact::not_a_number();
  }
};

/// Computes covariance matrices of sets of points: matrix(i, j) = v c(r^2), with c the correlation
/// of `kind` and r^2 = sum over k of ((x_ik - x'_jk) / l_k)^2.
///
/// Without `other` the form is symmetric: x' = x, the noise is added to the diagonal, which is v +
/// noise with a single rounding, and the matrix is equal to its transpose bit for bit. With `other`
/// the rows are points of `points` and the columns points of `other`. Item i reads set i /
/// items_per_set, so that many priors of a set share its points.
///
/// Distances use differences of coordinates, never scalar products, so that close points keep their
/// digits. Different categories have distance 1, or that of `axes`; coinciding points have
/// covariance v exactly. Missing points give rows and columns of the identity in the symmetric
/// form, zeros otherwise, so that sets of different sizes are factored together. If v < 0, l <= 0
/// or alpha <= 0, or one is NaN, the whole matrix of the item is NaN, and so are row and column of
/// a point with a NaN: a factorisation reports it (BatchedCholesky). An item has the same bits
/// alone and in any batch.
///
/// Class D: elementary functions are backend-specific.
/// @par Source  Rasmussen, Williams, Gaussian Processes for Machine Learning, MIT Press
/// (2006), 4.2.
struct KILN_API GpCovariance {
  static constexpr const char* name = "gp_covariance";
  static constexpr const char* summary =
      "computes the covariance matrix of each set of points under a Gaussian process prior";
  static constexpr const char* accuracy = "D";

  CovarianceKind kind = CovarianceKind::matern52;
  std::int64_t dimension = 1;
  std::int64_t items_per_set = 1;
  PointSets points;
  PointSets other;  ///< without data: the form is symmetric
  Axes axes;        ///< of the points
  CovarianceParameters parameters;
  MatrixBatch<double> matrix;           ///< [items] of [points][points of the columns]
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  KILN_HD bool symmetric() const { return other.data == nullptr; }
  KILN_HD const PointSets& columns() const { return symmetric() ? points : other; }

  /// v of an item, NaN for invalid parameters.
  KILN_HD double variance_of(std::int64_t item) const {
    return parameters.accepted_variance(kind, dimension, item);
  }
  KILN_HD double alpha_of(std::int64_t item) const { return parameters.alpha_of(kind, item); }
  /// The element of a missing point.
  KILN_HD double missing(std::int64_t row, std::int64_t column) const {
    return symmetric() && row == column ? 1.0 : 0.0;
  }
};

}  // namespace kiln
