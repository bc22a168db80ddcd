// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Exchange phases of blocks of 32 ladders: ReplicaSwap and LadderStatistics on the layout of
// LadderPlaces, against plain loops over ladders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kiln/kernels/exchange/ladder_statistics.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"

#include "backends/backends.hpp"

namespace kiln::test::block_swap_test {
namespace {

class BlockSwap : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BlockSwap);

/// Everything that a phase of blocks reads and writes, on the host.
struct Blocks {
  std::int64_t rungs = 2, blocks = 1;
  std::vector<double> energy;           // [slots]
  std::vector<double> beta;             // [blocks * rungs]
  std::vector<std::uint64_t> key;       // [slots]
  std::vector<SwapLadder> state;        // [32 blocks]
  std::vector<LadderEnd> last_end;      // [slots]
  std::vector<std::uint32_t> trips;     // [slots]
  std::vector<std::uint32_t> swapping;  // [blocks * rungs]
  std::vector<std::int32_t> partner;    // the same, for all pairs
  std::vector<std::uint64_t> attempts, accepted, chance, totals;
  RunControl control;
  PairMode mode = PairMode::even_odd;
  SwapCadence cadence;

  std::size_t slots() const { return energy.size(); }
  // Where the replica at a rung of a ladder lies.
  std::size_t slot(std::int64_t ladder, std::int64_t rung) const {
    return idx((ladder / 32 * rungs + rung) * 32 + ladder % 32);
  }
};

Blocks make_blocks(std::int64_t rungs, std::int64_t blocks, PairMode mode, CadenceKind kind) {
  TestRandom random(idx(rungs + 1000 * blocks));
  Blocks b;
  b.rungs = rungs;
  b.blocks = blocks;
  b.mode = mode;
  b.cadence.kind = kind;
  b.cadence.probability = 0.6;
  b.cadence.window = 1;
  b.cadence.target = 0.75;
  b.cadence.factor = 2;
  b.cadence.burn_in = ~0ull;
  const std::int64_t slots = 32 * rungs * blocks;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    b.energy.push_back(static_cast<double>(random.between(-6, 6)));
    b.key.push_back(static_cast<std::uint64_t>(77 + slot / (32 * rungs)));
    b.last_end.push_back(static_cast<LadderEnd>(random.between(0, 2)));
    b.trips.push_back(static_cast<std::uint32_t>(random.between(0, 9)));
  }
  b.energy[0] = INFINITY;
  for (std::int64_t i = 0; i < rungs * blocks; ++i) {
    b.beta.push_back(0.1 + 2.0 * static_cast<double>(i % rungs) / static_cast<double>(rungs));
  }
  b.state.assign(idx(32 * blocks), {});
  b.swapping.assign(idx(rungs * blocks), 0xDEADBEEFu);
  if (mode == PairMode::all_pairs) b.partner.assign(idx(rungs * blocks), -1);
  b.attempts.assign(idx(std::max<std::int64_t>(1, rungs - 1)), 0);
  b.accepted = b.chance = b.attempts;
  b.totals.assign(2, 0);
  b.control.step = 0xFFFFFFFDu;  // the calls cross 2^32
  return b;
}

Blocks run(Queue& queue, Blocks b, int calls) {
  DeviceArray<double> energy(queue, b.energy);
  const DeviceArray<double> beta(queue, b.beta);
  const DeviceArray<std::uint64_t> key(queue, b.key);
  DeviceArray<SwapLadder> state(queue, b.state);
  DeviceArray<LadderEnd> last_end(queue, b.last_end);
  DeviceArray<std::uint32_t> trips(queue, b.trips), swapping(queue, b.swapping);
  DeviceArray<std::int32_t> partner(queue, b.partner);
  DeviceArray<std::uint64_t> attempts(queue, b.attempts), accepted(queue, b.accepted),
      chance(queue, b.chance), totals(queue, b.totals);
  const std::int64_t gaps = b.rungs - 1;
  for (int call = 0; call < calls; ++call, ++b.control.step) {
    const DeviceArray<RunControl> control = upload_control(queue, b.control);
    ReplicaSwap kernel;
    kernel.energy = {energy.data(), energy.size()};
    kernel.beta = beta.view();
    kernel.ladders = state.view();
    kernel.last_end = last_end.view();
    kernel.round_trips = trips.view();
    kernel.counts = {
        {attempts.data(), gaps}, {accepted.data(), gaps}, {chance.data(), gaps}, totals.view()};
    kernel.draw_ids.key = key.view();
    kernel.control = control.data();
    kernel.rungs = b.rungs;
    kernel.mode = b.mode;
    kernel.cadence = b.cadence;
    kernel.blocks = {energy.view(), swapping.view(), {}};
    if (!b.partner.empty()) kernel.blocks.partner = partner.view();
    queue.launch(kernel);
  }
  b.energy = energy.download();
  b.state = state.download();
  b.last_end = last_end.download();
  b.trips = trips.download();
  b.swapping = swapping.download();
  b.partner = partner.download();
  b.attempts = attempts.download();
  b.accepted = accepted.download();
  b.chance = chance.download();
  b.totals = totals.download();
  return b;
}

// The pairs of a ladder in a phase, as lists of two rungs; the adaptive cadence is not known here.
std::vector<std::pair<std::int64_t, std::int64_t>> pairs_of(Blocks& b, std::int64_t ladder) {
  const DrawName own{b.key[b.slot(ladder, 0)], b.control.step,
                     static_cast<std::uint32_t>(ladder % 32), RngDomain::swap, 0};
  DrawName parity = own, due = own, matching = own;
  parity.block = 1;
  due.block = 2;
  matching.block = 3;
  matching.replica = 0;
  if (b.rungs < 2) {
    ++b.state[idx(ladder)].waited;
    return {};
  }
  if (b.cadence.kind == CadenceKind::stochastic &&
      draw_word(due, 0) >= std::ldexp(b.cadence.probability, 32)) {
    ++b.state[idx(ladder)].waited;
    return {};
  }
  b.state[idx(ladder)].waited = 0;
  const std::uint64_t phase = b.state[idx(ladder)].phases++;
  ++b.totals[0];
  std::vector<std::int64_t> order(idx(b.rungs));
  std::iota(order.begin(), order.end(), 0);
  std::size_t first = 0, size = order.size() / 2;
  switch (b.mode) {
    case PairMode::even_odd:
      first = phase % 2;
      break;
    case PairMode::random_adjacent:
      first = draw_word(parity, 0) >> 31;
      break;
    case PairMode::sequential:
      first = phase % (order.size() - 1);
      break;
    case PairMode::all_pairs:
      std::ranges::stable_sort(order, {}, [&](std::int64_t rung) {
        return draw_word(matching, static_cast<std::uint32_t>(rung));
      });
      break;
  }
  if (b.mode == PairMode::sequential) size = 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::size_t p = 0; p < size && first + 2 * p + 1 < order.size(); ++p) {
    pairs.emplace_back(order[first + 2 * p], order[first + 2 * p + 1]);
  }
  return pairs;
}

void swap_plainly(Blocks& b, std::int64_t ladder, std::int64_t x, std::int64_t y) {
  const std::int64_t low = std::min(x, y), high = std::max(x, y);
  const std::size_t at = b.slot(ladder, x), other = b.slot(ladder, y);
  const std::uint64_t threshold =
      swap_threshold(b.beta[idx(x)], b.beta[idx(y)], b.energy[at], b.energy[other], 1);
  const DrawName name{b.key[at], b.control.step, static_cast<std::uint32_t>(ladder % 32),
                      RngDomain::swap, 0};
  const bool swapped = draw_word(name, static_cast<std::uint32_t>(low)) < threshold;
  if (high - low == 1) {
    ++b.attempts[idx(low)];
    b.accepted[idx(low)] += swapped ? 1 : 0;
    b.chance[idx(low)] += threshold >> 8;
  }
  if (!swapped) return;
  std::swap(b.energy[at], b.energy[other]);
  std::swap(b.last_end[at], b.last_end[other]);
  std::swap(b.trips[at], b.trips[other]);
  const std::size_t number = b.slot(ladder, low) / 32;
  b.swapping[number] |= 1u << (ladder % 32);
  if (!b.partner.empty()) b.partner[number] = static_cast<std::int32_t>(high);
}

Blocks plain(Blocks b, int calls) {
  for (int call = 0; call < calls; ++call, ++b.control.step) {
    std::ranges::fill(b.swapping, 0u);
    for (std::int64_t ladder = 0; ladder < 32 * b.blocks; ++ladder) {
      const std::uint64_t phases = b.totals[0];
      for (const auto& [x, y] : pairs_of(b, ladder)) swap_plainly(b, ladder, x, y);
      if (b.totals[0] == phases) continue;
      const std::size_t hot = b.slot(ladder, 0), cold = b.slot(ladder, b.rungs - 1);
      const LadderEnd of_cold = b.last_end[cold];
      if (b.last_end[hot] == LadderEnd::cold) {
        ++b.trips[hot];
        ++b.totals[1];
      }
      b.last_end[hot] = LadderEnd::hot;
      if (of_cold == LadderEnd::hot) b.last_end[cold] = LadderEnd::cold;
    }
  }
  return b;
}

void expect_same(const Blocks& got, const Blocks& expected) {
  ASSERT_EQ(bits_of(got.energy), bits_of(expected.energy));
  ASSERT_TRUE(got.last_end == expected.last_end);
  ASSERT_EQ(got.trips, expected.trips);
  ASSERT_EQ(got.swapping, expected.swapping);
  for (std::size_t i = 0; i < got.partner.size(); ++i) {
    if (got.swapping[i] != 0) {
      ASSERT_EQ(got.partner[i], expected.partner[i]) << i;
    }
  }
  ASSERT_EQ(got.attempts, expected.attempts);
  ASSERT_EQ(got.accepted, expected.accepted);
  ASSERT_EQ(got.chance, expected.chance);
  ASSERT_EQ(got.totals, expected.totals);
  for (std::size_t i = 0; i < got.state.size(); ++i) {
    ASSERT_EQ(got.state[i].phases, expected.state[i].phases) << i;
    ASSERT_EQ(got.state[i].waited, expected.state[i].waited) << i;
    ASSERT_EQ(bits_of({got.state[i].interval}), bits_of({expected.state[i].interval})) << i;
  }
}

constexpr PairMode modes[] = {PairMode::even_odd, PairMode::random_adjacent, PairMode::sequential,
                              PairMode::all_pairs};

TEST_P(BlockSwap, IsThePhaseOfEachLadder) {
  for (const std::int64_t rungs : {1, 2, 3, 8, 31, 32, 33, 100}) {
    for (const std::int64_t blocks : {1, 3}) {
      for (const PairMode mode : modes) {
        for (const CadenceKind kind : {CadenceKind::fixed, CadenceKind::stochastic}) {
          SCOPED_TRACE(std::to_string(blocks) + " blocks of " + std::to_string(rungs) +
                       " rungs, mode " + std::to_string(static_cast<int>(mode)));
          const Blocks b = make_blocks(rungs, blocks, mode, kind);
          for (const int calls : {1, 6}) expect_same(run(queue(), b, calls), plain(b, calls));
        }
      }
    }
  }
}

// Ladders of a block then wait for different calls.
TEST_P(BlockSwap, MatchesCpuWithAdaptiveCadence) {
  for (const PairMode mode : modes) {
    for (const std::int64_t rungs : {2, 9, 40, 1024}) {
      const Blocks b = make_blocks(rungs, 2, mode, CadenceKind::adaptive);
      const Blocks got = run(queue(), b, 12);
      expect_same(got, run(cpu_queue(), b, 12));
      if (rungs < 100) {
        EXPECT_LT(got.totals[0], 12u * 64u) << "some calls are no phase";
      }
      if (rungs == 9 && mode != PairMode::all_pairs) {  // which refuses most pairs of all ladders
        EXPECT_FALSE(std::ranges::all_of(got.state, [&](const SwapLadder& one) {
          return one.phases == got.state.front().phases;
        })) << "all ladders have waited alike";
      }
    }
  }
}

TEST_P(BlockSwap, LeavesATickWithoutAPhaseAlone) {
  Blocks b = make_blocks(8, 2, PairMode::even_odd, CadenceKind::fixed);
  b.control.stop = DeviceStop::step_limit;
  expect_same(run(queue(), b, 1), b);
}

// The sums of a rung depend on what its ladders have, not on where they lie.
TEST_P(BlockSwap, KeepsTheSumsOfRungs) {
  for (const std::int64_t rungs : {1, 5, 32, 40}) {
    for (const std::int64_t blocks : {1, 2, 11}) {
      const std::int64_t ladders = 32 * blocks;
      const Blocks b = make_blocks(rungs, blocks, PairMode::even_odd, CadenceKind::fixed);
      std::vector<double> apart(b.slots()), beta(b.slots());
      std::vector<std::int32_t> numbers(b.slots());
      std::iota(numbers.begin(), numbers.end(), 0);
      for (std::int64_t ladder = 0; ladder < ladders; ++ladder) {
        for (std::int64_t rung = 0; rung < rungs; ++rung) {
          apart[idx(ladder * rungs + rung)] = b.energy[b.slot(ladder, rung)];
          beta[idx(ladder * rungs + rung)] = b.beta[idx(rung)];
        }
      }
      const auto sums_of = [&](Queue& on, const std::vector<double>& energies,
                               const std::vector<double>& betas, bool in_blocks) {
        const DeviceArray<double> energy(on, energies), best(on, energies), at(on, betas);
        const DeviceArray<std::int32_t> slot_of(on, numbers);
        DeviceArray<std::int32_t> rung(on, numbers);
        DeviceArray<RungSums> sums(on, std::vector<RungSums>(idx(rungs)));
        DeviceArray<RungCell> cells(
            on, std::vector<RungCell>(idx(rungs * LadderStatistics::cells_of_rung)));
        const DeviceArray<RunControl> control = upload_control(on, b.control);
        LadderStatistics kernel{energy.view(), best.view(), at.view(), slot_of.view(),
                                rung.view(),   sums.view(), ladders,   control.data()};
        kernel.cells = cells.view();
        kernel.in_blocks = in_blocks;
        on.launch(kernel);
        std::vector<double> values;
        for (const RungSums& s : sums.download()) {
          values.insert(values.end(), {s.reference, s.sum, s.squares, s.best, s.forward.value,
                                       s.backward.value, static_cast<double>(s.count)});
        }
        for (const RungCell& c : cells.download()) {
          values.insert(values.end(), {c.forward.value, c.backward.value});
        }
        return bits_of(values);
      };
      EXPECT_EQ(sums_of(queue(), b.energy, b.beta, true), sums_of(cpu_queue(), apart, beta, false));
    }
  }
}

}  // namespace
}  // namespace kiln::test::block_swap_test
