// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "kiln/kernels/surrogate/evidence_gradient.hpp"

#include "backends/backends.hpp"
#include "processes/process_oracle.hpp"

namespace kiln::test {

/// Processes whose hyper-parameters are fitted, several vectors of them to a set of points.
struct Fits {
  CovarianceKind kind = CovarianceKind::matern52;
  std::int64_t dimension = 1, lengths = 1, sets = 1, items_per_set = 1, n = 1;
  oracle::Numbers x;          ///< [sets][dimension][n]
  oracle::Numbers y;          ///< [sets][n]
  oracle::Numbers parameter;  ///< [items][parameters]
  std::vector<std::int32_t> counts, running;
  std::vector<std::uint8_t> categorical;
  std::vector<HyperPrior> prior;
  bool fitted_mean = true;
  oracle::Numbers inverse, log_determinant;  ///< where they are given
  bool with_memory = false;                  ///< for several blocks to an item

  std::int64_t items() const { return sets * items_per_set; }
  std::int64_t parameters() const { return HyperLayout::size(lengths, kind); }
};

struct Evidences {
  oracle::Numbers value, gradient, mean;
};

inline Evidences evaluate(Queue& queue, const Fits& in) {
  const std::int64_t items = in.items(), p = in.parameters();
  const DeviceArray<double> x(queue, in.x), y(queue, in.y), parameter(queue, in.parameter);
  const DeviceArray<std::int32_t> counts(queue, in.counts), running(queue, in.running);
  const DeviceArray<std::uint8_t> categorical(queue, in.categorical);
  const DeviceArray<HyperPrior> prior(queue, in.prior);
  const DeviceArray<double> log_determinant(queue, in.log_determinant);
  DeviceArray<double> inverse(queue, in.inverse);
  DeviceArray<double> value(queue, oracle::Numbers(idx(items), 4711)),
      mean(queue, oracle::Numbers(idx(items), 4711));
  DeviceArray<double> gradient(queue, oracle::Numbers(idx(items * p), 4711));
  EvidenceGradient kernel;
  kernel.kind = in.kind;
  kernel.dimension = in.dimension;
  kernel.layout.lengths = in.lengths;
  kernel.items_per_set = in.items_per_set;
  kernel.points = {x.data(), in.n, in.n, in.dimension * in.n, counts.view()};
  kernel.axes.categorical = categorical.view();
  kernel.target = {y.data(), in.sets, in.n, in.n};
  kernel.fitted_mean = in.fitted_mean;
  kernel.parameter = {parameter.data(), items, p, p};
  kernel.prior = prior.view();
  kernel.running = running.view();
  const std::int64_t size = kernel.work_size();
  DeviceArray<double> memory(
      queue, oracle::Numbers(idx(items * size), std::numeric_limits<double>::quiet_NaN()));
  if (in.with_memory) kernel.memory = {memory.data(), items, size, size};
  if (!in.inverse.empty()) {
    kernel.inverse = MatrixBatch<double>::dense(inverse.data(), items, in.n, in.n);
    kernel.log_determinant = log_determinant.view();
  }
  kernel.value = value.view();
  kernel.gradient = {gradient.data(), items, p, p};
  kernel.mean = mean.view();
  kernel.items = items;
  queue.launch(kernel);
  return {value.download(), gradient.download(), mean.download()};
}

/// Hyper-parameters around those of a useful fit; targets with a mean that is not 0.
inline Fits make_fits(CovarianceKind kind, std::int64_t dimension, std::int64_t n,
                      bool isotropic = false, std::int64_t sets = 1,
                      std::int64_t items_per_set = 1) {
  Fits in;
  in.kind = kind;
  in.dimension = dimension;
  in.lengths = isotropic ? 1 : dimension;
  in.sets = sets;
  in.items_per_set = items_per_set;
  in.n = n;
  in.x = oracle::uniform(sets * dimension * n, 0, 1, idx(n + dimension));
  in.y = oracle::uniform(sets * n, -1, 3, idx(n) + 100);
  TestRandom random(7);
  for (std::int64_t i = 0; i < in.items(); ++i) {
    for (std::int64_t k = 0; k < in.lengths; ++k) in.parameter.push_back(random.unit() - 1);
    in.parameter.push_back(random.unit() - 0.3);
    in.parameter.push_back(-2 - 3 * random.unit());
    if (kind == CovarianceKind::rational_quadratic) in.parameter.push_back(2 * random.unit() - 1);
  }
  return in;
}

/// What the textbook makes of an item at such hyper-parameters.
inline oracle::Posterior posterior(const Fits& in, std::int64_t item,
                                   const oracle::Vector& logarithms) {
  const std::int64_t set = item / in.items_per_set;
  const std::int64_t n = in.counts.empty() ? in.n : in.counts[idx(set)];
  oracle::Vector points, values;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < in.dimension; ++k) {
      points.push_back(in.x[idx((set * in.dimension + k) * in.n + i)]);
    }
    values.push_back(in.y[idx(set * in.n + i)]);
  }
  return {{in.kind, in.dimension, logarithms, in.categorical},
          points,
          values,
          in.fitted_mean ? std::nullopt : std::optional<oracle::Real>(0)};
}

}  // namespace kiln::test
