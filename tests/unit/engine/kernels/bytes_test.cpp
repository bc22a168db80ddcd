// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What kernels say that they move, against sizes counted by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kiln/kernels/exchange/ladder_tick.hpp"
#include "kiln/kernels/exchange/state_swap.hpp"
#include "kiln/kernels/hamiltonian/glm_transition.hpp"
#include "kiln/kernels/hamiltonian/leapfrog.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/kernels/population/population_step.hpp"
#include "kiln/kernels/population/resample.hpp"
#include "kiln/kernels/run/end_tick.hpp"
#include "kiln/kernels/run/summarize.hpp"
#include "kiln/kernels/sweeps/categorical_sweep.hpp"
#include "kiln/kernels/sweeps/coloring_sweep.hpp"
#include "kiln/kernels/sweeps/density_sweep.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/kernels/sweeps/pairwise_energy.hpp"
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

namespace kiln::test::bytes_test {
namespace {

constexpr std::int64_t slots = 64, words = 2, spins = 10;

template <class T>
View1<T> row(std::int64_t size) {
  static std::remove_const_t<T> place;
  return {&place, size};
}
template <class T>
View2<T> table(std::int64_t rows, std::int64_t columns) {
  static std::remove_const_t<T> place;
  return {&place, rows, columns, columns};
}

DrawIds draw_ids() { return {row<const std::uint64_t>(slots), row<const std::uint32_t>(slots)}; }
constexpr double draw_bytes = slots * (8 + 4), rung_bytes = slots * 4, count_bytes = slots * 8,
                 energy_bytes = slots * 8;

// 12 sites; 20 terms of 4 bytes beside 12 groups of 16 bytes.
PairwiseView model() {
  PairwiseView view;
  view.entries = row<const PairEntry>(40);       // 8 bytes each
  view.row_begin = row<const std::int64_t>(13);  // 8
  view.base = row<const double>(12);             // 8
  view.weights_f64 = row<const double>(0);
  return view;
}
constexpr double entries_bytes = 40 * 8 + 13 * 8 + 12 * 8;

MetropolisSweep sweep() {
  MetropolisSweep kernel;
  kernel.model = model();
  kernel.state = table<std::uint32_t>(spins, words);
  kernel.energy = row<double>(slots);
  kernel.accepted = row<std::uint64_t>(slots);
  kernel.rung_of = row<const std::int32_t>(slots);
  kernel.draw_ids = draw_ids();
  return kernel;
}
constexpr double state_bytes = 10 * 64 / 8;
constexpr double sweep_bytes =
    entries_bytes + 2 * state_bytes + 2 * energy_bytes + 2 * count_bytes + rung_bytes + draw_bytes;

TEST(Bytes, OfAModelAreThoseOfItsMostCompactRows) {
  PairwiseView view = model();
  EXPECT_EQ(view.bytes(), entries_bytes);
  view.slices = {0, row<const SliceSite>(13), row<const std::uint32_t>(5),
                 row<const std::uint32_t>(40)};
  EXPECT_EQ(view.bytes(), 13 * 24 + 5 * 4 + 40 * 4);
  view.groups.sites = row<const GroupSite>(12);
  view.groups.terms = row<const std::uint32_t>(20);
  EXPECT_EQ(view.bytes(), 12 * 16 + 20 * 4);
  static const std::int8_t matrix = 0;
  view.dense.matrix = &matrix;
  EXPECT_EQ(view.bytes(), 0);
}

TEST(Bytes, OfASweepOfSpins) {
  MetropolisSweep kernel = sweep();
  EXPECT_EQ(kernel.bytes(), sweep_bytes);
  kernel.sweeps = 8;
  EXPECT_EQ(kernel.bytes(), sweep_bytes) << "the states may stay on the chip";
  kernel.energy = {};
  EXPECT_EQ(kernel.bytes(), sweep_bytes - 2 * energy_bytes);
  PairwiseEnergy energy{
      model(), table<const std::uint32_t>(spins, words), row<double>(slots), {}, {}, nullptr};
  EXPECT_EQ(energy.bytes(), entries_bytes + state_bytes + energy_bytes);
}

TEST(Bytes, OfOtherSweeps) {
  constexpr double around = 2 * energy_bytes + 2 * count_bytes + rung_bytes + draw_bytes;
  CategoricalSweep potts;
  potts.model.entries = row<const PairEntry>(40);
  potts.model.row_begin = row<const std::int64_t>(13);
  potts.state = table<std::int8_t>(spins, slots);
  potts.energy = row<double>(slots);
  potts.accepted = row<std::uint64_t>(slots);
  potts.rung_of = row<const std::int32_t>(slots);
  potts.draw_ids = draw_ids();
  EXPECT_EQ(potts.bytes(), 40 * 8 + 13 * 8 + 2 * 10 * 64 + around);
  ColoringSweep coloring;
  coloring.model.row_begin = row<const std::int64_t>(11);
  coloring.model.neighbor = row<const std::int32_t>(30);
  coloring.state = table<std::int32_t>(spins, slots);
  coloring.energy = row<double>(slots);
  coloring.accepted = row<std::uint64_t>(slots);
  coloring.rung_of = row<const std::int32_t>(slots);
  coloring.draw_ids = draw_ids();
  EXPECT_EQ(coloring.bytes(), 11 * 8 + 30 * 4 + 2 * 10 * 64 * 4 + around);
  PairwiseFamilySweep family;
  family.model.row_begin = row<const std::int64_t>(13);
  family.model.field = row<const FamilyPair>(12);
  family.model.entries = row<const FamilyEntry>(40);
  family.state = table<std::uint32_t>(spins, words);
  family.rung_of = row<const std::int32_t>(slots);
  family.draw_ids = draw_ids();
  const double entries = 40.0 * sizeof(FamilyEntry);
  EXPECT_EQ(family.bytes(), entries + 13 * 8 + 12 * 16 + 2 * state_bytes + rung_bytes + draw_bytes);
  family.model.has_fields = false;
  EXPECT_EQ(family.bytes(), entries + 13 * 8 + 2 * state_bytes + rung_bytes + draw_bytes);
}

TEST(Bytes, OfTheEndOfATick) {
  TrackBest best;
  best.energy = row<const double>(slots);
  best.best_energy = row<double>(slots);
  EXPECT_EQ(best.bytes(), 2 * energy_bytes);
  EXPECT_EQ((EndTick{best, {}}).bytes(), 2 * energy_bytes);
  Summarize report;
  report.energy = row<const double>(slots);
  report.accepted = row<const std::uint64_t>(slots);
  report.not_finite = row<const std::uint64_t>(slots);
  EXPECT_EQ(report.bytes(), 3 * slots * 8 + sizeof(RunSummary));
}

// 4 ladders of 16 rungs.
TEST(Bytes, OfExchange) {
  ReplicaSwap swap;
  swap.energy = row<const double>(slots);
  swap.beta = row<const double>(slots);
  swap.slot_of = row<std::int32_t>(slots);
  swap.ladders = row<SwapLadder>(4);
  const double ladders = 4.0 * sizeof(SwapLadder);
  EXPECT_EQ(swap.bytes(), 2 * energy_bytes + rung_bytes + 2 * ladders);
  LadderPhase phase;
  phase.swap = swap;
  EXPECT_EQ(phase.bytes(), swap.bytes());
  swap.blocks.swapping = row<std::uint32_t>(words);
  EXPECT_EQ(swap.bytes(), 2 * energy_bytes + 2 * 4 + 2 * ladders);
  WordSwap moved;
  moved.swapping = row<const std::uint32_t>(words);
  moved.partner = row<const std::int32_t>(words);
  EXPECT_EQ(moved.bytes(), 2 * 4 + 2 * 4);
  LadderTick tick;
  tick.sweep = sweep();
  tick.phase.swap = swap;
  tick.end.best.best_energy = row<double>(slots);
  EXPECT_EQ(tick.bytes(), sweep_bytes + 2 * energy_bytes + 2 * ladders);
  StateSwap states;
  states.rung_of = row<std::int32_t>(slots);
  states.slot_of = row<std::int32_t>(slots);
  EXPECT_EQ(states.bytes(), 2 * rung_bytes);
}

TEST(Bytes, OfPopulations) {
  PopulationStep step;
  step.energy = row<const double>(slots);
  step.weight = row<std::uint64_t>(slots);
  EXPECT_EQ(step.bytes(), 2 * slots * 8);
  Resample resample;
  resample.weight = row<const std::uint64_t>(slots);
  resample.family = row<std::int32_t>(slots);
  resample.source = row<std::int32_t>(slots);
  EXPECT_EQ(resample.bytes(), slots * (8 + 4 + 4));
}

// 50 chains of 7 dimensions in 64 slots.
ChainState chains() {
  ChainState state;
  state.position = table<double>(7, slots);
  state.replicas = 50;
  return state;
}

TEST(Bytes, OfChains) {
  NutsTransition nuts;
  nuts.chains = chains();
  EXPECT_EQ(nuts.bytes(), 50 * (7 + 7 + 3) * 8);
  DensitySweep moves;
  moves.chains = chains();
  EXPECT_EQ(moves.bytes(), 50 * (3 * 7 + 3) * 8);
  Leapfrog step;
  step.chains = chains();
  step.limit = 10;
  step.index = 9;
  EXPECT_EQ(step.bytes(), 5 * 50 * 7 * 8) << "momentum and position there and back, gradient";
  step.index = 10;
  EXPECT_EQ(step.bytes(), 3 * 50 * 7 * 8) << "momentum there and back, gradient";
  GlmTransition glm;
  glm.chains = chains();
  glm.density.rows = 1000;
  glm.density.width = 8;
  EXPECT_EQ(glm.bytes(), 50 * (7 + 7 + 3) * 8 + 1000 * (8 + 1) * 4);
}

TEST(Bytes, OfStates) {
  StateBlock block;
  block.variables = spins;
  block.slots = slots;
  for (const auto& [layout, bytes] : {std::pair(Layout::packed32, 80.0),
                                      {Layout::i8, 640.0},
                                      {Layout::i32, 2560.0},
                                      {Layout::f32, 2560.0},
                                      {Layout::f64, 5120.0}}) {
    block.layout = layout;
    EXPECT_EQ(block.bytes(), bytes);
  }
}

}  // namespace
}  // namespace kiln::test::bytes_test
