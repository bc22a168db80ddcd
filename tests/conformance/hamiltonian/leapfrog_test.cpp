// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/leapfrog.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/conformance_case.hpp"
#include "densities/batched_chains.hpp"

// Exact arithmetic.
KILN_CONFORMANCE_CASE(Leapfrog, exact)

namespace kiln::test::leapfrog_test {
namespace {

class LeapfrogKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LeapfrogKernel);

// Rung 0 has three leapfrogs, rung 1 two.
TEST_P(LeapfrogKernel, KicksAndDriftsUntilTheLengthOfTheChain) {
  const int d = 5;
  const std::int64_t replicas = 40;
  const ChainInputs in = batched_inputs(d, replicas);
  for (const std::int32_t index : {0, 1, 2, 3, 4}) {
    BatchedChains chains(queue(), in, 4);
    auto kernel = chains.kernel<Leapfrog>();
    kernel.index = index;
    const std::vector<double> before = chains.vectors(), scalars = chains.scalars();
    queue().launch(kernel);
    const std::vector<double> after = chains.vectors();
    const auto slots = idx(chains.slots());
    for (std::size_t r = 0; r < slots; ++r) {
      const std::int32_t last = r % 2 == 0 ? 3 : 2;
      const bool moves = r < idx(replicas) && index <= last;
      const double eps = scalars[2 * slots + r];
      const double kick = !moves ? 0 : index == 0 || index == last ? eps / 2 : eps;
      const double drift = moves && index < last ? eps : 0;
      for (std::size_t i = 0; i < idx(d); ++i) {
        const double s = in.metric.scale[(r % 2) * idx(d) + i];
        // The gradients at the positions of these chains are zeros.
        const double g = index == 0 ? 0 : before[(2 * idx(d) + i) * slots + r];
        const double z = before[i * slots + r] - kick * s * g;
        const double x = before[(idx(d) + i) * slots + r] + drift * s * z;
        EXPECT_NEAR(after[i * slots + r], z, 1e-15);
        EXPECT_NEAR(after[(idx(d) + i) * slots + r], x, 1e-15);
      }
    }
  }
}

TEST_P(LeapfrogKernel, EndsAtTheLimitOfTheLaunches) {
  ChainInputs in = batched_inputs(5, 40);
  in.tuning[0].leapfrogs = in.tuning[1].leapfrogs = 100;
  BatchedChains longer(queue(), in, 3);
  in.tuning[0].leapfrogs = in.tuning[1].leapfrogs = 3;
  BatchedChains exact(queue(), in, 3);
  for (std::int32_t index = 0; index <= 3; ++index) {
    auto kernel = longer.kernel<Leapfrog>();
    kernel.index = index;
    queue().launch(kernel);
    kernel = exact.kernel<Leapfrog>();
    kernel.index = index;
    queue().launch(kernel);
  }
  EXPECT_EQ(longer.vectors(), exact.vectors());
}

TEST_P(LeapfrogKernel, ReflectsEachCoordinateAtItsOwnWalls) {
  constexpr std::size_t d = 5, replicas = 40, slots = 64;
  ChainInputs in = batched_inputs(d, replicas);
  in.bounded = true;
  in.lower = -9;
  in.upper = 9;
  in.box = {-0.1, 2, -9, 0, -1, 0.1, 2.5, -8, 0.5, 9};
  for (std::size_t k = 0; k < in.position.size(); ++k) {
    const std::size_t i = k / replicas;
    in.position[k] = std::clamp(in.position[k], in.box[i], in.box[d + i]);
  }
  BatchedChains chains(queue(), in, 4);
  auto kernel = chains.kernel<Leapfrog>();
  queue().launch(kernel);
  const std::vector<double> after = chains.vectors();  // momenta, then proposals
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t r = 0; r < replicas; ++r) {
      ASSERT_GE(after[(d + i) * slots + r], in.box[i]) << i;
      ASSERT_LE(after[(d + i) * slots + r], in.box[d + i]) << i;
    }
  }
}

TEST_P(LeapfrogKernel, HasTheBitsOfTheCpu) {
  for (const bool walls : {false, true}) {
    ChainInputs in = batched_inputs(300, 1000);
    in.bounded = walls;
    in.lower = -0.3;
    in.upper = 0.3;
    BatchedChains here(queue(), in, 4), there(cpu_queue(), in, 4);
    for (std::int32_t index = 0; index < 4; ++index) {
      auto kernel = here.kernel<Leapfrog>();
      kernel.index = index;
      queue().launch(kernel);
      kernel = there.kernel<Leapfrog>();
      kernel.index = index;
      cpu_queue().launch(kernel);
    }
    EXPECT_EQ(bits_of(here.vectors()), bits_of(there.vectors()));
  }
}

}  // namespace
}  // namespace kiln::test::leapfrog_test
