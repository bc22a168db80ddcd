// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Transitions of densities that only this program knows, on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/backends.hpp"
#include "densities/chains.hpp"
#include "densities/test_densities.hpp"

namespace kiln::test::transitions_test {
namespace {

ChainInputs chains_in(int dimension, std::int64_t replicas, double eps, std::int32_t leapfrogs) {
  ChainInputs in;
  in.dimension = dimension;
  in.replicas = replicas;
  in.position = normal_positions(dimension, replicas, 1, 9);
  in.tuning[0].step_size = eps;
  in.tuning[0].leapfrogs = leapfrogs;
  return in;
}

Queue& queue() { return *open_device(Device::cpu).queue; }

template <class Kernel>
class Transitions : public testing::Test {};
using Kernels = testing::Types<HmcTransition, NutsTransition>;
TYPED_TEST_SUITE(Transitions, Kernels);

TYPED_TEST(Transitions, NeverEnterAHalfLineWithoutADensity) {
  ChainInputs in = chains_in(2, 300, 0.5, 4);
  for (double& x : in.position) x = std::abs(x);
  HalfLine density;
  density.n = 2;
  DeviceChains chains(queue(), in);
  std::vector<double> before = in.position;
  std::uint64_t met = 0;
  for (int t = 0; t < 20; ++t) {
    const std::vector<std::uint64_t> counts = chains.outputs().not_finite;
    chains.template transition_of<TypeParam>(density);
    const ChainOutputs out = chains.outputs();
    for (std::size_t r = 0; r < 300; ++r) {
      ASSERT_GT(out.position[r], 0);
      ASSERT_TRUE(std::isfinite(out.energy[r]) && std::isfinite(out.gradient[r]));
      const bool met_now = out.not_finite[r] > counts[r];
      met += met_now ? 1 : 0;
      ASSERT_EQ(out.divergent[r] == 1, met_now);
      if (met_now && std::is_same_v<TypeParam, HmcTransition>) {
        ASSERT_EQ(out.position[r], before[r]) << "rejected, so it stays";
      }
    }
    before = out.position;
  }
  EXPECT_GT(met, 300u);
}

TYPED_TEST(Transitions, StayWhereThereIsNoDensityAtAll) {
  ChainInputs in = chains_in(2, 33, 0.3, 4);
  for (double& x : in.position) x = -std::abs(x);
  HalfLine density;
  density.n = 2;
  DeviceChains chains(queue(), in);
  chains.template transition_of<TypeParam>(density);
  const ChainOutputs out = chains.outputs();
  EXPECT_EQ(bits_of(out.position), bits_of(in.position));
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(33, 0u));
  EXPECT_EQ(out.not_finite, std::vector<std::uint64_t>(33, 1u));
}

// What is promised: as many gradients as leapfrogs, and one more where none was kept.
TYPED_TEST(Transitions, SpendAGradientPerLeapfrog) {
  const ChainInputs in = chains_in(3, 10, 0.4, 7);
  std::atomic<int> gradients = 0;
  Counting<Anharmonic> density;
  density.density.n = 3;
  density.gradients = &gradients;
  DeviceChains chains(queue(), in);
  for (int t = 0; t < 5; ++t) {
    gradients = 0;
    chains.template transition_of<TypeParam>(density);
    int leapfrogs = 0;
    for (const std::int32_t n : chains.outputs().leapfrogs) leapfrogs += n;
    EXPECT_EQ(gradients, leapfrogs + (t == 0 ? 10 : 0));
    EXPECT_GT(leapfrogs, 10);
  }
  chains.set_beta({0.5});
  gradients = 0;
  chains.template transition_of<TypeParam>(density);
  int leapfrogs = 0;
  for (const std::int32_t n : chains.outputs().leapfrogs) leapfrogs += n;
  EXPECT_EQ(gradients, leapfrogs + 10) << "at other weights the gradient is another one";
}

TYPED_TEST(Transitions, DrawTheirStepsAroundTheStepSize) {
  ChainInputs in = chains_in(1, 2000, 1e-3, 1);
  in.tuning[0].max_depth = 1;
  in.tuning[0].jitter = 0.5;
  Oscillators free;
  free.omega = 0;
  DeviceChains chains(queue(), in);
  chains.template transition_of<TypeParam>(free);
  const ChainOutputs out = chains.outputs();
  // A free particle moves by eps z; z is known from the energy.
  double smallest = 1, largest = 0, sum = 0;
  for (std::size_t r = 0; r < 2000; ++r) {
    const double z = std::sqrt(2 * out.hamiltonian[r]);
    const double eps = std::abs(out.position[r] - in.position[r]) / z;
    smallest = std::min(smallest, eps), largest = std::max(largest, eps), sum += eps / 2000;
  }
  EXPECT_NEAR(smallest, 0.5e-3, 5e-6);
  EXPECT_NEAR(largest, 1.5e-3, 5e-6);
  EXPECT_NEAR(sum, 1e-3, 4 * 0.5e-3 / std::sqrt(3 * 2000.0));
}

TEST(Walls, ReflectAsOftenAsNeeded) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto reflected = [](double x, double lower, double upper) {
    double momentum = 1;
    const double at = reflect_at_walls(x, lower, upper, momentum);
    return std::pair{at, momentum};
  };
  EXPECT_EQ(reflected(0.5, 0, 1), std::pair(0.5, 1.0));
  EXPECT_EQ(reflected(1.25, 0, 1), std::pair(0.75, -1.0));
  EXPECT_EQ(reflected(-0.25, 0, 1), std::pair(0.25, -1.0));
  EXPECT_EQ(reflected(2.25, 0, 1), std::pair(0.25, 1.0));
  EXPECT_EQ(reflected(-3.25, 0, 1), std::pair(0.75, 1.0));
  EXPECT_EQ(reflected(-2, 1, infinity), std::pair(4.0, -1.0));
  EXPECT_EQ(reflected(1e6, 0, 1), std::pair(0.0, 1.0));
  EXPECT_EQ(reflected(1e6 + 0.25, 0, 1), std::pair(0.25, 1.0));
  EXPECT_EQ(reflected(1e9 + 1.25, 0, 1), std::pair(0.75, -1.0));
  EXPECT_EQ(reflected(-1e6 - 0.25, 0, 1), std::pair(0.25, -1.0));
  EXPECT_EQ(reflected(1e6 + 3.5, -1, 3), std::pair(2.5, -1.0));
  EXPECT_EQ(reflected(infinity, 0, 1).first, 1.0) << "within the walls, whatever happened";
  EXPECT_EQ(reflected(-infinity, 0, 1).first, 0.0);
}

}  // namespace
}  // namespace kiln::test::transitions_test
