// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Exchange between different Hamiltonians must leave the law of each rung alone. A family
// E = A + lambda B over 12 spins is enumerated (4096 states); four rungs with a beta and a lambda
// each, one final sample of each of 65,536 ladders; Pearson's chi-square of the pairs (A, B).
//
// Bound p > 1e-3: 3 families of rungs x 4 rungs x 2 seeds, and 8 tests of whole runs, on each of 2
// backends that have the same bits: a false alarm once in 31 if seeds were drawn anew. They are
// fixed, so that a pass stays a pass. The planted wrong rule must give p < 1e-6.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "kiln/kernels/exchange/replica_swap.hpp"
#include "kiln/kernels/sweeps/pairwise_family_energy.hpp"
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/replica_exchange.hpp"

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "chi_square.hpp"
#include "models/models_family.hpp"
#include "models/models_sweep.hpp"
#include "pairwise/pairwise_family_objective.hpp"

namespace kiln::test::replica_exchange_law_test {
namespace {

constexpr std::int64_t n_ladders = 65536;
constexpr std::size_t n_rungs = 4;
constexpr std::int32_t n_spins = 12;
constexpr std::int64_t slots = n_ladders * static_cast<std::int64_t>(n_rungs);
constexpr std::uint64_t rounds = 24;

struct Rungs {
  const char* name;
  double unit;  // of the coefficients; 1: integers
  std::vector<double> beta, lambda;
};
const Rungs systems[] = {
    {"over lambda", 1, {0.3, 0.3, 0.3, 0.3}, {0, 0.4, 0.8, 1.2}},
    {"over lambda, reals", 0.37, {0.9, 0.9, 0.9, 0.9}, {-0.5, 0, 0.5, 1}},
    {"over both", 1, {0.1, 0.2, 0.3, 0.35}, {-1, -0.2, 0.3, 1}},
};

PairwiseFamily family_for(const Rungs& rungs) { return random_family(n_spins, rungs.unit, 31); }

/// Numbers of states by (A, B), rounded so that sums of reals in different orders agree.
using Level = std::pair<std::int64_t, std::int64_t>;
using Levels = std::map<Level, std::int64_t>;

Level level_of(double a, double b) { return {std::llround(a * 1e6), std::llround(b * 1e6)}; }

Levels density_of_states(const PairwiseFamily& family) {
  Levels levels;
  for (std::uint32_t number = 0; number < (1u << n_spins); ++number) {
    std::vector<std::int8_t> s;
    for (int v = 0; v < n_spins; ++v) s.push_back(((number >> v) & 1u) != 0 ? -1 : 1);
    ++levels[level_of(direct_energy(family.base, s), direct_energy(family.term, s))];
  }
  return levels;
}

ChiSquare test_of(const Levels& states, const Levels& found, double beta, double lambda) {
  std::vector<std::int64_t> counts;
  std::vector<double> law;
  std::int64_t all = 0;
  for (const auto& [level, n] : states) {
    const auto place = found.find(level);
    counts.push_back(place == found.end() ? 0 : place->second);
    all += counts.back();
    const double energy =
        1e-6 * (static_cast<double>(level.first) + lambda * static_cast<double>(level.second));
    law.push_back(static_cast<double>(n) * std::exp(-beta * energy));
  }
  EXPECT_EQ(all, n_ladders) << "a level that no state has";
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  return chi_square_test(counts, law);
}

std::vector<Levels> levels_of(const std::vector<double>& base, const std::vector<double>& term,
                              const std::vector<std::int32_t>& rung_of) {
  std::vector<Levels> levels(n_rungs);
  for (std::size_t slot = 0; slot < base.size(); ++slot) {
    ++levels[idx(rung_of[slot]) % n_rungs][level_of(base[slot], term[slot])];
  }
  return levels;
}

template <class T>
std::vector<T> counting() {
  std::vector<T> values(idx(slots));
  std::iota(values.begin(), values.end(), T{0});
  return values;
}

std::vector<double> for_all_ladders(const std::vector<double>& values) {
  std::vector<double> all;
  for (std::int64_t g = 0; g < n_ladders; ++g) all.insert(all.end(), values.begin(), values.end());
  return all;
}

enum class Rule {
  four_energies,
  own_energies,  // wrong: as if the energy of a state were the same on both rungs
};

/// Sweeps and exchanges ladders; the pairs (A, B) of the final states by rung.
std::vector<Levels> exchange(Queue& queue, const Rungs& rungs, std::uint64_t seed, Rule rule) {
  const PairwiseFamily family = family_for(rungs);
  const problems::BoundPairwiseFamilyModel model(problems::plan_pairwise_family(family), queue);
  TestRandom random(seed + 50);
  std::vector<std::uint32_t> words(idx(n_spins * slots / 32));
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.word() >> 32);
  DeviceArray<std::uint32_t> state(queue, words);
  DeviceArray<double> energy(queue, slots), base(queue, slots), term(queue, slots);
  const DeviceArray<double> beta(queue, for_all_ladders(rungs.beta)),
      lambda(queue, for_all_ladders(rungs.lambda));
  DeviceArray<std::int32_t> rung_of(queue, counting<std::int32_t>()),
      slot_of(queue, counting<std::int32_t>());
  DeviceArray<SwapLadder> ladders(queue, std::vector<SwapLadder>(idx(n_ladders)));
  DeviceArray<LadderEnd> last_end(queue, std::vector<LadderEnd>(idx(slots)));
  DeviceArray<std::uint32_t> trips(queue, std::vector<std::uint32_t>(idx(slots)));
  const std::vector<std::uint64_t> none(n_rungs - 1);
  DeviceArray<std::uint64_t> attempts(queue, none), accepted(queue, none), chance(queue, none),
      totals(queue, std::vector<std::uint64_t>(2));
  const DeviceNames names(queue, make_names(slots, n_ladders, seed));
  const std::vector<double> beta_of = for_all_ladders(rungs.beta),
                            lambda_of = for_all_ladders(rungs.lambda);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    RunControl control;
    control.step = round;
    const DeviceArray<RunControl> device_control = upload_control(queue, control);
    queue.launch(PairwiseFamilySweep{model.view(),
                                     SweepRule::metropolis,
                                     {state.data(), n_spins, slots / 32, slots / 32},
                                     {},
                                     beta.view(),
                                     lambda.view(),
                                     rung_of.view(),
                                     names.view(),
                                     1,
                                     device_control.data(),
                                     0});
    queue.launch(PairwiseFamilyEnergy{model.view(),
                                      {state.data(), n_spins, slots / 32, slots / 32},
                                      energy.view(),
                                      base.view(),
                                      term.view(),
                                      rung_of.view(),
                                      {},
                                      nullptr});
    ReplicaSwap swap{energy.view(),
                     beta.view(),
                     rung_of.view(),
                     slot_of.view(),
                     ladders.view(),
                     last_end.view(),
                     trips.view(),
                     {attempts.view(), accepted.view(), chance.view(), totals.view()},
                     names.view(),
                     device_control.data(),
                     static_cast<std::int64_t>(n_rungs),
                     PairMode::even_odd,
                     {},
                     1,
                     1};
    DeviceArray<double> own;
    if (rule == Rule::four_energies) {
      swap.family = {base.view(), term.view(), lambda.view()};
    } else {
      const std::vector<double> a = base.download(), b = term.download();
      const std::vector<std::int32_t> rung = rung_of.download();
      std::vector<double> energies;
      for (std::size_t slot = 0; slot < a.size(); ++slot) {
        energies.push_back(a[slot] + lambda_of[idx(rung[slot])] * b[slot]);
      }
      own = DeviceArray<double>(queue, energies);
      swap.energy = own.view();
    }
    queue.launch(swap);
  }
  return levels_of(base.download(), term.download(), rung_of.download());
}

class ReplicaExchangeLaw : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ReplicaExchangeLaw);

TEST_P(ReplicaExchangeLaw, IsThatOfEachHamiltonian) {
  for (const Rungs& rungs : systems) {
    const Levels states = density_of_states(family_for(rungs));
    for (const std::uint64_t seed : {1, 2}) {
      const std::vector<Levels> levels = exchange(queue(), rungs, seed, Rule::four_energies);
      for (std::size_t r = 0; r < n_rungs; ++r) {
        const ChiSquare test = test_of(states, levels[r], rungs.beta[r], rungs.lambda[r]);
        EXPECT_GT(test.p, 1e-3) << rungs.name << ", seed " << seed << ", rung " << r
                                << ", chi-square " << test.value << " with " << test.degrees
                                << " degrees of freedom";
        EXPECT_GE(test.degrees, 50);
      }
    }
  }
}

TEST_P(ReplicaExchangeLaw, SeesThatCrossEnergiesAreIgnored) {
  for (const Rungs& rungs : {systems[0], systems[2]}) {
    const Levels states = density_of_states(family_for(rungs));
    const std::vector<Levels> levels = exchange(queue(), rungs, 1, Rule::own_energies);
    for (std::size_t r = 0; r < n_rungs; ++r) {
      EXPECT_LT(test_of(states, levels[r], rungs.beta[r], rungs.lambda[r]).p, 1e-6)
          << rungs.name << ", rung " << r;
    }
  }
}

// The whole schedule on the same family: what the kernels do is also what the schedule makes of
// them.
TEST_P(ReplicaExchangeLaw, OfAWholeRunIsThatOfEachHamiltonian) {
  for (const Rungs& rungs : {systems[0], systems[2]}) {
    const PairwiseFamily family = family_for(rungs);
    const Problem problem = make_pairwise_family(family);
    ReplicaExchangeOptions chosen;
    const bool both = rungs.beta.front() != rungs.beta.back();
    chosen.coordinate = both ? "both" : "parameter";
    chosen.ladder = "list";
    chosen.parameters = rungs.lambda;
    chosen.walkers = 0;
    chosen.burn_in = 0;
    if (both) {
      chosen.betas = rungs.beta;
    } else {
      chosen.beta_max = rungs.beta.front();
    }
    ReplicaExchange schedule(chosen);
    RunOptions options;
    options.device = to_string(GetParam());
    options.replicas = slots;
    options.seed = 5;
    const Budget budget{.sweeps = static_cast<std::int64_t>(rounds)};
    kiln::Run run(problem, schedule, budget, options, open_backend(options.device));
    const Result result = run.advance();
    EXPECT_TRUE(result.verified);
    EXPECT_GT(result.diagnostics.at("round_trips"), 0);
    std::vector<double> base(idx(slots)), term(idx(slots));
    std::vector<std::int32_t> rung_of(idx(slots));
    Queue& q = run.queue();
    const EnergyComponents parts = RunContext(run.core()).objective<Parametric>().components();
    q.download(base.data(), parts.base.data, base.size() * sizeof(double));
    q.download(term.data(), parts.term.data, term.size() * sizeof(double));
    q.download(rung_of.data(), run.batch().rung_of().data, rung_of.size() * sizeof(std::int32_t));
    const std::vector<Levels> levels = levels_of(base, term, rung_of);
    const Levels states = density_of_states(family);
    for (std::size_t r = 0; r < n_rungs; ++r) {
      EXPECT_GT(test_of(states, levels[r], rungs.beta[r], rungs.lambda[r]).p, 1e-3)
          << rungs.name << ", rung " << r;
    }
  }
}

}  // namespace
}  // namespace kiln::test::replica_exchange_law_test
