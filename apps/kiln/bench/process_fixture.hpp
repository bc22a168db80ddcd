// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/device/rng_domains.hpp"
#include "kiln/kernels/surrogate/gp_covariance.hpp"
#include "kiln/queue.hpp"

namespace kiln::cli {

/// Gaussian processes, each on points of its own that are drawn uniformly in the unit cube.
struct ProcessArrays {
  ProcessArrays(Queue& queue, std::int64_t n_items, std::int64_t n_points, std::int64_t n_dimension)
      : items(n_items),
        count(n_points),
        dimension(n_dimension),
        points(queue, draw(n_items * n_points * n_dimension)),
        variance(queue, std::vector<double>(static_cast<std::size_t>(n_items), 1.5)),
        length(queue, std::vector<double>(static_cast<std::size_t>(n_items * n_dimension), 0.7)),
        noise(queue, std::vector<double>(static_cast<std::size_t>(n_items), 1e-2)),
        matrix(queue, n_items * n_points * n_points) {}

  GpCovariance covariance() {
    GpCovariance kernel;
    kernel.dimension = dimension;
    kernel.points = {points.data(), count, count, dimension * count, {}};
    kernel.parameters.variance = variance.view();
    kernel.parameters.length = {length.data(), dimension, items, items};
    kernel.parameters.noise = noise.view();
    kernel.matrix = matrices();
    return kernel;
  }
  MatrixBatch<double> matrices() {
    return MatrixBatch<double>::dense(matrix.data(), items, count, count);
  }

  static std::vector<double> draw(std::int64_t n) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < n; ++i) {
      const DrawName name{1, 0, 0, RngDomain::initial_state, 0};
      all.push_back(open_unit(draw_word(name, static_cast<std::uint32_t>(i))));
    }
    return all;
  }

  std::int64_t items, count, dimension;
  DeviceArray<double> points, variance, length, noise, matrix;
};

}  // namespace kiln::cli
