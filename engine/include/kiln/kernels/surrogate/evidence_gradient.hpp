// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/covariance.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/symmetric_sweep.hpp"
#include "kiln/device/team_rows.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/matrix_batch.hpp"
#include "kiln/kernels/surrogate/gp_covariance.hpp"

namespace kiln {

/// Prior of one hyperparameter, as a density of its logarithm t. The negative log density is linear
/// t + precision (t - centre)^2 / 2 + rate e^t and alike (t - mean)^2 / 2, with the mean of all
/// parameters weighted by their `alike`: normal densities around an unknown mean, which is
/// integrated out.
struct HyperPrior {
  double linear = 0;
  double centre = 0;
  double precision = 0;
  double rate = 0;
  double alike = 0;

  /// A log-normal density of the parameter itself.
  static HyperPrior log_normal(double mean_of_log, double sd_of_log) {
    return {1, mean_of_log, 1 / (sd_of_log * sd_of_log), 0};
  }
  /// A normal density of the logarithm, in the measure of the logarithm: its mode is e^mean.
  static HyperPrior around(double mean_of_log, double sd_of_log) {
    return {0, mean_of_log, 1 / (sd_of_log * sd_of_log), 0};
  }
  /// A gamma density with this shape and rate.
  static HyperPrior gamma(double shape, double rate) { return {1 - shape, 0, 0, rate}; }
};

/// Computes the negative log marginal likelihood of many Gaussian processes, less the logarithm of
/// their priors, and its gradient. Fits minimise it.
///
/// With K = v C + noise 1 and residuals r = y - m of the n targets:
///   value = r^T K^-1 r / 2 + log |K| / 2 + n log(2 pi) / 2 - log prior,
/// and its derivatives are -tr((a a^T - K^-1) dK) / 2, a = K^-1 r. The derivatives of K are
/// recomputed from the points in the sums: nothing of the size of parameters x n x n is stored.
/// With `fitted_mean` m maximises the marginal likelihood, (1^T K^-1 y) / (1^T K^-1 1).
///
/// A matrix that is not positive definite, or a NaN, gives +infinity for its item alone. Items read
/// set i / items_per_set; the bits of an item are the same alone and in any batch.
///
/// Up to `resident` points K is built and inverted here, in memory of the team. For more points the
/// caller gives inverses and determinants, which are overwritten.
///
/// Class D: sums have a backend-specific order.
/// @par Source  Rasmussen, Williams, Gaussian Processes for Machine Learning, 5.4.1.
struct KILN_API EvidenceGradient {
  static constexpr const char* name = "evidence_gradient";
  static constexpr const char* summary =
      "computes the negative log marginal likelihood of Gaussian processes and its gradient";
  static constexpr const char* accuracy = "D";
  static constexpr std::int64_t resident = 208;
  static constexpr int axes_at_once = 8;
  static constexpr std::int64_t read_ahead =
      8;  ///< numbers that a GPU prefetches unused after a loop

  CovarianceKind kind = CovarianceKind::matern52;
  std::int64_t dimension = 1;
  HyperLayout layout;
  std::int64_t items_per_set = 1;
  PointSets points;
  Axes axes;                          ///< of the points
  View2<const double> target;         ///< [sets][points]
  bool fitted_mean = true;            ///< else 0
  View2<const double> parameter;      ///< [items][parameters], logarithms
  View1<const HyperPrior> prior;      ///< [parameters]
  View1<const std::int32_t> running;  ///< [items], items with 0 are left alone; empty: none

  // For more than `resident` points.
  MatrixBatch<double> inverse;          ///< [items] of [points][points], overwritten
  View1<const double> log_determinant;  ///< [items]
  View2<double> memory;  ///< [items][work_size()], for several blocks of a GPU per item; null: one
                         ///< block per item

  // Results.
  View1<double> value;     ///< [items]
  View2<double> gradient;  ///< [items][parameters]; null data: not computed
  View1<double> mean;      ///< [items], m; empty: not computed
  std::int64_t items = 0;

  KILN_HD bool inverts() const { return inverse.data == nullptr; }
  /// Size of a team's scratch memory.
  KILN_HD std::int64_t work_size() const {
    const std::int64_t n = points.points;
    return (inverts() ? PackedTriangle::size(n) : 0) + 4 * n + dimension + read_ahead;
  }

  template <class Team>
  KILN_HD void operator()(const Team& team, std::int64_t item, double* work) const {
    if (inverts()) {
      judge<true>(team, item, work);
    } else {
      judge<false>(team, item, work);
    }
  }

  /// For callers that know inverts() at compile time as `own`. Two instantiations: with a given
  /// inverse, the packed triangle is never allocated.
  template <bool own, class Team>
  KILN_HD void judge(const Team& team, std::int64_t item, double* work) const {
    if (running && running[item] == 0) return;
    Item at = begin(team, item, work);
    double log_determinant_of = 0;
    bool good = true;
    if constexpr (own) {
      build(team, at);
      good = invert(team, at, log_determinant_of);
    } else {
      log_determinant_of = log_determinant[item];
      good = log_determinant_of - log_determinant_of == 0;
    }
    team.sync();
    if (!good) return fail(team, item);
    const double square = weigh<own>(team, at);
    double total = 0.5 * square + 0.5 * log_determinant_of +
                   0.5 * static_cast<double>(at.n) * math::log_two_pi;
    if (!(total - total == 0)) return fail(team, item);
    if (gradient.data != nullptr) differentiate<own>(team, at);
    total += add_priors(team, item);
    if (team.rank() == 0) {
      value[item] = total;
      if (mean) mean[item] = at.mean;
    }
    team.sync();
  }

 private:
  struct Item {
    std::int64_t item = 0, set = 0, n = 0;
    double variance = 0, noise = 0, alpha = 1, mean = 0;
    PackedTriangle packed;   // minus the inverse, after the sweeps
    double* column;          // [n]
    double* weight;          // [n], K^-1 r
    double* ones;            // [n], K^-1 1
    double* pivot;           // [n]
    double* inverse_square;  // [dimension], of the length scales
  };

  template <class Team>
  KILN_HD Item begin(const Team& team, std::int64_t item, double* work) const {
    Item at;
    at.item = item;
    at.set = item / items_per_set;
    at.n = points.count(at.set);
    const std::int64_t room = points.points;
    at.column = work, at.weight = work + room, at.ones = work + 2 * room;
    at.pivot = work + 3 * room, at.inverse_square = work + 4 * room;
    at.packed.data = work + 4 * room + dimension;
    const double* const t = &parameter(item, 0);
    at.variance = math::exp(t[layout.variance()]);
    at.noise = math::exp(t[layout.noise()]);
    if (kind == CovarianceKind::rational_quadratic) at.alpha = math::exp(t[layout.alpha()]);
    for (std::int64_t k = team.rank(); k < dimension; k += team.size()) {
      at.inverse_square[k] = math::exp(-2 * t[layout.lengths == 1 ? 0 : k]);
    }
    team.sync();
    return at;
  }

  template <class Team>
  KILN_HD void fail(const Team& team, std::int64_t item) const {
    const std::int64_t size = parameter.columns;
    for (std::int64_t p = team.rank(); gradient.data != nullptr && p < size; p += team.size()) {
      gradient(item, p) = 0;
    }
    if (team.rank() == 0) {
      value[item] = exact::infinity();
      if (mean) mean[item] = 0;
    }
    team.sync();
  }

  KILN_HD double difference(const Item& at, std::int64_t k, std::int64_t i, std::int64_t j) const {
    return axes.difference(k, points(at.set, k, i), points(at.set, k, j));
  }
  KILN_HD double square_of_distance(const Item& at, std::int64_t i, std::int64_t j) const {
    double square = 0;
    for (std::int64_t k = 0; !axes.categorical && k < dimension; ++k) {
      const double d = points(at.set, k, i) - points(at.set, k, j);
      square += d * d * at.inverse_square[k];
    }
    for (std::int64_t k = 0; axes.categorical && k < dimension; ++k) {
      const double d = difference(at, k, i, j);
      square += d * d * at.inverse_square[k];
    }
    return square;
  }

  template <class Team>
  KILN_HD void build(const Team& team, const Item& at) const {
    using Rows = TeamRows<Team>;
    for (std::int64_t i = Rows::first(); i < at.n; i += Rows::step()) {
      double* const row = at.packed.row(i);
      for (std::int64_t j = Rows::lane(); j < i; j += Rows::lanes()) {
        const CorrelationSlope c = correlation_slope(kind, square_of_distance(at, i, j), at.alpha);
        row[j] = at.variance * c.value;
      }
      if (Rows::lane() == 0) row[i] = at.variance + at.noise;
    }
    team.sync();
  }

  template <class Team>
  KILN_HD bool invert(const Team& team, const Item& at, double& log_determinant_of) const {
    const double least = BatchedCholesky::min_pivot(at.n, at.variance + at.noise);
    if (!sweep_all(team, at.packed, at.n, least, at.pivot, at.column)) return false;
    double logs = 0;
    for (std::int64_t i = team.rank(); i < at.n; i += team.size()) logs += math::log(at.pivot[i]);
    log_determinant_of = team.sum(logs);
    return true;
  }

  /// An element of K^-1.
  template <bool own>
  KILN_HD double inverse_at(const Item& at, std::int64_t i, std::int64_t j) const {
    if constexpr (own) {
      return -at.packed.symmetric(i, j);
    } else {
      return inverse.data[at.item * inverse.item_stride + i * inverse.stride + j];
    }
  }

  /// Computes mean and weights. @return r^T K^-1 r.
  template <bool own, class Team>
  KILN_HD double weigh(const Team& team, Item& at) const {
    const double* const y = &target(at.set, 0);
    double sums[2] = {0, 0};
    using Rows = TeamRows<Team>;
    for (std::int64_t i = Rows::first(); i < at.n; i += Rows::step()) {
      double weight = 0, one = 0;
      for (std::int64_t j = Rows::lane(); j < at.n; j += Rows::lanes()) {
        const double element = inverse_at<own>(at, i, j);
        weight += element * y[j];
        one += element;
      }
      weight = Rows::sum(weight), one = Rows::sum(one);
      if (Rows::lane() != 0) continue;
      at.weight[i] = weight, at.ones[i] = one;
      sums[0] += weight, sums[1] += one;
    }
    team.sum(sums);
    at.mean = fitted_mean ? sums[0] / sums[1] : 0.0;
    double square[1] = {0};
    for (std::int64_t i = team.rank(); i < at.n; i += team.size()) {
      at.weight[i] -= at.mean * at.ones[i];
      square[0] += at.weight[i] * (y[i] - at.mean);
    }
    team.sum(square);
    team.sync();
    return square[0];
  }

  /// The place of a row of the lower triangle that can be overwritten.
  template <bool own>
  KILN_HD double* row_of(const Item& at, std::int64_t i) const {
    if constexpr (own) {
      return at.packed.row(i);
    } else {
      return inverse.data + at.item * inverse.item_stride + i * inverse.stride;
    }
  }

  /// First the sums that belong to no axis. The values of a pair that the other sums need then
  /// overwrite the inverse. The axes follow, several at once.
  template <bool own, class Team>
  KILN_HD void differentiate(const Team& team, const Item& at) const {
    using Rows = TeamRows<Team>;
    double sums[4] = {0, 0, 0, 0};  // by log v, log noise, one common length, log alpha
    for (std::int64_t i = Rows::first(); i < at.n; i += Rows::step()) {
      double* const row = row_of<own>(at, i);
      for (std::int64_t j = Rows::lane(); j <= i; j += Rows::lanes()) {
        const double minus_inverse = own ? row[j] : -row[j];
        const double w = at.weight[i] * at.weight[j] + minus_inverse;
        if (i == j) {
          sums[0] += 0.5 * w * at.variance;
          sums[1] += 0.5 * w * at.noise;
          continue;
        }
        const double square = square_of_distance(at, i, j);
        const CorrelationSlope c = correlation_slope(kind, square, at.alpha);
        const double scaled = w * at.variance;
        sums[0] += scaled * c.value;
        sums[2] += scaled * c.slope * square;
        sums[3] += scaled * c.by_alpha;
        row[j] = scaled * c.slope;
      }
    }
    team.sum(sums);
    if (team.rank() == 0) {
      gradient(at.item, layout.variance()) = -sums[0];
      gradient(at.item, layout.noise()) = -sums[1];
      if (layout.lengths == 1) gradient(at.item, 0) = -sums[2];
      if (kind == CovarianceKind::rational_quadratic) {
        gradient(at.item, layout.alpha()) = -sums[3];
      }
    }
    team.sync();
    for (std::int64_t k = 0; layout.lengths > 1 && k < dimension; k += axes_at_once) {
      add_axes<own>(team, at, k);
    }
  }

  template <bool own, class Team>
  KILN_HD void add_axes(const Team& team, const Item& at, std::int64_t first) const {
    using Rows = TeamRows<Team>;
    double sums[axes_at_once] = {};
    const std::int64_t left = dimension - first;
    const int some = left < axes_at_once ? static_cast<int>(left) : axes_at_once;
    for (std::int64_t i = Rows::first(); i < at.n; i += Rows::step()) {
      const double* const row = row_of<own>(at, i);
      for (std::int64_t j = Rows::lane(); j < i; j += Rows::lanes()) {
        for (int k = 0; k < axes_at_once; ++k) {
          if (k >= some) break;
          const double d = difference(at, first + k, i, j);
          sums[k] += row[j] * d * d;
        }
      }
    }
    team.sum(sums);
    for (int k = team.rank(); k < some; k += team.size()) {
      double sum = 0;  // not sums[k]: the array stays in registers
      for (int m = 0; m < axes_at_once; ++m) sum = m == k ? sums[m] : sum;
      gradient(at.item, first + k) = -sum * at.inverse_square[first + k];
    }
    team.sync();
  }

  template <class Team>
  KILN_HD double add_priors(const Team& team, std::int64_t item) const {
    if (!prior) return 0;
    double weighted[2] = {0, 0};
    for (std::int64_t p = team.rank(); p < parameter.columns; p += team.size()) {
      weighted[0] += prior[p].alike * parameter(item, p);
      weighted[1] += prior[p].alike;
    }
    team.sum(weighted);
    const double mean_of = weighted[1] > 0 ? weighted[0] / weighted[1] : 0.0;
    double sum = 0;
    for (std::int64_t p = team.rank(); p < parameter.columns; p += team.size()) {
      const HyperPrior of = prior[p];
      const double t = parameter(item, p), off = t - of.centre, apart = t - mean_of;
      const double exponential = of.rate == 0 ? 0.0 : of.rate * math::exp(t);
      sum += of.linear * t + 0.5 * of.precision * off * off + exponential +
             0.5 * of.alike * apart * apart;
      if (gradient.data != nullptr) {
        gradient(item, p) += of.linear + of.precision * off + exponential + of.alike * apart;
      }
    }
    return team.sum(sum);
  }
};

}  // namespace kiln
