// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Exchange between temperatures must leave the joint Boltzmann law of a ladder alone. Three-level
// systems and a 4 x 4 spin glass with eight rungs, one final sample of each of 65,536 ladders,
// Pearson's chi-square against enumeration.
//
// Bound p > 1e-3: 6 + 72 tests on each of 2 backends that have the same bits, a false alarm once in
// 13 if seeds were drawn anew. They are fixed, so that a pass stays a pass. The planted wrong
// variant is the rule with the opposite sign, exp((beta_i - beta_j)(E_j - E_i)): it swaps more
// often and must give p < 1e-6. The kernel has no switch for it: it is handed negated betas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/kernels/sweeps/cluster_move.hpp"
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"
#include "kiln/kernels/sweeps/pairwise_energy.hpp"
#include "kiln/problems/generators.hpp"

#include "backends/backends.hpp"
#include "chi_square.hpp"
#include "models/models.hpp"
#include "models/models_sweep.hpp"

namespace kiln::test::replica_swap_law_test {
namespace {

constexpr std::int64_t n_ladders = 65536;

class ReplicaSwapLaw : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ReplicaSwapLaw);

/// What replica_swap needs on a device, for ladders that all have the same temperatures.
class DeviceLadders {
 public:
  DeviceLadders(Queue& queue, const std::vector<double>& betas, std::uint64_t seed, bool inverted)
      : rungs_(static_cast<std::int64_t>(betas.size())),
        beta_(queue, repeated_betas(betas, 1)),
        swap_beta_(queue, repeated_betas(betas, inverted ? -1 : 1)),
        rung_of_(queue, counting(slots())),
        slot_of_(queue, counting(slots())),
        ladders_(queue, std::vector<SwapLadder>(idx(n_ladders))),
        last_end_(queue, std::vector<LadderEnd>(idx(slots()))),
        trips_(queue, std::vector<std::uint32_t>(idx(slots()))),
        attempts_(queue, std::vector<std::uint64_t>(betas.size() - 1)),
        accepted_(queue, std::vector<std::uint64_t>(betas.size() - 1)),
        chance_(queue, std::vector<std::uint64_t>(betas.size() - 1)),
        totals_(queue, std::vector<std::uint64_t>(2)),
        names_(queue, make_names(slots(), n_ladders, seed)) {}

  std::int64_t slots() const { return rungs_ * n_ladders; }
  View1<const double> beta() const { return beta_.view(); }
  View1<const std::int32_t> rung_of() const { return rung_of_.view(); }
  DrawIds draw_ids() const { return names_.view(); }
  std::vector<std::int32_t> rungs() const { return rung_of_.download(); }
  std::vector<std::int32_t> slots_of() const { return slot_of_.download(); }
  double acceptance(std::size_t gap) const {
    return static_cast<double>(accepted_.download()[gap]) /
           static_cast<double>(attempts_.download()[gap]);
  }

  void swap(Queue& queue, View1<const double> energy, const RunControl* control, PairMode mode) {
    queue.launch(ReplicaSwap{energy,
                             swap_beta_.view(),
                             rung_of_.view(),
                             slot_of_.view(),
                             ladders_.view(),
                             last_end_.view(),
                             trips_.view(),
                             {attempts_.view(), accepted_.view(), chance_.view(), totals_.view()},
                             names_.view(),
                             control,
                             rungs_,
                             mode,
                             {},
                             1,
                             1});
  }

 private:
  static std::vector<double> repeated_betas(const std::vector<double>& betas, double sign) {
    std::vector<double> all;
    for (std::int64_t g = 0; g < n_ladders; ++g) {
      for (const double beta : betas) all.push_back(sign * beta);
    }
    return all;
  }
  static std::vector<std::int32_t> counting(std::int64_t n) {
    std::vector<std::int32_t> values(idx(n));
    std::iota(values.begin(), values.end(), 0);
    return values;
  }

  std::int64_t rungs_;
  DeviceArray<double> beta_, swap_beta_;
  DeviceArray<std::int32_t> rung_of_, slot_of_;
  DeviceArray<SwapLadder> ladders_;
  DeviceArray<LadderEnd> last_end_;
  DeviceArray<std::uint32_t> trips_;
  DeviceArray<std::uint64_t> attempts_, accepted_, chance_, totals_;
  DeviceNames names_;
};

/// Three states, two rungs; per round a Metropolis step on each rung (one of the two other states,
/// with probability 1/2 each), then one swap attempt.
struct Toy {
  std::vector<double> level;
  double hot, cold;
  double cold_ground, swap_rate;                    // by the exact law
  double inverted_cold_ground, inverted_swap_rate;  // stationary law of the wrong rule
};
const Toy toys[] = {{{0, 1, 3}, 0.25, 1, 0.7054, 0.6965, 0.3190, 0.8961},
                    {{0, 1, 2}, 0.5, 2, 0.866813, 0.6227, 0.371841, 0.8550}};

struct ToyResult {
  std::vector<std::int64_t> counts;  // [hot state * 3 + cold state]
  double swap_rate = 0;              // of the last rounds

  double cold_ground() const {
    return static_cast<double>(counts[0] + counts[3] + counts[6]) / n_ladders;
  }
};

void metropolis_step(const Toy& toy, double beta, std::size_t& state, TestRandom& random) {
  const std::size_t proposed = (state + idx(random.between(1, 2))) % 3;
  if (random.unit() < std::exp(-beta * (toy.level[proposed] - toy.level[state]))) state = proposed;
}

ToyResult play(Queue& queue, const Toy& toy, std::uint64_t seed, bool inverted) {
  constexpr std::uint64_t rounds = 40;
  DeviceLadders ladders(queue, {toy.hot, toy.cold}, seed, inverted);
  TestRandom random(seed + 100);
  std::vector<std::size_t> state(idx(ladders.slots()));
  for (std::size_t& s : state) s = idx(random.between(0, 2));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::vector<std::int32_t> rungs = ladders.rungs();
    std::vector<double> energies;
    for (std::size_t slot = 0; slot < state.size(); ++slot) {
      metropolis_step(toy, rungs[slot] % 2 == 0 ? toy.hot : toy.cold, state[slot], random);
      energies.push_back(toy.level[state[slot]]);
    }
    RunControl control;
    control.step = round;
    const DeviceArray<RunControl> device_control = upload_control(queue, control);
    const DeviceArray<double> energy(queue, energies);
    ladders.swap(queue, energy.view(), device_control.data(), PairMode::sequential);
  }
  ToyResult result;
  result.counts.assign(9, 0);
  result.swap_rate = ladders.acceptance(0);
  const std::vector<std::int32_t> rungs = ladders.rungs();
  for (std::size_t slot = 0; slot < state.size(); slot += 2) {
    const bool swapped = rungs[slot] % 2 == 1;
    ++result.counts[3 * state[slot + (swapped ? 1 : 0)] + state[slot + (swapped ? 0 : 1)]];
  }
  return result;
}

std::vector<double> joint_law(const Toy& toy) {
  std::vector<double> law;
  for (const double hot : toy.level) {
    for (const double cold : toy.level) law.push_back(std::exp(-toy.hot * hot - toy.cold * cold));
  }
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  return law;
}

TEST_P(ReplicaSwapLaw, OfThreeLevelsIsBoltzmann) {
  for (const Toy& toy : toys) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const ToyResult result = play(queue(), toy, seed, false);
      const ChiSquare test = chi_square_test(result.counts, joint_law(toy));
      EXPECT_GT(test.p, 1e-3) << "seed " << seed << ", chi-square " << test.value;
      EXPECT_NEAR(result.cold_ground(), toy.cold_ground, 0.01);
      EXPECT_NEAR(result.swap_rate, toy.swap_rate, 0.01);
    }
  }
}

// Negative control: the wrong sign looks better by its acceptance and is far from the law.
TEST_P(ReplicaSwapLaw, SeesTheInvertedSignOnThreeLevels) {
  for (const Toy& toy : toys) {
    const ToyResult result = play(queue(), toy, 1, true);
    EXPECT_LT(chi_square_test(result.counts, joint_law(toy)).p, 1e-6);
    EXPECT_NEAR(result.cold_ground(), toy.inverted_cold_ground, 0.01);
    EXPECT_NEAR(result.swap_rate, toy.inverted_swap_rate, 0.01);
  }
}

const std::vector<double> glass_betas = {0.1, 0.2, 0.32, 0.45, 0.6, 0.8, 1.05, 1.4};

Ising glass() {
  Ising model;
  model.couplings = problems::torus_pm1(4, 4, 3).edges;
  model.n = 16;
  model.fields.assign(16, 0.0);
  return model;
}

/// Energies of the final states by rung.
using Levels = std::vector<std::map<double, std::int64_t>>;

enum class Clusters {
  none,
  right,
  other_temperature,  // wrong: partners stand at neighbouring rungs, and nothing is rejected
  fewer_bonds,        // wrong: clusters stop at one coupling in four
};

// What the cluster moves are handed; the kernel has no switch for either mistake.
std::vector<std::int32_t> partners(std::vector<std::int32_t> slot_of, Clusters clusters) {
  if (clusters != Clusters::other_temperature) return slot_of;
  for (auto ladder = slot_of.begin(); ladder < slot_of.end(); ladder += 16) {
    std::rotate(ladder + 8, ladder + 9, ladder + 16);
  }
  return slot_of;
}
Ising bonds(Ising model, Clusters clusters) {
  if (clusters != Clusters::fewer_bonds) return model;
  for (std::size_t i = model.couplings.size(); i-- > 0;) {
    if (i % 4 == 0) model.couplings.erase(model.couplings.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return model;
}

Levels temper_glass(Queue& queue, std::uint64_t seed, PairMode mode, bool inverted,
                    Clusters clusters = Clusters::none) {
  constexpr std::uint64_t rounds = 48;
  const Ising model = glass();
  const DeviceModel device_model(queue, problems::plan_pairwise(model)),
      cluster_model(queue, problems::plan_pairwise(bonds(model, clusters)));
  DeviceLadders ladders(queue, glass_betas, seed, inverted);
  const std::int64_t slots = ladders.slots();
  TestRandom random(seed + 50);
  std::vector<std::uint32_t> words(idx(model.n) * idx(slots / 32));
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.word() >> 32);
  DeviceArray<std::uint32_t> state(queue, words);
  DeviceArray<double> energy(queue, slots);
  const View2<std::uint32_t> spins{state.data(), model.n, slots / 32, slots / 32};
  DeviceArray<std::uint32_t> moved(queue, slots), open(queue, std::vector<std::uint32_t>(8, 1u));
  DeviceArray<std::uint64_t> moves(queue, std::vector<std::uint64_t>(8)),
      sizes(queue, std::vector<std::uint64_t>(8));
  queue.launch(PairwiseEnergy{device_model.view(),
                              {state.data(), model.n, slots / 32, slots / 32},
                              energy.view(),
                              ladders.rung_of(),
                              {},
                              nullptr});
  for (std::uint64_t round = 0; round < rounds; ++round) {
    RunControl control;
    control.step = clusters == Clusters::none ? round : round + 1;  // none before the first tick
    const DeviceArray<RunControl> device_control = upload_control(queue, control);
    queue.launch(MetropolisSweep{device_model.view(),
                                 spins,
                                 energy.view(),
                                 {},
                                 ladders.beta(),
                                 ladders.rung_of(),
                                 ladders.draw_ids(),
                                 1,
                                 device_control.data(),
                                 0});
    if (clusters != Clusters::none) {
      const DeviceArray<std::int32_t> slot_of(queue, partners(ladders.slots_of(), clusters));
      queue.launch(ClusterMove{cluster_model.view(), spins, slot_of.view(), moved.view(),
                               open.view(), moves.view(), sizes.view(), ladders.draw_ids(),
                               device_control.data(), 0, 1, 1, true});
      queue.launch(PairwiseEnergy{device_model.view(),
                                  {state.data(), model.n, slots / 32, slots / 32},
                                  energy.view(),
                                  ladders.rung_of(),
                                  {},
                                  nullptr});
    }
    ladders.swap(queue, energy.view(), device_control.data(), mode);
  }
  Levels levels(glass_betas.size());
  const std::vector<double> energies = energy.download();
  const std::vector<std::int32_t> rungs = ladders.rungs();
  for (std::size_t slot = 0; slot < energies.size(); ++slot) {
    ++levels[idx(rungs[slot]) % glass_betas.size()][energies[slot]];
  }
  return levels;
}

/// Number of the 65,536 states at each energy.
std::map<double, std::int64_t> density_of_states() {
  const Ising model = glass();
  std::map<double, std::int64_t> states;
  for (std::uint32_t number = 0; number < 65536; ++number) {
    std::vector<std::int8_t> spins;
    for (int v = 0; v < 16; ++v) spins.push_back(((number >> v) & 1u) != 0 ? -1 : 1);
    ++states[direct_energy(model, spins)];
  }
  return states;
}

ChiSquare test_of(const std::map<double, std::int64_t>& found, double beta) {
  static const std::map<double, std::int64_t> states = density_of_states();
  std::vector<std::int64_t> counts;
  std::vector<double> law;
  for (const auto& [energy, n] : states) {
    const auto place = found.find(energy);
    counts.push_back(place == found.end() ? 0 : place->second);
    law.push_back(static_cast<double>(n) * std::exp(-beta * energy));
  }
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), n_ladders);
  return chi_square_test(counts, law);
}

TEST_P(ReplicaSwapLaw, OfASpinGlassIsBoltzmannOnEachRung) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Levels levels = temper_glass(queue(), seed, PairMode::even_odd, false);
    for (std::size_t r = 0; r < levels.size(); ++r) {
      const ChiSquare test = test_of(levels[r], glass_betas[r]);
      EXPECT_GT(test.p, 1e-3) << "seed " << seed << ", rung " << r << ", chi-square " << test.value
                              << " with " << test.degrees << " degrees of freedom";
      EXPECT_GE(test.degrees, 3);
    }
  }
}

TEST_P(ReplicaSwapLaw, IsBoltzmannForEveryChoiceOfPairs) {
  for (const PairMode mode :
       {PairMode::random_adjacent, PairMode::sequential, PairMode::all_pairs}) {
    const Levels levels = temper_glass(queue(), 6, mode, false);
    for (std::size_t r = 0; r < levels.size(); ++r) {
      EXPECT_GT(test_of(levels[r], glass_betas[r]).p, 1e-3)
          << "mode " << static_cast<int>(mode) << ", rung " << r;
    }
  }
}

TEST_P(ReplicaSwapLaw, IsBoltzmannWithClusterMoves) {
  const Levels levels = temper_glass(queue(), 7, PairMode::even_odd, false, Clusters::right);
  for (std::size_t r = 0; r < levels.size(); ++r) {
    EXPECT_GT(test_of(levels[r], glass_betas[r]).p, 1e-3) << "rung " << r;
  }
}

// Negative controls of the cluster moves. A wrong partner warms the cold rungs and cools the hot
// ones; a cluster that is too small changes E(s) + E(t).
TEST_P(ReplicaSwapLaw, SeesWrongClusters) {
  for (const Clusters wrong : {Clusters::other_temperature, Clusters::fewer_bonds}) {
    const Levels levels = temper_glass(queue(), 7, PairMode::even_odd, false, wrong);
    for (std::size_t r = 0; r < levels.size(); ++r) {
      EXPECT_LT(test_of(levels[r], glass_betas[r]).p, 1e-6)
          << "rung " << r << ", mistake " << static_cast<int>(wrong);
    }
  }
}

TEST_P(ReplicaSwapLaw, SeesTheInvertedSignOnASpinGlass) {
  const Levels levels = temper_glass(queue(), 1, PairMode::even_odd, true);
  for (std::size_t r = 0; r < levels.size(); ++r) {
    EXPECT_LT(test_of(levels[r], glass_betas[r]).p, 1e-6) << "rung " << r;
  }
}

}  // namespace
}  // namespace kiln::test::replica_swap_law_test
