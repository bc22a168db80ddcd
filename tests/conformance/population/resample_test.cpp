// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/population/resample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Integers.
KILN_CONFORMANCE_CASE(Resample, exact)

namespace kiln::test::resample_test {
namespace {

constexpr std::uint64_t one = Resample::max_weight;

struct Populations {
  std::int64_t groups = 1, replicas = 1;
  std::vector<std::uint64_t> weight;
  std::vector<std::uint32_t> begins;
  std::vector<double> energy;
  std::vector<std::int32_t> family;
  RunControl control;
  std::uint32_t sweeps_per_tick = 1;
  std::uint64_t seed = 5;
  bool opening = false;
  std::vector<std::uint32_t> active_groups;
  std::uint64_t rounding_before = 0;
  // Results.
  std::vector<std::int32_t> source;
  std::vector<std::uint32_t> members;
  std::vector<ResampleTotals> totals;
};

Populations make(std::int64_t groups, std::int64_t replicas,
                 const std::function<std::uint64_t(std::int64_t)>& weight_of) {
  Populations p;
  p.groups = groups;
  p.replicas = replicas;
  p.control.step = 77;
  p.begins.assign(idx(groups), 0u);
  for (std::int64_t slot = 0; slot < groups * replicas; ++slot) {
    p.weight.push_back(weight_of(slot % replicas));
    p.energy.push_back(static_cast<double>(slot) + 0.25);
    p.family.push_back(static_cast<std::int32_t>(slot));
  }
  return p;
}

Populations run(Queue& queue, Populations p) {
  const std::int64_t slots = p.groups * p.replicas;
  const DeviceArray<std::uint64_t> weight(queue, p.weight);
  const DeviceArray<std::uint32_t> begins(queue, p.begins);
  DeviceArray<double> energy(queue, p.energy);
  DeviceArray<std::int32_t> family(queue, p.family);
  DeviceArray<std::int32_t> source(queue, std::vector<std::int32_t>(idx(slots), 99));
  DeviceArray<std::int32_t> copies(queue, slots), extra(queue, slots);
  DeviceArray<std::uint32_t> members(queue, std::vector<std::uint32_t>(idx(slots), 7u));
  ResampleTotals before;
  before.rounding = p.rounding_before;
  before.spread = p.rounding_before;
  DeviceArray<ResampleTotals> totals(queue, std::vector<ResampleTotals>(idx(p.groups), before));
  DeviceArray<Resample::Part> parts(queue, p.groups * Resample::parts_of(p.replicas));
  const DeviceNames names(queue, make_names(slots, p.groups, p.seed));
  const DeviceArray<RunControl> control = upload_control(queue, p.control);
  const DeviceArray<std::uint32_t> active_groups(queue, p.active_groups);
  queue.launch(Resample{weight.view(), begins.view(), energy.view(), family.view(), source.view(),
                        copies.view(), extra.view(), members.view(), totals.view(), parts.view(),
                        p.replicas, names.view(), control.data(), p.sweeps_per_tick, p.opening,
                        active_groups.view()});
  p.energy = energy.download();
  p.family = family.download();
  p.source = source.download();
  p.members = members.download();
  p.totals = totals.download();
  return p;
}

/// Copies of each replica, from who is filled from whom.
std::vector<std::int64_t> copies_of(const Populations& out) {
  std::vector<std::int64_t> copies(out.source.size(), 0);
  for (std::size_t slot = 0; slot < out.source.size(); ++slot) {
    ++copies[out.source[slot] < 0 ? slot : idx(out.source[slot])];
  }
  return copies;
}

/// What must hold after every resampling.
void expect_consistent(const Populations& in, const Populations& out) {
  const std::vector<std::int64_t> copies = copies_of(out);
  std::vector<std::int64_t> members(out.family.size(), 0);
  for (std::int64_t g = 0; g < in.groups; ++g) {
    const std::size_t begin = idx(g * in.replicas), end = begin + idx(in.replicas);
    std::uint64_t total = 0;
    for (std::size_t s = begin; s < end; ++s) total += in.weight[s];
    EXPECT_EQ(out.totals[idx(g)].weight, total);
    for (std::size_t s = begin; s < end; ++s) {
      const std::size_t from = out.source[s] < 0 ? s : idx(out.source[s]);
      ASSERT_TRUE(from >= begin && from < end) << "a copy from another population";
      EXPECT_LT(out.source[from], 0) << "a slot that is copied from was filled";
      EXPECT_EQ(out.energy[s], in.energy[from]);
      EXPECT_EQ(out.family[s], in.family[from]);
      ++members[idx(out.family[s])];
      if (total == 0) continue;
      const double wanted = static_cast<double>(in.replicas) * static_cast<double>(in.weight[s]) /
                            static_cast<double>(total);
      EXPECT_GE(static_cast<double>(copies[s]), std::floor(wanted * (1 - 1e-12))) << s;
      EXPECT_LE(static_cast<double>(copies[s]), std::ceil(wanted * (1 + 1e-12))) << s;
      EXPECT_TRUE(in.weight[s] > 0 || copies[s] == 0) << s;
    }
    std::int64_t families = 0;
    std::uint64_t squares = 0;
    double logs = 0, rounding = 0, spread = 0;
    for (std::size_t s = begin; s < end; ++s) {
      EXPECT_EQ(out.members[s], static_cast<std::uint32_t>(members[s]));
      families += members[s] > 0 ? 1 : 0;
      squares += static_cast<std::uint64_t>(members[s] * members[s]);
      const double n = static_cast<double>(members[s]);
      logs += n > 0 ? n * std::log(n) : 0;
      if (total == 0) continue;
      const double wanted = static_cast<double>(in.replicas) * static_cast<double>(in.weight[s]) /
                            static_cast<double>(total);
      const double fraction = wanted - std::floor(wanted);
      rounding += fraction * (1 - fraction);
      spread += std::min((wanted - 1) * (wanted - 1), 4096.0);
    }
    EXPECT_NEAR(static_cast<double>(out.totals[idx(g)].rounding) * 0x1p-20, rounding,
                static_cast<double>(in.replicas) * 0x1p-20);
    EXPECT_NEAR(static_cast<double>(out.totals[idx(g)].spread) * 0x1p-26, spread,
                static_cast<double>(in.replicas) * 0x1p-26 + 1e-9 * spread);
    EXPECT_EQ(out.totals[idx(g)].families, families);
    EXPECT_EQ(out.totals[idx(g)].family_squares, squares);
    EXPECT_NEAR(static_cast<double>(out.totals[idx(g)].family_logs) * 0x1p-20, logs,
                static_cast<double>(in.replicas) * 0x1p-20);
  }
  EXPECT_EQ(std::accumulate(copies.begin(), copies.end(), std::int64_t{0}),
            in.groups * in.replicas);
}

class ResampleKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ResampleKernel);

TEST_P(ResampleKernel, GivesEachReplicaItsShare) {
  for (const std::int64_t groups : {1, 3}) {
    for (const std::int64_t replicas : {1, 31, 32, 33, 1000, 1024, 1025, 4096}) {
      SCOPED_TRACE(std::to_string(groups) + " x " + std::to_string(replicas));
      TestRandom random(idx(replicas));
      Populations in = make(groups, replicas, [&](std::int64_t) {
        const double w = std::exp(-6 * random.unit());
        return random.unit() < 0.1 ? 0 : static_cast<std::uint64_t>(w * 0x1p40);
      });
      in.weight.front() = one;  // a population of one must not be empty
      for (std::int32_t& family : in.family) {
        const auto of = static_cast<std::int32_t>(replicas);
        family = family / of * of + static_cast<std::int32_t>(random.between(0, replicas - 1));
      }
      const Populations out = run(queue(), in);
      expect_consistent(in, out);
      const Populations there = run(cpu_queue(), in);
      EXPECT_EQ(out.source, there.source);
      EXPECT_EQ(out.family, there.family);
      EXPECT_EQ(bits_of(out.energy), bits_of(there.energy));
      for (std::int64_t g = 0; g < groups; ++g) {
        EXPECT_EQ(out.totals[idx(g)].rounding, there.totals[idx(g)].rounding);
        EXPECT_EQ(out.totals[idx(g)].spread, there.totals[idx(g)].spread);
      }
    }
  }
}

// Four replicas with shares 2, 1, 0.5 and 0.5: one word decides which of the last two lives.
TEST_P(ResampleKernel, FollowsItsWord) {
  Populations in = make(1, 4, [](std::int64_t r) {
    return r == 0 ? one : r == 1 ? one / 2 : one / 4;
  });
  int third = 0;
  for (in.seed = 1; in.seed <= 64; ++in.seed) {
    const HostNames names = make_names(4, 1, in.seed);
    const std::uint32_t word =
        draw_word({names.key[0], in.control.step, names.replica[0], RngDomain::resample, 0}, 0);
    const bool upper = word >= 0x80000000u;  // then 3 + u lies in the last quarter
    const Populations out = run(queue(), in);
    EXPECT_EQ(copies_of(out), (std::vector<std::int64_t>{2, 1, upper ? 0 : 1, upper ? 1 : 0}));
    EXPECT_EQ(out.source[upper ? 2 : 3], 0);
    third += upper ? 0 : 1;
  }
  EXPECT_GT(third, 16);
  EXPECT_LT(third, 48);
}

// Shares 1.5, 1.5, 1.0 and 0: two of them are a half beyond a whole number.
TEST_P(ResampleKernel, AddsItsRoundingToThatOfTheRound) {
  Populations in = make(2, 4, [](std::int64_t r) {
    return r < 2 ? one / 8 * 3 : r == 2 ? one / 4 : std::uint64_t{0};
  });
  in.rounding_before = 7;
  in.begins = {0, 1};
  const Populations out = run(queue(), in);
  EXPECT_EQ(out.totals[0].rounding, 7 + (2u << 18));
  EXPECT_EQ(out.totals[1].rounding, 2u << 18) << "a new round begins with none";
  // 1/4 + 1/4 + 0 + 1, each that is not 0 with one unit more.
  EXPECT_EQ(out.totals[0].spread, 7 + (3u << 25) + 3);
  EXPECT_EQ(out.totals[1].spread, (3u << 25) + 3);
  std::ranges::fill(in.weight, std::uint64_t{0});
  EXPECT_EQ(run(queue(), in).totals[0].rounding, 7u) << "nothing was resampled";
}

TEST_P(ResampleKernel, LeavesEqualWeightsAlone) {
  for (const std::int64_t replicas : {1, 33, 4096}) {
    const Populations in = make(2, replicas, [](std::int64_t) { return one / 3; });
    const Populations out = run(queue(), in);
    EXPECT_EQ(out.source, std::vector<std::int32_t>(idx(2 * replicas), -1));
    EXPECT_EQ(out.totals[1].families, replicas);
  }
}

TEST_P(ResampleKernel, LetsOneReplicaTakeEverything) {
  const std::int64_t winner = 777, replicas = 4096;
  const Populations in =
      make(1, replicas, [&](std::int64_t r) { return r == winner ? one : std::uint64_t{0}; });
  const Populations out = run(queue(), in);
  expect_consistent(in, out);
  EXPECT_EQ(copies_of(out)[idx(winner)], replicas);
  EXPECT_EQ(out.totals[0].families, 1);
  EXPECT_EQ(out.totals[0].family_squares, static_cast<std::uint64_t>(replicas * replicas));
}

TEST_P(ResampleKernel, HoldsTheLargestSums) {
  Populations in = make(1, Resample::max_replicas, [](std::int64_t r) { return one - (r % 2); });
  const Populations out = run(queue(), in);
  EXPECT_EQ(out.totals[0].weight, in.weight[0] * (1u << 21) + in.weight[1] * (1u << 21));
  const std::vector<std::int64_t> copies = copies_of(out);
  EXPECT_LE(*std::max_element(copies.begin(), copies.end()), 2);
  EXPECT_GE(out.totals[0].families, Resample::max_replicas - 2);
}

TEST_P(ResampleKernel, LeavesPopulationsWithoutWeightsAlone) {
  Populations in = make(3, 100, [](std::int64_t r) { return r < 50 ? one : std::uint64_t{0}; });
  std::fill(in.weight.begin() + 100, in.weight.begin() + 200, std::uint64_t{0});
  std::fill(in.family.begin() + 100, in.family.end(), 150);
  std::fill(in.family.begin() + 200, in.family.end(), 250);
  in.begins[2] = 1;
  const Populations out = run(queue(), in);
  for (std::size_t slot = 100; slot < 200; ++slot) EXPECT_EQ(out.source[slot], -1);
  EXPECT_EQ(out.totals[0].families, 50);
  EXPECT_EQ(out.totals[1].families, 1) << "nothing was resampled";
  EXPECT_EQ(out.totals[2].families, 50) << "a new round has new families";
}

TEST_P(ResampleKernel, DoesNothingWithinATickOrOnceStopped) {
  Populations in = make(1, 64, [](std::int64_t r) { return r == 0 ? one : std::uint64_t{0}; });
  in.sweeps_per_tick = 4;
  in.control.step_limit = in.control.step + 3;
  const Populations cut = run(queue(), in);
  EXPECT_EQ(cut.source, std::vector<std::int32_t>(64, -1)) << "old sources must not be used again";
  EXPECT_EQ(cut.family, in.family);
  in.control.tick_sweeps = 3;  // the rest of a tick that was cut: the draw is that of the whole
  const Populations rest = run(queue(), in);
  EXPECT_EQ(copies_of(rest)[0], 64);
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), in).source, std::vector<std::int32_t>(64, 99));
}

// Before the first sweep: populations with a flag alone, and by a word of its own.
TEST_P(ResampleKernel, OpensTheRoundsThatAreMeant) {
  for (const std::int64_t replicas : {5, 33, 1025}) {
    Populations in =
        make(3, replicas, [&](std::int64_t r) { return r % 3 == 0 ? one : std::uint64_t{0}; });
    in.active_groups = {1, 0, 1};
    in.opening = true;
    in.sweeps_per_tick = 4;
    in.control.step_limit = 78;  // the tick is cut short, and it does begin
    const Populations out = run(queue(), in), there = run(cpu_queue(), in);
    EXPECT_EQ(out.source, there.source);
    EXPECT_EQ(out.family, there.family);
    for (std::int64_t s = 0; s < 3 * replicas; ++s) {
      const bool meant = s / replicas != 1;
      if (meant) {
        EXPECT_EQ((out.family[idx(s)] % replicas) % 3, 0);
      } else {
        EXPECT_EQ(out.source[idx(s)], 99) << "nothing of the others is touched";
        EXPECT_EQ(out.members[idx(s)], 7u);
      }
    }
    EXPECT_EQ(out.totals[1].weight, 0u);
    EXPECT_EQ(out.totals[2].families, (replicas + 2) / 3);
  }
  int different = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Populations in = make(1, 1000, [](std::int64_t r) { return r % 7 < 3 ? one : one / 5; });
    in.seed = seed;
    const Populations at_end = run(queue(), in);
    in.opening = true;
    different += run(queue(), in).source != at_end.source ? 1 : 0;
  }
  EXPECT_GT(different, 6) << "the word of the end of the tick is not used twice";
}

}  // namespace
}  // namespace kiln::test::resample_test
