// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// replica_swap between rungs of different Hamiltonians E_lambda = A + lambda B.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "kiln/kernels/exchange/replica_swap.hpp"

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"

namespace kiln::test::replica_swap_family_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class ReplicaSwapFamily : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ReplicaSwapFamily);

/// Ladders of a group each, with `spare` slots after each ladder that never exchange.
struct FamilyLadders {
  std::int64_t rungs = 2, ladders = 1, spare = 0;
  std::vector<double> base, term;    // [slots]
  std::vector<double> beta, lambda;  // [ladders * rungs]
  std::vector<std::int32_t> rung_of, slot_of;
  std::vector<std::uint64_t> attempts, chance;
  HostNames names;
  PairMode mode = PairMode::even_odd;
  double inverse_scale = 1;
};

FamilyLadders make_ladders(std::int64_t rungs, std::int64_t ladders, std::int64_t spare,
                           std::uint64_t seed) {
  TestRandom random(seed);
  FamilyLadders l;
  l.rungs = rungs;
  l.ladders = ladders;
  l.spare = spare;
  const std::int64_t size = rungs + spare, slots = (ladders * size + 31) / 32 * 32;
  for (std::int64_t s = 0; s < slots; ++s) {
    l.base.push_back(static_cast<double>(random.between(-5, 5)));
    l.term.push_back(static_cast<double>(random.between(-3, 3)));
  }
  l.rung_of.assign(idx(slots), -1);
  for (std::int64_t i = 0; i < ladders * rungs; ++i) {
    l.beta.push_back(0.1 + 0.1 * static_cast<double>(i % rungs % 3));
    l.lambda.push_back(0.4 * static_cast<double>(i % rungs) - 0.5);
    const std::int64_t slot = i / rungs * size + i % rungs;
    l.slot_of.push_back(static_cast<std::int32_t>(slot));
    l.rung_of[idx(slot)] = static_cast<std::int32_t>(i);
  }
  l.names = make_names(slots, 1, seed);
  for (std::int64_t s = 0; s < ladders * size; ++s) {
    l.names.key[idx(s)] += static_cast<std::uint64_t>(s / size);
  }
  return l;
}

FamilyLadders run(Queue& queue, FamilyLadders l, int calls = 1) {
  const DeviceArray<double> base(queue, l.base), term(queue, l.term), beta(queue, l.beta),
      lambda(queue, l.lambda);
  const DeviceArray<double> energy(queue, std::vector<double>(l.base.size(), not_a_number));
  DeviceArray<std::int32_t> rung_of(queue, l.rung_of), slot_of(queue, l.slot_of);
  DeviceArray<SwapLadder> state(queue, std::vector<SwapLadder>(idx(l.ladders)));
  DeviceArray<LadderEnd> last_end(queue, std::vector<LadderEnd>(l.base.size()));
  DeviceArray<std::uint32_t> trips(queue, std::vector<std::uint32_t>(l.base.size()));
  const std::vector<std::uint64_t> none(idx(l.rungs - 1));
  DeviceArray<std::uint64_t> attempts(queue, none), accepted(queue, none), chance(queue, none),
      totals(queue, std::vector<std::uint64_t>(2));
  const DeviceNames names(queue, l.names);
  for (int call = 0; call < calls; ++call) {
    RunControl control;
    control.step = static_cast<std::uint64_t>(call);
    const DeviceArray<RunControl> device_control = upload_control(queue, control);
    ReplicaSwap kernel{energy.view(),
                       beta.view(),
                       rung_of.view(),
                       slot_of.view(),
                       state.view(),
                       last_end.view(),
                       trips.view(),
                       {attempts.view(), accepted.view(), chance.view(), totals.view()},
                       names.view(),
                       device_control.data(),
                       l.rungs,
                       l.mode,
                       {},
                       1,
                       l.inverse_scale};
    kernel.family = {base.view(), term.view(), lambda.view()};
    kernel.group_size = l.rungs + l.spare;
    queue.launch(kernel);
  }
  l.rung_of = rung_of.download();
  l.slot_of = slot_of.download();
  l.attempts = attempts.download();
  l.chance = chance.download();
  return l;
}

struct Rung {
  double beta, lambda, base, term;
};

/// The acceptance probability of two rungs that are tried once.
double chance_of(Queue& queue, const Rung& a, const Rung& b, double inverse_scale = 1) {
  FamilyLadders l = make_ladders(2, 1, 0, 1);
  l.beta = {a.beta, b.beta};
  l.lambda = {a.lambda, b.lambda};
  l.base[0] = a.base;
  l.base[1] = b.base;
  l.term[0] = a.term;
  l.term[1] = b.term;
  l.inverse_scale = inverse_scale;
  return std::ldexp(static_cast<double>(run(queue, l).chance[0]), -24);
}

TEST_P(ReplicaSwapFamily, WeighsFourEnergies) {
  // Worked by hand: E_0 = A, E_1 = A + B. Before: 0.5 * 2 + 1 * (1 + 1); after: 0.5 * 1 + 1 * (2 -
  // 1): the sum falls by 1.5, so the exchange is taken; the other way round it rises.
  EXPECT_EQ(chance_of(queue(), {0.5, 0, 2, -1}, {1, 1, 1, 1}), 1.0);
  EXPECT_NEAR(chance_of(queue(), {0.5, 0, 1, 1}, {1, 1, 2, -1}), std::exp(-1.5), 1e-7);
  EXPECT_NEAR(chance_of(queue(), {0.5, 0, 1, 1}, {1, 1, 2, -1}, 0.5), std::exp(-0.75), 1e-7);
  // At equal beta only B counts: exp(-beta (lambda_a - lambda_b) (B_b - B_a)).
  EXPECT_NEAR(chance_of(queue(), {2, 0.25, 9, 3}, {2, 0.75, -9, 2.5}), std::exp(-0.5), 1e-7);
  EXPECT_EQ(chance_of(queue(), {2, 0.25, 9, 2}, {2, 0.75, -9, 3}), 1.0);
}

TEST_P(ReplicaSwapFamily, IsTheTwoEnergyRuleWhereLambdaIsTheSame) {
  for (const double lambda : {0.0, 1.0, -2.0}) {
    const double a = 3 + lambda * 2, b = 1 + lambda * 1;
    const double expected = std::min(1.0, std::exp((0.25 - 1) * (a - b)));
    EXPECT_NEAR(chance_of(queue(), {0.25, lambda, 3, 2}, {1, lambda, 1, 1}), expected, 1e-7);
  }
}

TEST_P(ReplicaSwapFamily, DecidesAtTheEdges) {
  EXPECT_EQ(chance_of(queue(), {1, 0.5, 5, 1}, {1, 0.5, -5, 2}), 1.0) << "equal rungs";
  EXPECT_EQ(chance_of(queue(), {1, 0, 5, 1}, {infinity, 3, 5, 1}), 1.0) << "equal states";
  EXPECT_EQ(chance_of(queue(), {1, 0, 2, 0}, {infinity, 1, 1, 3}), 1.0) << "it falls by 2";
  EXPECT_EQ(chance_of(queue(), {1, 0, 2, 3}, {infinity, 1, 1, 3}), 0.0) << "it rises by 1";
  EXPECT_EQ(chance_of(queue(), {infinity, 1, 1, 3}, {1, 0, 2, 0}), 1.0);
  EXPECT_EQ(chance_of(queue(), {infinity, 1, 2, 0}, {1, 0, 1, 3}), 0.0);
  EXPECT_NEAR(chance_of(queue(), {1, 0, 1, 3}, {infinity, 1, 2, 2}), std::exp(-1.0), 1e-7)
      << "a tie of the cold rung leaves it to the other";
  EXPECT_NEAR(chance_of(queue(), {infinity, 1, 2, 2}, {1, 0, 1, 3}), std::exp(-1.0), 1e-7);
  EXPECT_EQ(chance_of(queue(), {infinity, 0, 1, 3}, {infinity, 1, 2, 2}), 0.0);
  EXPECT_EQ(chance_of(queue(), {infinity, 1, 2, 0}, {infinity, 0, 1, 0}), 1.0);
  for (const bool first : {true, false}) {
    for (int which = 0; which < 4; ++which) {
      double v[4] = {1, 0.5, 3, 4};
      v[which] = not_a_number;
      const Rung bad{v[0], v[1], v[2], v[3]}, good{2, 1, 5, 6};
      EXPECT_EQ(first ? chance_of(queue(), bad, good) : chance_of(queue(), good, bad), 0.0)
          << which;
    }
  }
}

// The rule by its definition: the change of the sum of all beta E, in plain words, and the keys of
// groups that are larger than their ladders.
TEST_P(ReplicaSwapFamily, FollowsTheNamedDraws) {
  for (const std::int64_t spare : {0, 3}) {
    const FamilyLadders l = make_ladders(6, 50, spare, 11);
    FamilyLadders expected = l;
    for (std::size_t g = 0; g < 50; ++g) {
      for (std::size_t r = 0; r + 1 < 6; r += 2) {
        const std::size_t i = 6 * g + r, j = i + 1;
        const std::size_t x = idx(l.slot_of[i]), y = idx(l.slot_of[j]);
        const auto energy = [&](std::size_t rung, std::size_t slot) {
          return l.beta[rung] * (l.base[slot] + l.lambda[rung] * l.term[slot]);
        };
        const double gain = energy(i, x) + energy(j, y) - energy(i, y) - energy(j, x);
        const std::size_t first = g * idx(6 + spare);
        const DrawName name{l.names.key[first], 0, 0, RngDomain::swap, 0};
        const double u = draw_word(name, static_cast<std::uint32_t>(r));
        if (u < std::floor(0x1p32 * std::min(1.0, std::exp(gain)))) {
          std::swap(expected.slot_of[i], expected.slot_of[j]);
          std::swap(expected.rung_of[x], expected.rung_of[y]);
        }
      }
    }
    const FamilyLadders out = run(queue(), l);
    EXPECT_EQ(out.rung_of, expected.rung_of);
    EXPECT_EQ(out.slot_of, expected.slot_of);
    EXPECT_NE(out.slot_of, l.slot_of);
  }
}

TEST_P(ReplicaSwapFamily, MatchesCpu) {
  for (const std::int64_t rungs : {2, 7, 33, 512}) {
    for (const PairMode mode : {PairMode::even_odd, PairMode::all_pairs}) {
      FamilyLadders l = make_ladders(rungs, 9, 2, idx(rungs));
      for (double& b : l.base) b *= 0.37;
      l.mode = mode;
      const FamilyLadders out = run(queue(), l, 6), cpu = run(cpu_queue(), l, 6);
      EXPECT_EQ(out.rung_of, cpu.rung_of);
      EXPECT_EQ(out.slot_of, cpu.slot_of);
      EXPECT_EQ(out.attempts, cpu.attempts);
      EXPECT_EQ(out.chance, cpu.chance);
    }
  }
}

}  // namespace
}  // namespace kiln::test::replica_swap_family_test
