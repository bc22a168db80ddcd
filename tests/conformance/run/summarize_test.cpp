// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/summarize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// The mean is for display: each backend adds in an order of its own. The rest is exact.
KILN_CONFORMANCE_CASE(Summarize, reordered)

namespace kiln::test::summarize_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class SummarizeKernel : public DeviceTest {
 protected:
  RunSummary summary_of(std::int64_t replicas, const std::vector<double>& energies,
                        const std::vector<std::uint64_t>& counts,
                        const std::vector<double>& betas = {0.5, 7}) const {
    RunControl state;
    state.tick = 12;
    state.step = 1ull << 40;
    state.best_key = 99;
    state.stop = DeviceStop::step_limit;
    const DeviceArray<RunControl> control = upload_control(queue(), state);
    const DeviceArray<double> energy(queue(), energies), beta(queue(), betas);
    const DeviceArray<std::uint64_t> accepted(queue(), counts);
    const DeviceArray<std::uint64_t> not_finite(queue(),
                                                std::vector<std::uint64_t>(counts.size(), 3));
    queue().launch(Summarize{control.data(),
                             energy.view(),
                             accepted.view(),
                             not_finite.view(),
                             beta.view(),
                             replicas,
                             {queue().summary_target()}});
    queue().post_summary();
    return queue().wait_summary();
  }
};
KILN_ON_EVERY_BACKEND(SummarizeKernel);

TEST_P(SummarizeKernel, ReducesFourReplicasAndLeavesPaddingOut) {
  std::vector<double> energy(32, -1e9);
  std::vector<std::uint64_t> accepted(32, 1000);
  energy[0] = 1, energy[1] = -3, energy[2] = 0.5, energy[3] = 5.5;
  accepted[0] = 1, accepted[1] = 2, accepted[2] = 3, accepted[3] = 1ull << 40;

  const RunSummary out = summary_of(4, energy, accepted);

  EXPECT_EQ(out.mean_energy, 1.0);
  EXPECT_EQ(out.min_energy, -3.0);
  EXPECT_EQ(out.beta, 0.5);
  EXPECT_EQ(out.accepted, (1ull << 40) + 6);
  EXPECT_EQ(out.not_finite, 12u);
}

TEST_P(SummarizeKernel, CopiesTheControlBlockAlsoOnceStopped) {
  const RunSummary out = summary_of(1, std::vector<double>(32, 2), std::vector<std::uint64_t>(32));

  EXPECT_EQ(out.control.tick, 12u);
  EXPECT_EQ(out.control.step, 1ull << 40);
  EXPECT_EQ(out.control.best_key, 99u);
  EXPECT_EQ(out.control.stop, DeviceStop::step_limit);
}

TEST_P(SummarizeKernel, MatchesAPlainSumForManySizes) {
  for (const std::int64_t replicas : {1, 2, 31, 32, 33, 100, 257, 1023, 1024, 1025, 65537}) {
    TestRandom random(idx(replicas));
    const std::int64_t slots = (replicas + 31) / 32 * 32;
    std::vector<double> energy(idx(slots), -1e300);
    std::vector<std::uint64_t> accepted(idx(slots), 1ull << 60);
    double sum = 0, magnitude = 0, least = infinity;
    std::uint64_t count = 0;
    for (std::int64_t r = 0; r < replicas; ++r) {
      energy[idx(r)] = 2e6 * random.unit() - 1e6;
      accepted[idx(r)] = random.word() >> 24;
      sum += energy[idx(r)];
      magnitude += std::abs(energy[idx(r)]);
      least = std::min(least, energy[idx(r)]);
      count += accepted[idx(r)];
    }

    const RunSummary out = summary_of(replicas, energy, accepted);

    const double n = static_cast<double>(replicas);
    EXPECT_NEAR(out.mean_energy, sum / n, double_tolerance * magnitude / n) << replicas;
    EXPECT_EQ(out.min_energy, least) << replicas;
    EXPECT_EQ(out.accepted, count) << replicas;
  }
}

TEST_P(SummarizeKernel, FindsTheLeastEnergyBesideOnesThatAreNotNumbers) {
  for (const std::size_t place : {0, 1, 63}) {
    std::vector<double> energy(64, 3.0);
    energy[40] = -2;
    energy[place] = not_a_number;
    const RunSummary out = summary_of(64, energy, std::vector<std::uint64_t>(64));
    EXPECT_EQ(out.min_energy, -2.0) << place;
    EXPECT_TRUE(std::isnan(out.mean_energy)) << place;
  }
}

// As a captured kernel does, which has the same arguments in each launch of its loop.
TEST_P(SummarizeKernel, WritesTheSlotOfItsLaunchAlone) {
  constexpr std::uint64_t untouched = 77;
  const DeviceArray<double> energy(queue(), std::vector<double>(32, 2));
  const DeviceArray<std::uint64_t> none(queue(), std::vector<std::uint64_t>(32));
  DeviceArray<std::uint64_t> launches(queue(), 1);
  for (const std::int64_t slots : {1, 3, 64}) {
    SharedArray<RunSummary> out(queue(), slots);
    for (const std::uint64_t launch : {1ull, 2ull, 3ull, 4ull, 64ull, 65ull, 1ull << 40}) {
      RunSummary other;
      other.control.tick = untouched;
      std::fill_n(out.data(), idx(slots), other);
      launches.upload({launch});
      RunControl state;
      state.tick = 100 + launch;
      const DeviceArray<RunControl> control = upload_control(queue(), state);
      const SummaryTarget target{out.data(), launches.data(), idx(slots)};
      queue().launch(
          Summarize{control.data(), energy.view(), none.view(), none.view(), {}, 1, target});
      queue().wait();
      const std::uint64_t written = (launch - 1) % idx(slots);
      for (std::uint64_t i = 0; i < idx(slots); ++i) {
        EXPECT_EQ(out.data()[i].control.tick, i == written ? 100 + launch : untouched)
            << "launch " << launch << ", slot " << i << " of " << slots;
      }
      EXPECT_EQ(out.data()[written].min_energy, 2.0);
    }
  }
}

TEST_P(SummarizeKernel, HasABetaOfZeroWithoutRungs) {
  EXPECT_EQ(summary_of(1, std::vector<double>(32), std::vector<std::uint64_t>(32), {}).beta, 0.0);
}

TEST_P(SummarizeKernel, ShowsAnInfiniteBeta) {
  const RunSummary out =
      summary_of(1, std::vector<double>(32), std::vector<std::uint64_t>(32), {infinity});
  EXPECT_EQ(out.beta, infinity);
}

}  // namespace
}  // namespace kiln::test::summarize_test
