// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/kernels/hamiltonian/batched_trajectory.hpp"

#include "bench/chain_fixture.hpp"
#include "bench/process_fixture.hpp"

namespace kiln::cli {

/// The arrays of a batched transition: 1024 chains of 1000 dimensions unless it is said otherwise.
struct BatchedArrays {
  BatchedArrays(Queue& queue, std::int64_t dimension = 1000, std::int64_t chains = 1024)
      : of_chains(queue, sphere(dimension), chains, tuning()),
        vectors(queue, ProcessArrays::draw(3 * dimension * chains)),
        scalars(queue, 4 * chains) {
    scalars.fill(0.01);  // steps that move
  }

  template <class Kernel>
  Kernel kernel(std::uint32_t step) {
    const std::int64_t slots = of_chains.chains, d = of_chains.dimension;
    const auto matrix = [&](std::int64_t i) {
      return View2<double>{vectors.data() + i * d * slots, d, slots, slots};
    };
    const auto row = [&](std::int64_t i) {
      return View1<double>{scalars.data() + i * slots, slots};
    };
    Kernel kernel;
    kernel.chains = of_chains.state();
    kernel.chains.step_offset = step;
    kernel.trajectory = {matrix(0), matrix(1), matrix(2), row(0), row(1), row(2), row(3)};
    kernel.scale = of_chains.scale.view();
    kernel.tuning = of_chains.tuning.view();
    kernel.limit = 50;
    return kernel;
  }
  double values() const { return static_cast<double>(of_chains.dimension * of_chains.chains); }

  static TestFunction sphere(std::int64_t dimension) {
    TestFunction f;
    f.n = static_cast<int>(dimension);
    return f;
  }
  static HmcTuning tuning() {
    HmcTuning t;
    t.step_size = 0.01;
    t.leapfrogs = 50;
    return t;
  }

  ChainArrays of_chains;
  DeviceArray<double> vectors, scalars;
};

}  // namespace kiln::cli
