// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/density_descent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "densities/chains_cases.hpp"

// Steps that rounding makes and amplifies; the minimum at the end is the same.
KILN_CONFORMANCE_CASE(DensityDescent, drawn)

namespace kiln::test::density_descent_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ChainInputs cold(TestFunctionKind kind, int n, std::int64_t replicas) {
  ChainInputs in = make_chains(test_function(kind, n), replicas, 1.0, 0.1, 1);
  in.beta = {infinity};
  return in;
}

ChainOutputs descend(Queue& queue, const ChainInputs& in, std::int32_t steps, int launches = 1) {
  DeviceChains chains(queue, in);
  for (int t = 0; t < launches; ++t) {
    DensityDescent kernel = chains.kernel<DensityDescent>();
    kernel.steps = steps;
    queue.launch(kernel);
  }
  return chains.outputs();
}

class DensityDescentKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DensityDescentKernel);

TEST_P(DensityDescentKernel, EndsWhereTheGradientIsZero) {
  using K = TestFunctionKind;
  for (const K kind :
       {K::sphere, K::rosenbrock, K::rastrigin, K::levy, K::griewank, K::styblinski_tang}) {
    for (const int n : {2, 10, 40}) {
      const ChainInputs in = cold(kind, n, 33);
      const ChainOutputs out = descend(queue(), in, 300, 4);
      SCOPED_TRACE("function " + std::to_string(static_cast<int>(kind)) + ", n " +
                   std::to_string(n));
      EXPECT_TRUE(out.padding_untouched);
      for (std::size_t r = 0; r < 33; ++r) {
        double largest = 0;
        for (std::size_t i = 0; i < idx(n); ++i) {
          largest = std::max(largest, std::abs(out.gradient[i * 33 + r]));
        }
        EXPECT_LT(largest, 1e-4) << "chain " << r;
        EXPECT_EQ(out.energy[r], out.base[r] + out.term[r]);
      }
    }
  }
}

// The bottom of the sphere is found to rounding, that of Rosenbrock's valley through its bend.
TEST_P(DensityDescentKernel, FindsKnownMinima) {
  for (const double e : descend(queue(), cold(TestFunctionKind::sphere, 20, 40), 50).energy) {
    EXPECT_LT(e, 1e-20);
  }
  for (const double e :
       descend(queue(), cold(TestFunctionKind::rosenbrock, 2, 40), 200, 3).energy) {
    EXPECT_LT(e, 1e-16);
  }
}

TEST_P(DensityDescentKernel, FollowsTheCpuWhilePathsAreShort) {
  for (const ChainLayout layout : all_layouts) {
    for (const int n : {1, 7, 64, 600}) {
      ChainInputs in = cold(TestFunctionKind::rosenbrock, n + 1, 40);
      in.layout = layout;
      const ChainOutputs here = descend(queue(), in, 3), there = descend(cpu_queue(), in, 3);
      SCOPED_TRACE(std::string(to_string(layout)) + ", n " + std::to_string(n));
      expect_near("position", here.position, there.position, 1e-9);
      expect_near("energy", here.energy, there.energy, 1e-9);
    }
  }
}

TEST_P(DensityDescentKernel, LeavesChainsOfFiniteBetaAlone) {
  ChainInputs in = cold(TestFunctionKind::rosenbrock, 6, 50);
  in.beta = {1e300, infinity};
  for (std::int32_t r = 0; r < 50; ++r) in.rung_of.push_back(r % 2);
  in.tuning.assign(2, {});
  in.metric = {};
  const ChainOutputs out = descend(queue(), in, 20);
  for (std::size_t r = 0; r < 50; ++r) {
    bool same = true;
    for (std::size_t i = 0; i < 6; ++i) {
      same = same && out.position[i * 50 + r] == in.position[i * 50 + r];
    }
    EXPECT_EQ(same, r % 2 == 0) << r;
  }
}

// The minimum at (1, 1, ...) is outside: what is left at a wall points outwards.
TEST_P(DensityDescentKernel, EndsAtTheWallsOfABox) {
  constexpr std::size_t n = 8, chains = 40;
  ChainInputs in = cold(TestFunctionKind::rosenbrock, n, chains);
  in.bounded = true;
  in.lower = -2;
  in.upper = 0.5;
  for (double& x : in.position) x = std::clamp(x, in.lower, in.upper);
  const ChainOutputs out = descend(queue(), in, 200, 4);
  bool any_at_wall = false;
  for (std::size_t k = 0; k < n * chains; ++k) {
    const double x = out.position[k], g = out.gradient[k];
    ASSERT_GE(x, in.lower);
    ASSERT_LE(x, in.upper);
    const bool held = (x == in.upper && g < 0) || (x == in.lower && g > 0);
    any_at_wall = any_at_wall || held;
    if (!held) {
      EXPECT_LT(std::abs(g), 1e-4) << k;
    }
  }
  EXPECT_TRUE(any_at_wall);
}

// The sphere falls to the point of each coordinate's interval that is nearest to 0.
TEST_P(DensityDescentKernel, EndsAtTheOwnWallsOfEachCoordinate) {
  constexpr std::size_t n = 4, chains = 40;
  ChainInputs in = cold(TestFunctionKind::sphere, n, chains);
  in.bounded = true;
  in.lower = -4;
  in.upper = 9;
  in.box = {1, -4, -1, 3, 2, -2.5, 1, 9};
  const double expected[n] = {1, -2.5, 0, 3};
  for (std::size_t k = 0; k < n * chains; ++k) {
    const std::size_t i = k / chains;
    in.position[k] = std::clamp(in.position[k], in.box[i], in.box[n + i]);
  }
  const ChainOutputs out = descend(queue(), in, 50);
  for (std::size_t k = 0; k < n * chains; ++k) {
    EXPECT_NEAR(out.position[k], expected[k / chains], 1e-10) << k;
  }
}

TEST_P(DensityDescentKernel, NeverClimbs) {
  const ChainInputs in = cold(TestFunctionKind::rastrigin, 12, 64);
  std::vector<double> before(64, infinity);
  for (const int steps : {1, 2, 4, 8, 16}) {
    const ChainOutputs out = descend(queue(), in, steps);
    for (std::size_t r = 0; r < 64; ++r) EXPECT_LE(out.energy[r], before[r]);
    before = out.energy;
  }
}

TEST_P(DensityDescentKernel, LeavesWhatIsNotFinite) {
  ChainInputs in = cold(TestFunctionKind::sphere, 3, 40);
  in.position[5] = std::numeric_limits<double>::quiet_NaN();
  in.position[6] = infinity;
  const ChainOutputs out = descend(queue(), in, 20);
  EXPECT_TRUE(std::isnan(out.position[5]));
  EXPECT_EQ(out.position[6], infinity);
  EXPECT_EQ(out.position[40 + 5], in.position[40 + 5]);
  EXPECT_LT(out.energy[7], 1e-20);
}

TEST_P(DensityDescentKernel, DoesNothingOnceStopped) {
  ChainInputs in = cold(TestFunctionKind::sphere, 3, 40);
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(descend(queue(), in, 20).position, in.position);
}

}  // namespace
}  // namespace kiln::test::density_descent_test
