// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/kernels/surrogate/pathwise_samples.hpp"

#include "backends/backends.hpp"

/// Posteriors for tests of pathwise_samples: paths by the kernels, moments by the textbook.
namespace kiln::test::paths {

inline constexpr CovarianceKind all_kinds[] = {
    CovarianceKind::squared_exponential, CovarianceKind::matern12, CovarianceKind::matern32,
    CovarianceKind::matern52, CovarianceKind::rational_quadratic};

using Numbers = std::vector<double>;

inline Numbers uniform(std::int64_t count, double low, double high, std::uint64_t seed) {
  TestRandom random(seed);
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(low + (high - low) * random.unit());
  return all;
}

// Processes with observations, a set of points for each.
struct Process {
  CovarianceKind kind = CovarianceKind::matern52;
  std::int64_t dimension = 2, items = 1, observations = 6, points = 5, paths = 1, features = 8;
  Numbers x, at;  ///< [items][dimension][observations], [items][dimension][points]
  Numbers y;      ///< [items][observations]
  std::vector<std::int32_t> x_counts, at_counts;
  std::vector<std::uint8_t> categorical;
  Numbers variance, length, alpha, noise;  ///< length [dimension][items]
  std::vector<std::uint64_t> keys;
  bool by_step = false, corrected = true;
};

inline Process make_process(CovarianceKind kind, std::int64_t dimension, std::int64_t items = 1) {
  Process in;
  in.kind = kind;
  in.dimension = dimension;
  in.items = items;
  in.x = uniform(items * dimension * in.observations, 0, 1, 1);
  in.at = uniform(items * dimension * in.points, 0, 1, 2);
  in.y = uniform(items * in.observations, -2, 2, 3);
  in.variance = uniform(items, 0.5, 2, 4);
  in.length = uniform(items * dimension, 0.3, 1, 5);
  in.alpha = uniform(items, 0.4, 3, 6);
  in.noise = uniform(items, 0.01, 0.1, 7);
  for (std::int64_t i = 0; i < items; ++i) in.keys.push_back(1000 + idx(i));
  return in;
}

// With other numbers of points than the usual ones.
inline void resize(Process& in, std::int64_t observations, std::int64_t points) {
  in.observations = observations;
  in.points = points;
  in.x = uniform(in.items * in.dimension * observations, 0, 1, 1);
  in.at = uniform(in.items * in.dimension * points, 0, 1, 2);
  in.y = uniform(in.items * observations, -2, 2, 3);
}

inline double correlation_of(const Process& in, double square, double alpha) {
  double value = 0;
  with_covariance(in.kind,
                  [&](auto tag) { value = correlation<decltype(tag)::value>(square, alpha); });
  return value;
}

struct PathDraws {
  Numbers residual;  ///< [items][observations][paths]
  Numbers value;     ///< [items][paths][points]
};

// Everything of an item in the memory of a device.
class PathArrays {
 public:
  PathArrays(Queue& queue, const Process& in, const RunControl& state)
      : queue_(queue),
        in_(in),
        x_(queue, in.x),
        at_(queue, in.at),
        y_(queue, in.y),
        variance_(queue, in.variance),
        length_(queue, in.length),
        alpha_(queue, in.alpha),
        noise_(queue, in.noise),
        x_counts_(queue, in.x_counts),
        at_counts_(queue, in.at_counts),
        categorical_(queue, in.categorical),
        keys_(queue, in.keys),
        weight_(queue, Numbers(idx(in.items * in.observations * in.paths), 4711)),
        value_(queue, Numbers(idx(in.items * in.points * in.paths), 4711)),
        control_(upload_control(queue, state)) {}

  PathwiseSamples kernel(PathwiseStage stage) {
    PathwiseSamples of;
    of.stage = stage;
    of.kind = in_.kind;
    of.dimension = in_.dimension;
    of.paths = in_.paths;
    of.features = in_.features;
    const std::int64_t n = in_.observations, m = in_.points;
    of.training = {x_.data(), n, n, in_.dimension * n, x_counts_.view()};
    of.points = {at_.data(), m, m, in_.dimension * m, at_counts_.view()};
    of.axes.categorical = categorical_.view();
    of.parameters.variance = variance_.view();
    of.parameters.length = {length_.data(), in_.dimension, in_.items, in_.items};
    of.parameters.alpha = alpha_.view();
    of.parameters.noise = noise_.view();
    of.keys = keys_.view();
    of.observed = {y_.data(), in_.items, n, n};
    of.residual = MatrixBatch<double>::dense(weight_.data(), in_.items, n, in_.paths);
    if (in_.corrected) {
      of.weight = MatrixBatch<const double>::dense(weight_.data(), in_.items, n, in_.paths);
    }
    of.value = MatrixBatch<double>::dense(value_.data(), in_.items, in_.paths, m);
    of.by_step = in_.by_step;
    of.control = control_.data();
    return of;
  }

  // (K + noise) u = residual, in its place. The matrix is made on the host, with categories.
  void solve() {
    const std::int64_t n = in_.observations;
    const DeviceArray<double> matrix(queue_, host_matrix());
    DeviceArray<double> factor(queue_, in_.items * n * n);
    BatchedCholesky cholesky;
    cholesky.matrix = MatrixBatch<const double>::dense(matrix.data(), in_.items, n, n);
    cholesky.factor = MatrixBatch<double>::dense(factor.data(), in_.items, n, n);
    queue_.launch(cholesky);
    BatchedTriangularSolve solve;
    solve.form = TriangularForm::both;
    solve.factor = MatrixBatch<const double>::dense(factor.data(), in_.items, n, n);
    solve.right = MatrixBatch<const double>::dense(weight_.data(), in_.items, n, in_.paths);
    solve.solution = MatrixBatch<double>::dense(weight_.data(), in_.items, n, in_.paths);
    queue_.launch(solve);
    queue_.wait();
  }

  Numbers weight() { return weight_.download(); }
  Numbers value() { return value_.download(); }

 private:
  Numbers host_matrix() const;

  Queue& queue_;
  const Process& in_;
  DeviceArray<double> x_, at_, y_, variance_, length_, alpha_, noise_;
  DeviceArray<std::int32_t> x_counts_, at_counts_;
  DeviceArray<std::uint8_t> categorical_;
  DeviceArray<std::uint64_t> keys_;
  DeviceArray<double> weight_, value_;
  DeviceArray<RunControl> control_;
};

// v c of point i of `a`, which has n of them, and point j of `b`, which has m.
inline double covariance(const Process& in, std::int64_t item, const Numbers& a, std::int64_t n,
                         std::int64_t i, const Numbers& b, std::int64_t m, std::int64_t j) {
  double square = 0;
  for (std::int64_t k = 0; k < in.dimension; ++k) {
    double d =
        a[idx((item * in.dimension + k) * n + i)] - b[idx((item * in.dimension + k) * m + j)];
    if (!in.categorical.empty() && in.categorical[idx(k)] != 0) d = d != 0 ? 1 : 0;
    square += std::pow(d / in.length[idx(k * in.items + item)], 2);
  }
  return in.variance[idx(item)] * correlation_of(in, square, in.alpha[idx(item)]);
}

inline Numbers PathArrays::host_matrix() const {
  const std::int64_t n = in_.observations;
  Numbers matrix;
  for (std::int64_t item = 0; item < in_.items; ++item) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t there = in_.x_counts.empty() ? n : in_.x_counts[idx(item)];
        const double k = i < there && j < there ? covariance(in_, item, in_.x, n, i, in_.x, n, j)
                                                : (i == j ? 1 : 0);
        matrix.push_back(k + (i == j && i < there ? in_.noise[idx(item)] : 0));
      }
    }
  }
  return matrix;
}

inline PathDraws draw(Queue& queue, const Process& in, const RunControl& state = {}) {
  PathArrays arrays(queue, in, state);
  PathDraws result;
  if (in.corrected) {
    queue.launch(arrays.kernel(PathwiseStage::residual));
    result.residual = arrays.weight();
    arrays.solve();
  }
  queue.launch(arrays.kernel(PathwiseStage::values));
  result.value = arrays.value();
  return result;
}

struct Moments {
  Numbers mean, covariance;  ///< [points], [points][points]
};

// The posterior by the textbook, by elimination on the host. Item 0.
inline Moments exact_posterior(const Process& in) {
  const std::int64_t n = in.corrected ? in.observations : 0, m = in.points;
  const auto k = [&](bool of_x, std::int64_t i, bool with_x, std::int64_t j) {
    return covariance(in, 0, of_x ? in.x : in.at, of_x ? in.observations : m, i,
                      with_x ? in.x : in.at, with_x ? in.observations : m, j);
  };
  // Rows: K + noise beside its covariances with all points and y; elimination leaves K^-1 of these.
  std::vector<Numbers> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    Numbers row;
    for (std::int64_t j = 0; j < n; ++j)
      row.push_back(k(true, i, true, j) + (i == j ? in.noise[0] : 0));
    for (std::int64_t j = 0; j < m; ++j) row.push_back(k(true, i, false, j));
    row.push_back(in.y[idx(i)]);
    rows.push_back(row);
  }
  for (std::size_t p = 0; p < rows.size(); ++p) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double factor = i == p ? 0 : rows[i][p] / rows[p][p];
      for (std::size_t j = 0; j < rows[i].size(); ++j) rows[i][j] -= factor * rows[p][j];
    }
  }
  Moments exact;
  for (std::int64_t i = 0; i < m; ++i) {
    double mean = 0;
    for (std::int64_t p = 0; p < n; ++p)
      mean += k(false, i, true, p) * rows[idx(p)].back() / rows[idx(p)][idx(p)];
    exact.mean.push_back(mean);
    for (std::int64_t j = 0; j < m; ++j) {
      double value = k(false, i, false, j);
      for (std::int64_t p = 0; p < n; ++p)
        value -= k(false, i, true, p) * rows[idx(p)][idx(n + j)] / rows[idx(p)][idx(p)];
      exact.covariance.push_back(value);
    }
  }
  return exact;
}

// The largest distance of a mean or a covariance over paths from the exact one, in standard errors.
inline double worst(const Process& in, const Numbers& value, const Moments& exact) {
  const std::int64_t m = in.points;
  double most = 0;
  const auto compare = [&](double wanted, auto&& sample) {
    double sum = 0, squares = 0;
    for (std::int64_t path = 0; path < in.paths; ++path) {
      const double x = sample(value.data() + path * m) - wanted;
      sum += x, squares += x * x;
    }
    const double count = static_cast<double>(in.paths), mean = sum / count;
    most = std::max(most, std::abs(mean) / std::sqrt((squares / count - mean * mean) / count));
  };
  for (std::int64_t i = 0; i < m; ++i) {
    const double at_i = exact.mean[idx(i)];
    compare(at_i, [&](const double* x) { return x[i]; });
    for (std::int64_t j = 0; j <= i; ++j) {
      const double at_j = exact.mean[idx(j)];
      compare(exact.covariance[idx(i * m + j)],
              [&](const double* x) { return (x[i] - at_i) * (x[j] - at_j); });
    }
  }
  return most;
}

}  // namespace kiln::test::paths
