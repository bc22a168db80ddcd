// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/momentum_refresh.hpp"

#include <gtest/gtest.h>

#include "backends/conformance_case.hpp"
#include "densities/batched_chains.hpp"

// Named draws and exact arithmetic; sums in an order that the header fixes.
KILN_CONFORMANCE_CASE(MomentumRefresh, exact)

namespace kiln::test::momentum_refresh_test {
namespace {

class MomentumRefreshKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MomentumRefreshKernel);

TEST_P(MomentumRefreshKernel, DrawsWhatHmcTransitionDraws) {
  for (const int d : {1, 7, 8, 9, 100}) {
    for (const std::int64_t replicas : {1, 31, 32, 33}) {
      const ChainInputs in = batched_inputs(d, replicas);
      BatchedChains chains(queue(), in, 4);
      const auto kernel = chains.kernel<MomentumRefresh>();
      queue().launch(kernel);
      const std::vector<double> vectors = chains.vectors(), scalars = chains.scalars();
      const ChainOutputs out = chains.outputs();
      const HostNames names = make_names(chains.slots(), 1, in.seed);
      const auto slots = idx(chains.slots());
      for (std::size_t r = 0; r < idx(replicas); ++r) {
        const DrawName name{names.key[r], 0, names.replica[r], RngDomain::momentum, 0};
        double squares = 0;
        for (std::size_t i = 0; i < idx(d); ++i) {
          const double z = standard_normal(name, static_cast<std::uint32_t>(i));
          ASSERT_EQ(vectors[i * slots + r], z);
          EXPECT_EQ(vectors[(idx(d) + i) * slots + r], in.position[i * idx(replicas) + r]);
          squares += z * z;
        }
        EXPECT_NEAR(scalars[3 * slots + r], squares / 2, 1e-13 * (1 + squares));
        const DrawName scalar{names.key[r], 0, names.replica[r], RngDomain::momentum, 1};
        const double u = 2 * open_unit(draw_word(scalar, 0)) - 1;
        EXPECT_NEAR(scalars[2 * slots + r], r % 2 == 0 ? 0.2 * (1 + 0.5 * u) : 0.1, 1e-15);
        EXPECT_EQ(out.term_weight[r], r % 2 == 0 ? 1.0 : 0.5);
      }
    }
  }
}

TEST_P(MomentumRefreshKernel, HasTheBitsOfTheCpu) {
  const ChainInputs in = batched_inputs(77, 300);
  BatchedChains here(queue(), in, 4), there(cpu_queue(), in, 4);
  queue().launch(here.kernel<MomentumRefresh>());
  cpu_queue().launch(there.kernel<MomentumRefresh>());
  EXPECT_EQ(bits_of(here.vectors()), bits_of(there.vectors()));
  EXPECT_EQ(bits_of(here.scalars()), bits_of(there.scalars()));
}

TEST_P(MomentumRefreshKernel, DoesNothingOnceStopped) {
  ChainInputs in = batched_inputs(5, 40);
  in.control.stop = DeviceStop::target;
  BatchedChains chains(queue(), in, 4);
  const std::vector<double> before = chains.vectors();
  queue().launch(chains.kernel<MomentumRefresh>());
  EXPECT_EQ(chains.vectors(), before);
}

}  // namespace
}  // namespace kiln::test::momentum_refresh_test
