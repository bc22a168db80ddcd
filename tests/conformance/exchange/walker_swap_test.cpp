// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/walker_swap.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Named draws and exact arithmetic.
KILN_CONFORMANCE_CASE(WalkerSwap, exact)

namespace kiln::test::walker_swap_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class WalkerSwapKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(WalkerSwapKernel);

/// Everything that walker_swap reads and writes, on the host.
struct Walkers {
  std::int64_t groups = 1, rungs = 3, walkers = 2;
  std::vector<double> energy, best_energy;  // [slots]
  std::vector<double> beta, lambda;         // [numbers], lambda may be empty
  std::vector<double> base, term;           // [slots]
  std::vector<std::int32_t> rung_of, slot_of, best_rung;
  std::vector<LadderEnd> last_end;
  std::vector<WalkerCounts> counts;
  HostNames names;
  RunControl control;
  std::uint32_t sweeps_per_tick = 1, interval = 1;
  double inverse_scale = 1;

  std::int64_t size() const { return rungs + walkers; }
};

Walkers make_walkers(std::int64_t groups, std::int64_t rungs, std::int64_t walkers,
                     std::uint64_t seed) {
  TestRandom random(seed);
  Walkers w;
  w.groups = groups;
  w.rungs = rungs;
  w.walkers = walkers;
  const std::size_t replicas = idx(groups * w.size()), slots = (replicas + 31) / 32 * 32;
  for (std::size_t s = 0; s < slots; ++s) {
    w.base.push_back(static_cast<double>(random.between(-6, 6)));
    w.term.push_back(static_cast<double>(random.between(-3, 3)));
    w.energy.push_back(w.base[s] + w.term[s]);
    w.best_energy.push_back(static_cast<double>(random.between(-6, 3)));
  }
  w.rung_of.assign(slots, 0);
  w.slot_of.assign(replicas, 0);
  w.beta.assign(replicas, 0.0);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t k = 0; k < w.size(); ++k) {
      const std::int64_t number =
          k < rungs ? g * rungs + k : groups * rungs + g * walkers + k - rungs;
      const std::int64_t slot = g * w.size() + k;
      w.slot_of[idx(number)] = static_cast<std::int32_t>(slot);
      w.rung_of[idx(slot)] = static_cast<std::int32_t>(number);
      w.beta[idx(number)] = k < rungs ? 0.1 + 0.2 * static_cast<double>(k) : 0.8 * random.unit();
    }
  }
  w.best_rung.assign(slots, 7);
  w.last_end.assign(slots, LadderEnd::hot);
  w.counts.assign(idx(groups), {});
  w.names = make_names(static_cast<std::int64_t>(slots), 1, seed);
  for (std::size_t s = 0; s < replicas; ++s) w.names.key[s] += s / idx(w.size());
  return w;
}

Walkers run(Queue& queue, Walkers w, int calls = 1) {
  const DeviceArray<double> energy(queue, w.energy), best(queue, w.best_energy),
      beta(queue, w.beta), lambda(queue, w.lambda), base(queue, w.base), term(queue, w.term);
  DeviceArray<std::int32_t> rung_of(queue, w.rung_of), slot_of(queue, w.slot_of),
      best_rung(queue, w.best_rung);
  DeviceArray<LadderEnd> last_end(queue, w.last_end);
  DeviceArray<WalkerCounts> counts(queue, w.counts);
  const DeviceNames names(queue, w.names);
  for (int call = 0; call < calls; ++call) {
    const DeviceArray<RunControl> control = upload_control(queue, w.control);
    FamilyEnergies family;
    if (!w.lambda.empty()) family = {base.view(), term.view(), lambda.view()};
    queue.launch(WalkerSwap{energy.view(), best.view(), beta.view(), family, rung_of.view(),
                            slot_of.view(), best_rung.view(), last_end.view(), counts.view(),
                            names.view(), control.data(), w.rungs, w.walkers, w.sweeps_per_tick,
                            w.interval, w.inverse_scale});
    w.control.step += w.sweeps_per_tick;
  }
  w.rung_of = rung_of.download();
  w.slot_of = slot_of.download();
  w.best_rung = best_rung.download();
  w.last_end = last_end.download();
  w.counts = counts.download();
  return w;
}

void expect_same(const Walkers& got, const Walkers& expected) {
  EXPECT_EQ(got.rung_of, expected.rung_of);
  EXPECT_EQ(got.slot_of, expected.slot_of);
  EXPECT_EQ(got.best_rung, expected.best_rung);
  EXPECT_EQ(got.last_end, expected.last_end);
  for (std::size_t g = 0; g < got.counts.size(); ++g) {
    EXPECT_EQ(got.counts[g].attempts, expected.counts[g].attempts) << g;
    EXPECT_EQ(got.counts[g].accepted, expected.counts[g].accepted) << g;
  }
}

// The header in plain words.
Walkers plain(Walkers w) {
  for (std::int64_t g = 0; g < w.groups; ++g) {
    for (std::int64_t k = 0; k < w.walkers; ++k) {
      const auto slot = idx(w.slot_of[idx(w.groups * w.rungs + g * w.walkers + k)]);
      if (w.energy[slot] < w.best_energy[slot]) {
        w.best_rung[slot] = static_cast<std::int32_t>(w.rungs + k);
      }
    }
    for (std::int64_t k = 0; k < w.walkers; ++k) {
      const std::size_t number = idx(w.groups * w.rungs + g * w.walkers + k);
      std::size_t rung = idx(g * w.rungs);
      for (std::size_t r = rung; r < idx((g + 1) * w.rungs); ++r) {
        if (std::abs(w.beta[r] - w.beta[number]) <= std::abs(w.beta[rung] - w.beta[number])) {
          rung = r;
        }
      }
      const std::size_t a = idx(w.slot_of[number]), b = idx(w.slot_of[rung]);
      double gain = (w.beta[number] - w.beta[rung]) * (w.energy[a] - w.energy[b]);
      if (!w.lambda.empty()) {
        const double la = w.lambda[number], lb = w.lambda[rung];
        // What the two energies are before and after, by the definition.
        const double before = w.beta[number] * (w.base[a] + la * w.term[a]) +
                              w.beta[rung] * (w.base[b] + lb * w.term[b]);
        const double after = w.beta[number] * (w.base[b] + la * w.term[b]) +
                             w.beta[rung] * (w.base[a] + lb * w.term[a]);
        gain = before - after;
      }
      ++w.counts[idx(g)].attempts;
      const DrawName name{w.names.key[idx(g * w.size())], w.control.step, 0, RngDomain::swap, 5};
      const double u = draw_word(name, static_cast<std::uint32_t>(k));
      if (!(u < std::floor(0x1p32 * std::min(1.0, exact::exp(gain))))) continue;
      std::swap(w.slot_of[number], w.slot_of[rung]);
      std::swap(w.rung_of[a], w.rung_of[b]);
      w.last_end[b] = LadderEnd::none;
      ++w.counts[idx(g)].accepted;
    }
  }
  return w;
}

TEST_P(WalkerSwapKernel, IsTheDefinition) {
  const Walkers w = make_walkers(50, 4, 3, 1);
  const Walkers out = run(queue(), w);
  expect_same(out, plain(w));
  EXPECT_NE(out.slot_of, w.slot_of);
}

TEST_P(WalkerSwapKernel, OfAFamilyWeighsFourEnergies) {
  Walkers w = make_walkers(50, 4, 3, 2);
  const Walkers without = run(queue(), w);
  for (std::size_t i = 0; i < w.beta.size(); ++i)
    w.lambda.push_back(0.25 * static_cast<double>(i % 5));
  const Walkers out = run(queue(), w);
  expect_same(out, plain(w));
  EXPECT_NE(out.slot_of, without.slot_of);
}

TEST_P(WalkerSwapKernel, StaysAPermutationWithTheBitsOfTheCpu) {
  for (const std::int64_t groups : {1, 5, 64, 65, 700}) {
    for (const std::int64_t rungs : {1, 2, 31}) {
      for (const std::int64_t walkers : {1, 4}) {
        Walkers w = make_walkers(groups, rungs, walkers, idx(groups + rungs));
        w.interval = 2;
        w.control.step = 0xFFFFFFFDu;
        w.energy[0] = infinity;
        const Walkers out = run(queue(), w, 5);
        expect_same(out, run(cpu_queue(), w, 5));
        EXPECT_EQ(out.counts[0].attempts % idx(walkers), 0u);
        EXPECT_GT(out.counts[0].attempts, 0u);
        for (std::size_t number = 0; number < out.slot_of.size(); ++number) {
          const std::int32_t slot = out.slot_of[number];
          ASSERT_EQ(out.rung_of[idx(slot)], static_cast<std::int32_t>(number));
        }
      }
    }
  }
}

TEST_P(WalkerSwapKernel, KeepsItsInterval) {
  Walkers w = make_walkers(2, 3, 1, 3);
  w.interval = 3;
  EXPECT_EQ(run(queue(), w, 2).counts[1].attempts, 0u);
  EXPECT_EQ(run(queue(), w, 3).counts[1].attempts, 1u);
  w.sweeps_per_tick = 4;
  EXPECT_EQ(run(queue(), w, 6).counts[1].attempts, 2u);
}

TEST_P(WalkerSwapKernel, DoesNothingOnceStoppedOrInATickThatIsCutShort) {
  Walkers w = make_walkers(3, 3, 2, 4);
  w.control.stop = DeviceStop::target;
  Walkers expected = w;
  expect_same(run(queue(), w), expected);
  w.control = {};
  w.sweeps_per_tick = 5;
  w.control.step_limit = 4;
  expect_same(run(queue(), w), expected);
}

TEST_P(WalkerSwapKernel, TakesNoGroupsAndNoWalkers) {
  EXPECT_TRUE(run(queue(), make_walkers(0, 3, 2, 5)).counts.empty());
  const Walkers none = make_walkers(3, 3, 0, 5);
  expect_same(run(queue(), none), none);
}

}  // namespace
}  // namespace kiln::test::walker_swap_test
