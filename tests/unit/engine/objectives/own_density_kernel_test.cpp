// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A density kernel of this program, on a density that comes with Kiln and on one that does not.
// tests/conformance/sweeps/own_density_kernel_test.cu runs it on a GPU.
#include <gtest/gtest.h>

#include "kiln/objectives/density_objective.hpp"
#include "kiln/problems/densities/eight_schools.hpp"

#include "backends/backends.hpp"
#include "densities/chains.hpp"
#include "densities/sampling_fixtures.hpp"
#include "densities/steepness.hpp"

namespace kiln::test::own_density_kernel_test {
namespace {

template <class Density>
void expect_squares_of_gradients(const Density& density) {
  const int d = dimension_of(density);
  const std::int64_t chains = 100;  // tasks of several chains each
  const std::vector<double> places = normal_positions(d, chains, 1, 3);
  Queue& queue = *open_device(Device::cpu).queue;
  DeviceArray<double> position(queue, places), square(queue, chains);
  Steepness kernel;
  kernel.position = {position.data(), d, chains, chains};
  kernel.replicas = chains;
  kernel.square = square.view();
  CpuDensityKernels<Density>::run(kernel, density, queue);
  const std::vector<double> got = square.download();
  for (std::int64_t r = 0; r < chains; ++r) {
    std::vector<double> x, gradient(idx(d));
    for (int i = 0; i < d; ++i) x.push_back(places[idx(i * chains + r)]);
    evaluate_on_host(density, x, gradient);
    double expected = 0;
    for (const double g : gradient) expected += g * g;
    EXPECT_GT(expected, 0);
    EXPECT_NEAR(got[idx(r)], expected, 1e-12 * expected);
  }
}

TEST(OwnDensityKernel, RunsOnADensityThatComesWithKiln) {
  expect_squares_of_gradients(EightSchools{});
}

TEST(OwnDensityKernel, RunsOnADensityOfTheProgram) {
  expect_squares_of_gradients(StretchedNormal{});
}

}  // namespace
}  // namespace kiln::test::own_density_kernel_test
