// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/kernels/exchange/ladder_tick.hpp"
#include "kiln/kernels/sweeps/pairwise_energy.hpp"

#include "backends/backends.hpp"
#include "backends/device_best_log.hpp"
#include "models/models.hpp"

/// Ticks of ladders with all that they read and write, beside their parts on the CPU.
namespace kiln::test::ladder_ticks {

struct Case {
  Ising model;
  std::int64_t rungs = 4, blocks = 1;  // of 32 ladders
  std::uint32_t sweeps = 1;            // of a tick
  PairMode mode = PairMode::even_odd;
  SwapCadence cadence = {};
  bool best_first = false, held = false;
  bool cools = false;  // each sweep of a tick has another row of betas
  RunControl control = {};
  std::int64_t words() const { return rungs * blocks; }
  std::int64_t slots() const { return 32 * words(); }
};

template <class T>
DeviceArray<T> filled_array(Queue& queue, std::int64_t size, const T& value) {
  return DeviceArray<T>(queue, std::vector<T>(idx(size), value));
}

inline std::vector<std::uint32_t> random_words(std::int64_t n) {
  TestRandom random(idx(n));
  std::vector<std::uint32_t> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(static_cast<std::uint32_t>(random.word()));
  return all;
}

// Betas rise within a ladder; every second rung is a little colder than its neighbours would have.
inline std::vector<double> betas_of(const Case& c) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < c.words(); ++i) {
    all.push_back(0.05 * std::pow(1.13, static_cast<double>(i % c.rungs)));
  }
  return all;
}

// [sweeps][words], rising from sweep to sweep.
inline std::vector<double> betas_of_sweeps(const Case& c) {
  std::vector<double> all;
  for (std::uint32_t s = 0; s < c.sweeps; ++s) {
    for (const double beta : betas_of(c)) all.push_back(beta * (0.5 + s));
  }
  return all;
}

// Names and rungs of slots in blocks.
struct Places {
  explicit Places(const Case& c) {
    for (std::int64_t slot = 0; slot < c.slots(); ++slot) {
      key.push_back(0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(slot / (32 * c.rungs) + 1));
      replica.push_back(static_cast<std::uint32_t>(slot % (32 * c.rungs)));
      rung.push_back(static_cast<std::int32_t>(slot / 32));
    }
  }
  std::vector<std::uint64_t> key;
  std::vector<std::uint32_t> replica;
  std::vector<std::int32_t> rung;
};

// All that a tick reads and writes, on a queue.
class Ticking {
 public:
  Ticking(Queue& on, const Case& c) : queue(on), shape(c) { evaluate(); }

  LadderTick tick() {
    return {sweep(),
            phase(),
            {block_of(state).packed(), swapping.view(), partners(), shape.rungs, control.data(),
             shape.sweeps},
            end(),
            shape.best_first,
            readers.view()};
  }

  // Swaps two variables' spins in every replica, as cluster moves change states between ticks.
  void disturb() {
    std::vector<std::uint32_t> words = state.download();
    for (std::int64_t w = 0; w < shape.words(); ++w) {
      std::swap(words[idx(w)], words[idx((shape.model.n - 1) * shape.words() + w)]);
    }
    state = DeviceArray<std::uint32_t>(queue, words);
    evaluate();
  }

  Queue& queue;
  Case shape;
  DeviceModel model{queue, problems::plan_pairwise(shape.model)};
  Places places{shape};
  DeviceArray<std::uint32_t> state{queue, random_words(shape.model.n*shape.words())},
      best_state{queue, random_words(shape.model.n*shape.words())};
  DeviceArray<double> energy{queue, shape.slots()},
      best = filled_array(queue, shape.slots(), 1e300);
  DeviceArray<std::uint64_t> best_step = filled_array(queue, shape.slots(), std::uint64_t{7}),
                             accepted = filled_array(queue, shape.slots(), std::uint64_t{5});
  DeviceArray<std::uint32_t> improved = filled_array(queue, shape.words(), 0u),
                             swapping = filled_array(queue, shape.words(), 0xDEADBEEFu),
                             round_trips = filled_array(queue, shape.slots(), 0u);
  DeviceArray<std::uint32_t> readers = filled_array(queue, shape.blocks, 0u);
  DeviceArray<std::int32_t> partner = filled_array(queue, shape.words(), -1);
  DeviceArray<double> beta{queue, betas_of(shape)};
  DeviceArray<double> beta_of_sweep{queue, betas_of_sweeps(shape)};
  DeviceArray<std::int32_t> rung{queue, places.rung};
  DeviceArray<std::uint64_t> key{queue, places.key};
  DeviceArray<std::uint32_t> replica{queue, places.replica};
  DeviceArray<SwapLadder> ladders =
      filled_array(queue, 32 * shape.blocks, SwapLadder{.interval = shape.cadence.interval});
  DeviceArray<LadderEnd> last_end = filled_array(queue, shape.slots(), LadderEnd::none);
  DeviceArray<std::uint64_t> attempts = filled_array(queue, shape.rungs, std::uint64_t{0}),
                             pairs = filled_array(queue, shape.rungs, std::uint64_t{0}),
                             chance = filled_array(queue, shape.rungs, std::uint64_t{0}),
                             totals = filled_array(queue, 2, std::uint64_t{0});
  DeviceArray<RungSums> sums = filled_array(queue, shape.rungs, RungSums{});
  DeviceArray<RungCell> cells =
      filled_array(queue, shape.rungs* LadderStatistics::cells_of_rung, RungCell{});
  // A round of three calls, one of six, and a rest of five.
  DeviceArray<LadderPlan> plan = filled_array(queue, 1, LadderPlan{2, 3, 0, 1, 5});
  DeviceArray<double> barrier = filled_array(queue, shape.rungs, 0.0),
                      slope = filled_array(queue, shape.rungs, 0.0),
                      fresh = filled_array(queue, shape.rungs, 0.0);
  std::int64_t waiting_calls = 4;
  DeviceArray<double> records = filled_array(queue, shape.slots() * (waiting_calls + 1), 0.0);
  DeviceArray<LadderStatistics::Part> parts = filled_array(
      queue, shape.rungs* waiting_calls* LadderRecord::parts_of_call, LadderStatistics::nothing());
  DeviceArray<std::uint32_t> record_state =
      filled_array(queue, LadderRecord::state_size(shape.rungs), 0u);
  DeviceArray<RunControl> control = filled_array(queue, 1, shape.control);
  DeviceArray<std::uint32_t> hold = filled_array(queue, 1, shape.held ? 1u : 0u);
  DeviceBestLog log{queue, shape.slots()};

 private:
  void evaluate() {
    const std::int64_t words = shape.words();
    queue.launch(PairwiseEnergy{model.view(),
                                {state.data(), shape.model.n, words, words},
                                energy.view(),
                                rung.view(),
                                {},
                                nullptr});
  }
  StateBlock block_of(DeviceArray<std::uint32_t>& of) {
    return {of.data(), shape.model.n, shape.slots(), Layout::packed32, BlockKind::spin, -1, 1};
  }
  View1<std::int32_t> partners() {
    return shape.mode == PairMode::all_pairs ? partner.view() : View1<std::int32_t>{};
  }
  SwapCounts counts() {
    const std::int64_t gaps = shape.rungs - 1;
    return {{attempts.data(), gaps}, {pairs.data(), gaps}, {chance.data(), gaps}, totals.view()};
  }
  MetropolisSweep sweep() {
    MetropolisSweep kernel;
    kernel.model = model.view();
    kernel.state = block_of(state).packed();
    kernel.energy = energy.view();
    kernel.accepted = accepted.view();
    kernel.beta = beta.view();
    if (shape.cools) {
      kernel.beta = {beta_of_sweep.data(), shape.words()};
      kernel.beta_stride = shape.words();
    }
    kernel.rung_of = rung.view();
    kernel.draw_ids = {key.view(), replica.view()};
    kernel.control = control.data();
    kernel.sweeps = shape.sweeps;
    kernel.naming = DrawNaming::planes;
    kernel.energies_hold = true;
    return kernel;
  }
  LadderPhase phase() {
    LadderPhase kernel;
    kernel.statistics.energy = energy.view();
    kernel.statistics.best_energy = best.view();
    kernel.statistics.beta = beta.view();
    kernel.statistics.sums = sums.view();
    kernel.statistics.ladders = 32 * shape.blocks;
    kernel.statistics.control = control.data();
    kernel.statistics.sweeps_per_tick = shape.sweeps;
    kernel.statistics.cells = cells.view();
    kernel.statistics.in_blocks = true;
    ReplicaSwap& swap = kernel.swap;
    swap.energy = energy.view();
    swap.beta = beta.view();
    swap.ladders = ladders.view();
    swap.last_end = last_end.view();
    swap.round_trips = round_trips.view();
    swap.counts = counts();
    swap.draw_ids = {key.view(), replica.view()};
    swap.control = control.data();
    swap.rungs = shape.rungs;
    swap.mode = shape.mode;
    swap.cadence = shape.cadence;
    swap.sweeps_per_tick = shape.sweeps;
    swap.blocks = {energy.view(), swapping.view(), partners()};
    kernel.update = {plan.view(),  beta.view(),  sums.view(),    counts(),     barrier.view(),
                     slope.view(), fresh.view(), control.data(), shape.sweeps, cells.view()};
    kernel.record = {records.view(), {}, parts.view(), record_state.view(), waiting_calls};
    return kernel;
  }
  EndTick end() {
    EndTick kernel{};
    kernel.best.state[0] = block_of(state);
    kernel.best.best[0] = block_of(best_state);
    kernel.best.n_blocks = 1;
    kernel.best.replicas = shape.slots();
    kernel.best.energy = energy.view();
    kernel.best.best_energy = best.view();
    kernel.best.best_step = best_step.view();
    kernel.best.improved = improved.view();
    kernel.best.replica_of = log.replica_of.view(), kernel.best.rung_of = log.rung_of.view();
    kernel.best.control = control.data();
    kernel.advance = {control.data(), shape.sweeps, log.view(), hold.data()};
    return kernel;
  }
};

template <class T>
void expect_same(const DeviceArray<T>& got, const DeviceArray<T>& expected, const char* what) {
  const std::vector<T> a = got.download(), b = expected.download();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]) << what << ' ' << i;
}

inline void expect_same_control(const Ticking& got, const Ticking& expected) {
  const RunControl a = got.control.download().front(), b = expected.control.download().front();
  EXPECT_EQ(a.tick, b.tick);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.tick_sweeps, b.tick_sweeps);
  EXPECT_EQ(a.stop, b.stop);
  EXPECT_EQ(a.ticket, 0u);
  expect_same_notes(a, b);
  EXPECT_EQ(got.log.numbers(a), expected.log.numbers(b));
}

inline void expect_same_sums(const Ticking& got, const Ticking& expected) {
  const std::vector<RungSums> a = got.sums.download(), b = expected.sums.download();
  for (std::size_t r = 0; r < a.size(); ++r) {
    EXPECT_EQ(a[r].count, b[r].count) << r;
    EXPECT_EQ(a[r].calls, b[r].calls) << r;
    EXPECT_EQ(bits_of({a[r].reference, a[r].sum, a[r].squares, a[r].best, a[r].forward.value,
                       a[r].backward.value}),
              bits_of({b[r].reference, b[r].sum, b[r].squares, b[r].best, b[r].forward.value,
                       b[r].backward.value}))
        << r;
  }
}

inline void expect_same_ladders(const Ticking& got, const Ticking& expected) {
  const std::vector<SwapLadder> a = got.ladders.download(), b = expected.ladders.download();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].phases, b[i].phases) << i;
    ASSERT_EQ(a[i].waited, b[i].waited) << i;
    ASSERT_EQ(a[i].interval, b[i].interval) << i;
  }
  const std::vector<LadderPlan> p = got.plan.download(), q = expected.plan.download();
  EXPECT_EQ(p[0].calls, q[0].calls);
  EXPECT_EQ(p[0].rounds_left, q[0].rounds_left);
}

inline void expect_same(const Ticking& got, const Ticking& expected) {
  expect_same(got.state, expected.state, "state");
  expect_same(got.energy, expected.energy, "energy");
  expect_same(got.best, expected.best, "best energy");
  expect_same(got.best_state, expected.best_state, "best state");
  expect_same(got.best_step, expected.best_step, "best step");
  expect_same(got.accepted, expected.accepted, "accepted");
  expect_same(got.swapping, expected.swapping, "swapping");
  expect_same(got.last_end, expected.last_end, "end");
  expect_same(got.round_trips, expected.round_trips, "round trips");
  expect_same(got.beta, expected.beta, "beta");
  expect_same(got.attempts, expected.attempts, "attempts");
  expect_same(got.pairs, expected.pairs, "accepted swaps");
  expect_same(got.chance, expected.chance, "chance");
  expect_same(got.totals, expected.totals, "totals");
  expect_same(got.records, expected.records, "recorded energy");
  expect_same(got.record_state, expected.record_state, "state of the record");
  expect_same_control(got, expected);
  expect_same_sums(got, expected);
  expect_same_ladders(got, expected);
}

// The parts run on the CPU, one by one.
inline void launch_parts(Queue& cpu, const LadderTick& tick) {
  if (tick.best_first) cpu.launch(tick.end.best);
  cpu.launch(tick.sweep);
  cpu.launch(tick.phase);
  cpu.launch(tick.words);
  cpu.launch(tick.end.best);
  cpu.launch(tick.end.advance);
}

// Launches of so many ticks each.
inline void check(Queue& queue, const Case& shape, int launches = 16, std::uint32_t ticks = 1) {
  SCOPED_TRACE(std::to_string(shape.model.n) + " variables, " + std::to_string(shape.rungs) +
               " rungs, " + std::to_string(shape.blocks) + " blocks, " +
               std::to_string(shape.sweeps) + " sweeps");
  Queue& cpu = *open_device(Device::cpu).queue;
  Ticking got(queue, shape), expected(cpu, shape);
  for (int i = 0; i < launches; ++i) {
    LadderTick tick = got.tick();
    tick.ticks = ticks;
    queue.launch(tick);
    for (std::uint32_t t = 0; t < ticks; ++t) launch_parts(cpu, expected.tick().one(t == 0));
    expect_same(got, expected);
    if (::testing::Test::HasFailure()) return;
    if (!shape.best_first || i % 3 != 1) continue;
    got.disturb();
    expected.disturb();
  }
  EXPECT_EQ(got.readers.download(), std::vector<std::uint32_t>(idx(shape.blocks), 0u));
}

// Rows of at most four couplings, and sums for counters of 3, 6, 7 and 8 planes, with couplings of
// one size and others.
inline std::vector<Ising> models() {
  std::vector<Ising> all = {ring(37, one_of({-1, 1}, 1), constant(0)),
                            sparse(70, 3, one_of({-1, 1}, 2), one_of({-1, 0, 1}, 3), 4)};
  all.push_back(sparse(90, 6, one_of({-1, 1}, 5), one_of({-2, 0, 1}, 6), 7));
  all.push_back(sparse(60, 6, one_of({-9, -1, 9}, 8), constant(0), 9));
  all.push_back(sparse(90, 7, one_of({-1, 1}, 13), constant(0), 14));
  all.push_back(star(70, 30, one_of({-1, 1}, 15)));
  all.push_back(star(140, 30, one_of({-1, 1}, 16)));
  all.push_back(sparse(50, 5, one_of({-20, -3, 20}, 10), one_of({-2, 0, 1}, 11), 12));
  return all;
}

}  // namespace kiln::test::ladder_ticks
