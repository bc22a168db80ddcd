// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/quadratic_energy.hpp"

#include <gtest/gtest.h>

#include "backends/conformance_case.hpp"
#include "densities/batched_chains.hpp"

// Sums are formed in an order that the header fixes.
KILN_CONFORMANCE_CASE(QuadraticEnergy, exact)

namespace kiln::test::quadratic_energy_test {
namespace {

struct Forms {
  std::int64_t dimension = 1, replicas = 1;
  std::vector<double> x, y, weight;
};
struct Energies {
  std::vector<double> energy, product;
};

Energies run(Queue& queue, const Forms& in, const RunControl& state = {}) {
  const std::int64_t slots = (in.replicas + 31) / 32 * 32;
  const DeviceArray<double> x(queue, in.x), weight(queue, in.weight);
  DeviceArray<double> y(queue, in.y), energy(queue, std::vector<double>(idx(slots), 4711));
  const auto control = upload_control(queue, state);
  QuadraticEnergy kernel;
  kernel.position = {x.data(), in.dimension, slots, slots};
  kernel.product = {y.data(), in.dimension, slots, slots};
  kernel.replicas = in.replicas;
  kernel.weight = weight.view();
  kernel.energy = energy.view();
  kernel.control = control.data();
  queue.launch(kernel);
  return {energy.download(), y.download()};
}

Forms make_forms(std::int64_t dimension, std::int64_t replicas) {
  const std::int64_t slots = (replicas + 31) / 32 * 32;
  return {dimension, replicas, BatchedChains::numbers(dimension * slots, 1),
          BatchedChains::numbers(dimension * slots, 2), BatchedChains::numbers(slots, 3)};
}

class QuadraticEnergyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(QuadraticEnergyKernel);

TEST_P(QuadraticEnergyKernel, HalvesTheScalarProductAndWeighsTheGradient) {
  for (const std::int64_t d : {1, 8, 9, 1000}) {
    for (const std::int64_t replicas : {1, 31, 33}) {
      const Forms in = make_forms(d, replicas);
      const Energies out = run(queue(), in);
      const std::size_t slots = out.energy.size();
      for (std::size_t s = 0; s < slots; ++s) {
        const bool there = s < idx(replicas);
        double sum = 0;
        for (std::size_t i = 0; i < idx(d); ++i) {
          const double y = in.y[i * slots + s];
          sum += in.x[i * slots + s] * y;
          EXPECT_EQ(out.product[i * slots + s], there ? in.weight[s] * y : y);
        }
        EXPECT_NEAR(out.energy[s], there ? sum / 2 : 4711, 1e-12);
      }
    }
  }
}

TEST_P(QuadraticEnergyKernel, HasTheBitsOfTheCpu) {
  for (const bool weighted : {false, true}) {
    Forms in = make_forms(333, 100);
    if (!weighted) in.weight.clear();
    const Energies here = run(queue(), in), there = run(cpu_queue(), in);
    EXPECT_EQ(bits_of(here.energy), bits_of(there.energy));
    EXPECT_EQ(bits_of(here.product), bits_of(there.product));
  }
}

TEST_P(QuadraticEnergyKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), make_forms(3, 5), stopped).energy, std::vector<double>(32, 4711));
}

}  // namespace
}  // namespace kiln::test::quadratic_energy_test
