// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/kernels/hamiltonian/batched_trajectory.hpp"

#include "backends/backends.hpp"
#include "densities/chains.hpp"

namespace kiln::test {

/// Chains and the arrays of a batched transition, filled with random numbers, on a device.
class BatchedChains {
 public:
  BatchedChains(Queue& queue, const ChainInputs& in, std::int32_t limit, std::uint64_t seed = 11)
      : in_(in),
        limit_(limit),
        chains_(queue, in),
        vectors_(queue, numbers(3 * in.dimension * chains_.slots(), seed)),
        scalars_(queue, numbers(4 * chains_.slots(), seed + 1)) {}

  template <class Kernel>
  Kernel kernel() {
    const auto of_chains = chains_.kernel<HmcTransition>();
    const std::int64_t slots = chains_.slots(), d = in_.dimension;
    const auto matrix = [&](std::int64_t i) {
      return View2<double>{vectors_.data() + i * d * slots, d, slots, slots};
    };
    const auto row = [&](std::int64_t i) {
      return View1<double>{scalars_.data() + i * slots, slots};
    };
    Kernel kernel;
    kernel.chains = of_chains.chains;
    kernel.scale = of_chains.metric.scale;
    kernel.tuning = of_chains.tuning;
    kernel.limit = limit_;
    kernel.trajectory = {matrix(0), matrix(1), matrix(2), row(0), row(1), row(2), row(3)};
    return kernel;
  }
  TransitionStatistics statistics() { return chains_.kernel<HmcTransition>().statistics; }
  ChainOutputs outputs() const { return chains_.outputs(); }
  /// Momentum, proposal and gradient; then base, term, step and kinetic energy.
  std::vector<double> vectors() const { return vectors_.download(); }
  std::vector<double> scalars() const { return scalars_.download(); }
  std::int64_t slots() const { return chains_.slots(); }

  static std::vector<double> numbers(std::int64_t count, std::uint64_t seed) {
    TestRandom random(seed);
    std::vector<double> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(2 * random.unit() - 1);
    return all;
  }

 private:
  ChainInputs in_;
  std::int32_t limit_;
  DeviceChains chains_;
  DeviceArray<double> vectors_, scalars_;
};

/// Chains of two rungs with a diagonal metric.
inline ChainInputs batched_inputs(int dimension, std::int64_t replicas) {
  ChainInputs in;
  in.dimension = dimension;
  in.replicas = replicas;
  in.position = normal_positions(dimension, replicas, 1, 5);
  in.beta = {1, 0.5};
  in.tuning.resize(2);
  in.tuning[0].step_size = 0.2;
  in.tuning[0].jitter = 0.5;
  in.tuning[0].leapfrogs = 3;
  in.tuning[0].report_ends = 1;
  in.tuning[1].leapfrogs = 2;
  for (std::int64_t r = 0; r < replicas; ++r) in.rung_of.push_back(static_cast<int>(r % 2));
  for (int i = 0; i < 2 * dimension; ++i) in.metric.scale.push_back(0.5 + 0.1 * (i % 11));
  return in;
}

}  // namespace kiln::test
