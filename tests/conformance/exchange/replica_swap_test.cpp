// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/replica_swap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Named draws, exact arithmetic, counts as sums of integers.
KILN_CONFORMANCE_CASE(ReplicaSwap, exact)

namespace kiln::test::replica_swap_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Everything that replica_swap reads and writes, on the host.
struct Ladders {
  std::int64_t rungs = 2, ladders = 1;
  std::vector<double> energy;  // [slots]
  std::vector<double> beta;    // [ladders * rungs]
  std::vector<std::int32_t> rung_of, slot_of;
  std::vector<SwapLadder> state;
  std::vector<LadderEnd> last_end;
  std::vector<std::uint32_t> round_trips;
  std::vector<std::uint64_t> attempts, accepted, chance, totals;
  HostNames names;
  RunControl control;
  PairMode mode = PairMode::even_odd;
  SwapCadence cadence;
  std::uint32_t sweeps_per_tick = 1;
  double inverse_scale = 1;

  std::size_t slots() const { return energy.size(); }
  std::size_t replicas() const { return idx(rungs * ladders); }
};

Ladders make_ladders(std::int64_t rungs, std::int64_t ladders, std::uint64_t seed) {
  TestRandom random(seed);
  Ladders l;
  l.rungs = rungs;
  l.ladders = ladders;
  const std::size_t slots = (l.replicas() + 31) / 32 * 32;
  for (std::size_t s = 0; s < slots; ++s) {
    l.energy.push_back(static_cast<double>(random.between(-6, 6)));
  }
  for (std::size_t i = 0; i < l.replicas(); ++i) {
    l.beta.push_back(0.1 + 0.2 * static_cast<double>(i % idx(rungs)));
  }
  l.rung_of.assign(slots, 0);
  l.slot_of.resize(l.replicas());
  for (std::size_t i = 0; i < l.replicas(); ++i) {
    l.rung_of[i] = l.slot_of[i] = static_cast<std::int32_t>(i);
  }
  l.state.assign(idx(ladders), {});
  l.last_end.assign(slots, LadderEnd::none);
  l.round_trips.assign(slots, 0);
  l.attempts.assign(idx(std::max<std::int64_t>(0, rungs - 1)), 0);
  l.accepted = l.chance = l.attempts;
  l.totals.assign(2, 0);
  l.names = make_names(static_cast<std::int64_t>(slots), 1, seed);
  for (std::size_t s = 0; s < l.replicas(); ++s) l.names.key[s] += s / idx(rungs);
  return l;
}

Ladders run(Queue& queue, Ladders l, int calls = 1) {
  const DeviceArray<double> energy(queue, l.energy), beta(queue, l.beta);
  DeviceArray<std::int32_t> rung_of(queue, l.rung_of), slot_of(queue, l.slot_of);
  DeviceArray<SwapLadder> state(queue, l.state);
  DeviceArray<LadderEnd> last_end(queue, l.last_end);
  DeviceArray<std::uint32_t> round_trips(queue, l.round_trips);
  DeviceArray<std::uint64_t> attempts(queue, l.attempts), accepted(queue, l.accepted),
      chance(queue, l.chance), totals(queue, l.totals);
  const DeviceNames names(queue, l.names);
  for (int call = 0; call < calls; ++call) {
    const DeviceArray<RunControl> control = upload_control(queue, l.control);
    queue.launch(ReplicaSwap{energy.view(),
                             beta.view(),
                             rung_of.view(),
                             slot_of.view(),
                             state.view(),
                             last_end.view(),
                             round_trips.view(),
                             {attempts.view(), accepted.view(), chance.view(), totals.view()},
                             names.view(),
                             control.data(),
                             l.rungs,
                             l.mode,
                             l.cadence,
                             l.sweeps_per_tick,
                             l.inverse_scale});
    l.control.step += l.sweeps_per_tick;
  }
  l.rung_of = rung_of.download();
  l.slot_of = slot_of.download();
  l.state = state.download();
  l.last_end = last_end.download();
  l.round_trips = round_trips.download();
  l.attempts = attempts.download();
  l.accepted = accepted.download();
  l.chance = chance.download();
  l.totals = totals.download();
  return l;
}

void expect_same(const Ladders& got, const Ladders& expected) {
  EXPECT_EQ(got.rung_of, expected.rung_of);
  EXPECT_EQ(got.slot_of, expected.slot_of);
  EXPECT_EQ(got.last_end, expected.last_end);
  EXPECT_EQ(got.round_trips, expected.round_trips);
  EXPECT_EQ(got.attempts, expected.attempts);
  EXPECT_EQ(got.accepted, expected.accepted);
  EXPECT_EQ(got.chance, expected.chance);
  EXPECT_EQ(got.totals, expected.totals);
  for (std::size_t g = 0; g < got.state.size(); ++g) {
    EXPECT_EQ(got.state[g].phases, expected.state[g].phases) << g;
    EXPECT_EQ(got.state[g].waited, expected.state[g].waited) << g;
    EXPECT_EQ(bits_of({got.state[g].interval}), bits_of({expected.state[g].interval})) << g;
  }
}

void expect_permutation(const Ladders& l) {
  for (std::size_t rung = 0; rung < l.replicas(); ++rung) {
    const std::int32_t slot = l.slot_of[rung];
    ASSERT_TRUE(slot >= 0 && idx(slot) < l.replicas());
    ASSERT_EQ(l.rung_of[idx(slot)], static_cast<std::int32_t>(rung));
    ASSERT_EQ(idx(slot) / idx(l.rungs), rung / idx(l.rungs)) << "a replica left its ladder";
  }
  for (std::size_t s = l.replicas(); s < l.slots(); ++s) ASSERT_EQ(l.rung_of[s], 0) << "padding";
}

class ReplicaSwapKernel : public DeviceTest {
 protected:
  /// Two rungs with these values tried once: the acceptance probability that was counted.
  double chance_of(double beta_hot, double beta_cold, double e_hot, double e_cold,
                   double inverse_scale = 1) const {
    Ladders l = make_ladders(2, 1, 1);
    l.beta = {beta_hot, beta_cold};
    l.energy[0] = e_hot;
    l.energy[1] = e_cold;
    l.inverse_scale = inverse_scale;
    const Ladders out = run(queue(), l);
    EXPECT_EQ(out.attempts[0], 1u);
    const double chance = std::ldexp(static_cast<double>(out.chance[0]), -24);
    const std::vector<std::int32_t> swapped = {1, 0}, left = {0, 1};
    if (chance == 1 || chance == 0) {
      EXPECT_EQ(out.slot_of, chance == 1 ? swapped : left);
    }
    return chance;
  }
};
KILN_ON_EVERY_BACKEND(ReplicaSwapKernel);

TEST_P(ReplicaSwapKernel, AlwaysGivesTheLowerEnergyToTheColderRung) {
  EXPECT_EQ(chance_of(0.25, 1, 0, 3), 1.0) << "the colder rung holds the higher energy";
  EXPECT_NEAR(chance_of(0.25, 1, 3, 0), std::exp(-0.75 * 3), 1e-7);
  EXPECT_NEAR(chance_of(0.25, 1, 3, 0, 0.5), std::exp(-0.375 * 3), 1e-7);
  EXPECT_NEAR(chance_of(0, 2, 0.5, 0.25), std::exp(-0.5), 1e-7);
}

TEST_P(ReplicaSwapKernel, DecidesAtTheEdges) {
  EXPECT_EQ(chance_of(1, 1, 5, -5), 1.0) << "equal betas";
  EXPECT_EQ(chance_of(1, 2, 5, 5), 1.0) << "equal energies";
  EXPECT_EQ(chance_of(1, 2, 5, infinity), 1.0) << "an infinite energy moves to the hotter rung";
  EXPECT_EQ(chance_of(1, 2, infinity, 5), 0.0) << "and never back";
  EXPECT_EQ(chance_of(1, 2, infinity, infinity), 0.0);
  EXPECT_EQ(chance_of(1, 1, infinity, infinity), 0.0);
  EXPECT_EQ(chance_of(1, infinity, 5, 6), 1.0);
  EXPECT_EQ(chance_of(1, infinity, 6, 5), 0.0);
  EXPECT_EQ(chance_of(1, infinity, 5, 5), 1.0) << "a tie, not infinity times 0";
  EXPECT_EQ(chance_of(infinity, infinity, 6, 5), 1.0);
  for (int which = 0; which < 4; ++which) {
    double v[4] = {1, 2, 3, 4};
    v[which] = not_a_number;
    EXPECT_EQ(chance_of(v[0], v[1], v[2], v[3]), 0.0) << which;
  }
  EXPECT_EQ(chance_of(0, 1e308, 1e308, -1e308), 0.0) << "a product beyond all numbers";
}

TEST_P(ReplicaSwapKernel, TriesEvenAndOddPairsInTurn) {
  Ladders l = make_ladders(5, 3, 2);
  const Ladders once = run(queue(), l);
  EXPECT_EQ(once.attempts, (std::vector<std::uint64_t>{3, 0, 3, 0}));
  const Ladders twice = run(queue(), l, 2);
  EXPECT_EQ(twice.attempts, (std::vector<std::uint64_t>{3, 3, 3, 3}));
  EXPECT_EQ(twice.totals[0], 6u);
}

TEST_P(ReplicaSwapKernel, TriesOnePairAfterTheOther) {
  Ladders l = make_ladders(4, 2, 2);
  l.mode = PairMode::sequential;
  EXPECT_EQ(run(queue(), l, 1).attempts, (std::vector<std::uint64_t>{2, 0, 0}));
  EXPECT_EQ(run(queue(), l, 2).attempts, (std::vector<std::uint64_t>{2, 2, 0}));
  EXPECT_EQ(run(queue(), l, 7).attempts, (std::vector<std::uint64_t>{6, 4, 4}));
}

// 4096 fair draws: within 4.5 standard deviations of a half.
TEST_P(ReplicaSwapKernel, DrawsTheParityFairly) {
  Ladders l = make_ladders(3, 64, 3);
  l.mode = PairMode::random_adjacent;
  const Ladders out = run(queue(), l, 64);
  EXPECT_EQ(out.attempts[0] + out.attempts[1], 4096u);
  EXPECT_NEAR(static_cast<double>(out.attempts[0]), 2048, 4.5 * 32);
}

// Each of the three matchings of four rungs has a third of 6144 draws: 4.5 standard deviations.
TEST_P(ReplicaSwapKernel, DrawsMatchingsFairly) {
  Ladders l = make_ladders(4, 96, 4);
  l.mode = PairMode::all_pairs;
  l.beta.assign(l.beta.size(), 1.0);  // every pair swaps
  std::map<std::vector<std::int32_t>, int> seen;
  for (std::uint64_t step = 0; step < 64; ++step) {
    l.control.step = step;
    const Ladders out = run(queue(), l);
    for (std::size_t g = 0; g < 96; ++g) {
      std::vector<std::int32_t> partner;
      for (std::size_t r = 0; r < 4; ++r) {
        partner.push_back(out.slot_of[4 * g + r] - static_cast<std::int32_t>(4 * g));
      }
      ++seen[partner];
    }
  }
  ASSERT_EQ(seen.size(), 3u);
  for (const auto& [partner, count] : seen)
    EXPECT_NEAR(count, 2048, 4.5 * std::sqrt(6144 * 2 / 9.0));
}

TEST_P(ReplicaSwapKernel, WaitsForItsInterval) {
  Ladders l = make_ladders(2, 5, 5);
  l.cadence.interval = 3;
  for (SwapLadder& state : l.state) state.interval = 3;
  EXPECT_EQ(run(queue(), l, 2).totals[0], 0u);
  EXPECT_EQ(run(queue(), l, 3).totals[0], 5u);
  EXPECT_EQ(run(queue(), l, 8).totals[0], 10u);
}

// 8192 draws with p = 0.3: within 4.5 standard deviations.
TEST_P(ReplicaSwapKernel, SwapsWithAProbability) {
  Ladders l = make_ladders(2, 64, 6);
  l.cadence.kind = CadenceKind::stochastic;
  l.cadence.probability = 0.3;
  EXPECT_NEAR(static_cast<double>(run(queue(), l, 128).totals[0]), 0.3 * 8192,
              4.5 * std::sqrt(8192 * 0.21));
  l.cadence.probability = 1;
  EXPECT_EQ(run(queue(), l, 3).totals[0], 192u);
}

TEST_P(ReplicaSwapKernel, AdaptsItsIntervalUntilTheEndOfTheBurnIn) {
  Ladders l = make_ladders(2, 1, 7);
  l.beta = {1, 1};  // always accepted: swap less and less ... or more often, down to `least`
  l.cadence.kind = CadenceKind::adaptive;
  l.cadence.window = 2;
  l.cadence.most = 20;
  l.cadence.burn_in = ~0ull;
  l.state[0].interval = 10;
  // With two rungs every second phase has no pair; the first window has one attempt, accepted.
  EXPECT_EQ(run(queue(), l, 20).state[0].interval, 8.0);
  l.beta = {1, infinity};
  l.energy[0] = 1;
  l.energy[1] = 0;  // never accepted
  EXPECT_EQ(run(queue(), l, 20).state[0].interval, 12.5);
  EXPECT_EQ(run(queue(), l, 2000).state[0].interval, 20.0);
  l.cadence.burn_in = 19;  // the last phase of the window begins at step 19
  EXPECT_EQ(run(queue(), l, 2000).state[0].interval, 10.0);
}

TEST_P(ReplicaSwapKernel, CountsRoundTrips) {
  // Everything swaps: even-odd carries each replica straight along the ladder and back, 2 L phases
  // for a round trip, so that L replicas end one every second phase.
  Ladders l = make_ladders(6, 2, 8);
  l.beta.assign(l.beta.size(), 1.0);
  const Ladders out = run(queue(), l, 120);
  EXPECT_EQ(out.totals[0], 240u);
  const std::uint64_t trips = out.totals[1];
  EXPECT_EQ(trips, std::accumulate(out.round_trips.begin(), out.round_trips.end(), 0ull));
  EXPECT_NEAR(static_cast<double>(trips), 120, 12) << "half a trip a phase, less the first ones";
}

TEST_P(ReplicaSwapKernel, DoesNothingOnceStoppedOrInATickThatIsCutShort) {
  Ladders l = make_ladders(4, 3, 9);
  l.control.stop = DeviceStop::target;
  Ladders expected = l;
  expected.control = {};
  expect_same(run(queue(), l), expected);

  l.control = {};
  l.sweeps_per_tick = 5;
  l.control.step_limit = 4;
  expect_same(run(queue(), l), expected);
  l.control.tick_sweeps = 3;  // the rest of a tick that was cut before
  EXPECT_EQ(run(queue(), l).totals[0], 3u);
}

TEST_P(ReplicaSwapKernel, LeavesASingleRungAlone) {
  const Ladders l = make_ladders(1, 7, 10);
  const Ladders out = run(queue(), l, 3);
  EXPECT_EQ(out.totals[0], 0u);
  expect_permutation(out);
}

struct Shape {
  std::int64_t rungs, ladders;
};
constexpr Shape shapes[] = {{1, 1},   {1, 33},  {2, 1},   {2, 700},  {3, 11},  {4, 8},
                            {7, 129}, {8, 64},  {31, 2},  {32, 40},  {33, 9},  {171, 5},
                            {257, 3}, {512, 2}, {513, 2}, {1023, 1}, {1024, 2}};

TEST_P(ReplicaSwapKernel, MatchesCpuAndStaysAPermutation) {
  for (const Shape shape : shapes) {
    for (const PairMode mode : {PairMode::even_odd, PairMode::random_adjacent, PairMode::sequential,
                                PairMode::all_pairs}) {
      for (const CadenceKind kind :
           {CadenceKind::fixed, CadenceKind::adaptive, CadenceKind::stochastic}) {
        Ladders l = make_ladders(shape.rungs, shape.ladders, idx(shape.rungs));
        l.mode = mode;
        l.cadence.kind = kind;
        l.cadence.probability = 0.6;
        l.cadence.window = 1;
        l.cadence.burn_in = 8;
        l.control.step = 0xFFFFFFFDu;
        l.energy[0] = infinity;
        SCOPED_TRACE(testing::Message() << shape.rungs << " rungs, " << shape.ladders
                                        << " ladders, mode " << static_cast<int>(mode));
        const Ladders out = run(queue(), l, 6);
        expect_same(out, run(cpu_queue(), l, 6));
        expect_permutation(out);
        EXPECT_EQ(out.totals[0] > 0, shape.rungs > 1);
      }
    }
  }
}

// The rule in plain words: one phase of even pairs against a loop written here.
TEST_P(ReplicaSwapKernel, FollowsTheNamedDraws) {
  const Ladders l = make_ladders(8, 50, 11);
  Ladders expected = l;
  for (std::size_t g = 0; g < 50; ++g) {
    for (std::size_t r = 0; r + 1 < 8; r += 2) {
      const std::size_t a = 8 * g + r, b = a + 1;
      const double x = (l.beta[a] - l.beta[b]) * (l.energy[a] - l.energy[b]);
      const DrawName name{l.names.key[8 * g], 0, 0, RngDomain::swap, 0};
      const double u = draw_word(name, static_cast<std::uint32_t>(r));
      if (u < std::floor(0x1p32 * std::min(1.0, exact::exp(x)))) {
        std::swap(expected.rung_of[a], expected.rung_of[b]);
        std::swap(expected.slot_of[a], expected.slot_of[b]);
      }
    }
  }
  const Ladders out = run(queue(), l);
  EXPECT_EQ(out.rung_of, expected.rung_of);
  EXPECT_EQ(out.slot_of, expected.slot_of);
  EXPECT_NE(out.rung_of, l.rung_of);
}

}  // namespace
}  // namespace kiln::test::replica_swap_test
