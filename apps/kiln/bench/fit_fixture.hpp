// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/kernels/surrogate/evidence_gradient.hpp"
#include "kiln/kernels/surrogate/posterior_weights.hpp"

#include "bench/process_fixture.hpp"

namespace kiln::cli {

/// Sets of observations, each with several vectors of hyper-parameters that suit a smooth function.
struct FitArrays {
  FitArrays(Queue& queue, std::int64_t n_sets, std::int64_t n_points, std::int64_t n_dimension,
            std::int64_t n_starts = 1)
      : sets(n_sets),
        n(n_points),
        dimension(n_dimension),
        starts(n_starts),
        points(queue, ProcessArrays::draw(sets * n * dimension)),
        target(queue, ProcessArrays::draw(sets * n)),
        parameter(queue, logarithms()),
        value(queue, sets * starts),
        gradient(queue, sets * starts * parameters()) {}

  std::int64_t parameters() const { return dimension + 2; }
  PointSets point_sets() const { return {points.data(), n, n, dimension * n, {}}; }
  EvidenceGradient evidence() {
    EvidenceGradient kernel;
    const std::int64_t items = sets * starts, p = parameters();
    kernel.dimension = dimension;
    kernel.layout.lengths = dimension;
    kernel.items_per_set = starts;
    kernel.points = point_sets();
    kernel.target = {target.data(), sets, n, n};
    kernel.parameter = {parameter.data(), items, p, p};
    kernel.value = value.view();
    kernel.gradient = {gradient.data(), items, p, p};
    kernel.items = items;
    return kernel;
  }

  std::int64_t sets, n, dimension, starts;
  DeviceArray<double> points, target, parameter, value, gradient;

 private:
  // Lengths of 0.7, a variance of 1.5 and a noise of 0.01, less some at the later starts.
  std::vector<double> logarithms() const {
    std::vector<double> all;
    for (std::int64_t item = 0; item < sets * starts; ++item) {
      const double less = 0.1 * static_cast<double>(item % starts);
      for (std::int64_t k = 0; k < dimension; ++k) all.push_back(std::log(0.7) - less);
      all.push_back(std::log(1.5) - less);
      all.push_back(std::log(1e-2) - less);
    }
    return all;
  }
};

/// The same with inverses of factors, ready for predictions.
struct FittedArrays {
  FittedArrays(Queue& queue, std::int64_t sets, std::int64_t n, std::int64_t dimension)
      : fit(queue, sets, n, dimension),
        mean(queue, std::vector<double>(static_cast<std::size_t>(sets), 0.5)),
        inverse(queue, sets * n * n),
        weight(queue, sets * n),
        diagonal(queue, sets * n) {
    DeviceArray<double> matrix(queue, sets * n * n), factor(queue, sets * n * n);
    GpCovariance covariance;
    covariance.dimension = dimension;
    covariance.points = fit.point_sets();
    covariance.parameters.logarithms = {fit.parameter.data(), sets, fit.parameters(),
                                        fit.parameters()};
    covariance.parameters.layout.lengths = dimension;
    covariance.matrix = MatrixBatch<double>::dense(matrix.data(), sets, n, n);
    queue.launch(covariance);
    BatchedCholesky cholesky;
    cholesky.matrix = MatrixBatch<const double>::dense(matrix.data(), sets, n, n);
    cholesky.factor = MatrixBatch<double>::dense(factor.data(), sets, n, n);
    queue.launch(cholesky);
    std::vector<double> unit(static_cast<std::size_t>(n * n));
    for (std::int64_t i = 0; i < n; ++i) unit[static_cast<std::size_t>(i * (n + 1))] = 1;
    const DeviceArray<double> units(queue, unit);
    BatchedTriangularSolve solve;
    solve.factor = MatrixBatch<const double>::dense(factor.data(), sets, n, n);
    solve.right = {units.data(), sets, n, n, n, 0};
    solve.solution = MatrixBatch<double>::dense(inverse.data(), sets, n, n);
    queue.launch(solve);
    queue.wait();
  }

  PosteriorWeights weights() {
    PosteriorWeights kernel;
    kernel.inverse_factor = MatrixBatch<double>::dense(inverse.data(), fit.sets, fit.n, fit.n);
    kernel.target = MatrixBatch<const double>::dense(fit.target.data(), fit.sets, 1, fit.n);
    kernel.mean = mean.view();
    kernel.weight = MatrixBatch<double>::dense(weight.data(), fit.sets, 1, fit.n);
    kernel.inverse_diagonal = {diagonal.data(), fit.sets, fit.n, fit.n};
    return kernel;
  }

  FitArrays fit;
  DeviceArray<double> mean, inverse, weight, diagonal;
};

}  // namespace kiln::cli
