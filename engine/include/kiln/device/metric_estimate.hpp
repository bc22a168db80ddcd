// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/metric.hpp"
#include "kiln/device/symmetric_eigen.hpp"
#include "kiln/kernels/hamiltonian/hmc_adaptation.hpp"

namespace kiln {

/// The metrics of all pools, writable: diagonal, or low rank with as many columns in use as the
/// target needs.
struct MetricStore {
  int dimension = 0;
  int rank = 0;              ///< capacity in columns; 0: diagonal
  View1<double> scale;       ///< [pools * dimension]
  View1<double> factor;      ///< [pools * rank * dimension]
  View1<double> stretch;     ///< [pools * rank]
  View1<std::int32_t> used;  ///< [pools]

  KILN_HD MetricView view() const {
    MetricView v;
    v.kind = rank > 0 ? MetricKind::low_rank : MetricKind::diagonal;
    v.dimension = dimension;
    v.rank = rank;
    v.scale = scale;
    v.factor = factor;
    v.stretch = stretch;
    v.used = used;
    return v;
  }
};

/// Doubles of scratch memory for a metric with correlations: four matrices and two vectors.
KILN_HD constexpr std::int64_t dense_scratch(std::int64_t dimension) {
  return 4 * dimension * dimension + 2 * dimension;
}

namespace detail {

/// Covariances of positions and gradients in coordinates x / s and g s, shrunk a little towards the
/// identity, because a window has few independent draws.
template <class Team>
KILN_HD void scaled_covariances(const Team& team, const PoolMoments& moments, std::int64_t pool,
                                double n, const double* s, double* of_positions,
                                double* of_gradients) {
  const std::int64_t d = moments.dimension;
  const double keep = n / (n + 5.0 + 2.0 * static_cast<double>(d));
  for (int which = 0; which < 2; ++which) {
    double* out = which == 0 ? of_positions : of_gradients;
    const double* sum = moments.sum[which].data + pool * d;
    const double* square = moments.square[which].data + pool * d * d;
    for (std::int64_t e = team.rank(); e < d * d; e += team.size()) {
      const std::int64_t row = e / d, column = e % d;
      const std::int64_t i = row > column ? row : column, j = row > column ? column : row;
      const double covariance = square[i * d + j] / n - sum[i] / n * (sum[j] / n);
      const double unit = which == 0 ? 1 / (s[i] * s[j]) : s[i] * s[j];
      out[e] = keep * covariance * unit + (i == j ? 1 - keep : 0.0);
    }
  }
  team.sync();
}

/// Writes the matrix G with G B G = A, the geometric mean of A and B^-1, into a; the other arrays
/// are scratch.
template <class Team>
KILN_HD void geometric_mean(const Team& team, int n, double* a, double* b, double* vectors,
                            double* other, double* values) {
  const auto root = [](double x) { return exact::sqrt(x > 1e-12 ? x : 1e-12); };
  const auto inverse_root = [&](double x) { return 1 / root(x); };
  dense::symmetric_eigen(team, n, b, values, vectors);
  dense::from_spectrum(team, n, values, vectors, root, b);
  dense::multiply(team, n, b, a, other);
  dense::multiply(team, n, other, b, a);  // B^1/2 A B^1/2
  dense::from_spectrum(team, n, values, vectors, inverse_root, b);
  dense::symmetric_eigen(team, n, a, values, vectors);
  dense::from_spectrum(team, n, values, vectors, root, a);
  dense::multiply(team, n, b, a, other);
  dense::multiply(team, n, other, b, a);
}

/// Writes M = S^-T S^-1 of a metric into `out`.
template <class Team>
KILN_HD void inverse_metric(const Team& team, const Metric& metric, std::int64_t d, double* out) {
  for (std::int64_t e = team.rank(); e < d * d; e += team.size()) {
    const std::int64_t i = e / d, j = e % d;
    double sum = i == j ? 1 : 0;
    for (int k = 0; k < metric.rank; ++k) {
      const double* v = metric.factor + k * d;
      const double root = 1 + metric.stretch[k];
      sum += (1 / (root * root) - 1) * v[i] * v[j];
    }
    out[e] = sum / (metric.scale[i] * metric.scale[j]);
  }
  team.sync();
}

}  // namespace detail

/// The spread of a target in units of the present metric of a pool: the mean of the variances
/// lambda along its principal axes, each weighted by itself, tr(W^2) / tr(W) of W = S^-1 Cov(x)
/// S^-T. It is close to the largest variance if that stands out. Computed from the moments of a
/// window of n observations; without products, along the coordinates. `memory` as for
/// estimate_metric(), before or after it.
template <class Team>
KILN_HD double widest_variance(const Team& team, std::int64_t pool, const PoolMoments& moments,
                               double n, const MetricStore& store, double* memory) {
  const std::int64_t d = moments.dimension;
  const Metric metric = store.view().of_pool(pool);
  const double *sum = moments.sum[0].data + pool * d,
               *square = moments.square[0].data + pool * moments.squares();
  double traces[2] = {0, 0};
  if (!moments.cross) {
    for (std::int64_t i = team.rank(); i < d; i += team.size()) {
      const double mean = sum[i] / n, s = metric.scale[i];
      const double variance = (square[i] / n - mean * mean) / (s * s);
      traces[0] += variance;
      traces[1] += variance * variance;
    }
    team.sum(traces);
    return traces[1] / traces[0];
  }
  double *covariance = memory, *inverse = covariance + d * d, *product = inverse + d * d;
  for (std::int64_t e = team.rank(); e < d * d; e += team.size()) {
    const std::int64_t row = e / d, column = e % d;
    const std::int64_t i = row > column ? row : column, j = row > column ? column : row;
    covariance[e] = square[i * d + j] / n - sum[i] / n * (sum[j] / n);
  }
  team.sync();
  detail::inverse_metric(team, metric, d, inverse);
  dense::multiply(team, static_cast<int>(d), covariance, inverse, product);
  for (std::int64_t e = team.rank(); e < d * d; e += team.size()) {
    const std::int64_t i = e / d, j = e % d;
    if (i == j) traces[0] += product[e];
    traces[1] += product[e] * product[j * d + i];
  }
  team.sum(traces);
  team.sync();
  return traces[1] / traces[0];
}

/// Estimates the metric of a pool from the moments of a window of n observations.
///
/// The scale is s_i = (Var x_i / Var g_i)^(1/4); the correlations in units of it are the geometric
/// mean of Cov(x) and Cov(g)^-1. Its eigenvalues within [1 / (1 + c), 1 + c], c = largest_change,
/// count as 1: directions that need no change cost nothing in a leapfrog. This metric minimises the
/// Fisher divergence; it is exact for a Gaussian. Correlations are left out below two observations
/// a coordinate. `memory` has dense_scratch(dimension) doubles if metric.rank > 0.
/// @par Source  Seyboldt, Carlson, Carpenter, arXiv:2603.18845.
template <class Team>
KILN_HD void estimate_metric(const Team& team, std::int64_t pool, const PoolMoments& moments,
                             double n, double largest_change, const MetricStore& metric,
                             double* memory) {
  const std::int64_t d = moments.dimension;
  double* s = metric.scale.data + pool * d;
  for (std::int64_t i = team.rank(); i < d; i += team.size()) {
    double variance[2];
    for (int which = 0; which < 2; ++which) {
      const double mean = moments.sum[which][pool * d + i] / n;
      const std::int64_t place = moments.cross ? i * d + i : i;
      variance[which] = moments.square[which][pool * moments.squares() + place] / n - mean * mean;
    }
    const double ratio = variance[0] / variance[1];
    if (variance[0] > 0 && variance[1] > 0 && ratio > 0 && ratio < 1e300) {
      s[i] = exact::sqrt(exact::sqrt(ratio));
    }
  }
  team.sync();
  if (metric.rank == 0) return;
  if (n < 2.0 * static_cast<double>(d)) {
    if (team.rank() == 0) metric.used[pool] = 0;
    team.sync();
    return;
  }
  const std::int64_t dd = d * d;
  double *a = memory, *b = a + dd, *vectors = b + dd, *other = vectors + dd, *values = other + dd;
  double* keys = values + d;
  detail::scaled_covariances(team, moments, pool, n, s, a, b);
  detail::geometric_mean(team, static_cast<int>(d), a, b, vectors, other, values);
  dense::symmetric_eigen(team, static_cast<int>(d), a, values, vectors);
  for (std::int64_t k = team.rank(); k < d; k += team.size()) {
    const double log_value = exact::log(values[k] > 1e-12 ? values[k] : 1e-12);
    keys[k] = log_value < 0 ? -log_value : log_value;
  }
  team.sync();
  const double least = exact::log(1 + largest_change);
  double in_use = 0;
  for (std::int64_t k = 0; k < d; ++k) {
    std::int64_t place = 0;  // among the directions, the most stretched first
    for (std::int64_t other_k = 0; other_k < d; ++other_k) {
      if (keys[other_k] > keys[k] || (keys[other_k] == keys[k] && other_k < k)) ++place;
    }
    if (!(keys[k] >= least) || place >= metric.rank) continue;
    in_use += 1;
    double* column = metric.factor.data + (pool * metric.rank + place) * d;
    for (std::int64_t i = team.rank(); i < d; i += team.size()) column[i] = vectors[k * d + i];
    if (team.rank() == 0) {
      metric.stretch[pool * metric.rank + place] =
          exact::sqrt(values[k] > 1e-12 ? values[k] : 1e-12) - 1;
    }
  }
  if (team.rank() == 0) metric.used[pool] = static_cast<std::int32_t>(in_use);
  team.sync();
}

}  // namespace kiln
