// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Many sweeps of categorical_sweep at a fixed temperature give the Boltzmann law, by both rules.
// Five variables of three values are enumerated (243 states), and nine of two values against the
// Ising model that they stand for (512); 65,536 samples, each the state of a model after the last
// sweep (a replica holds one model, or eight side by side); Pearson's chi-square.
//
// Bound p > 1e-3. There are 3 systems, 2 rules, 2 temperatures and 3 seeds on each of 2 backends
// that have the same bits: 36 independent tests, a false alarm once in 28 if seeds were drawn anew.
// They are fixed, so that a pass stays a pass. The negative controls must give p < 1e-6.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "backends/backends.hpp"
#include "chi_square.hpp"
#include "models/models_potts.hpp"
#include "potts/potts_objective.hpp"
#include "small_systems.hpp"

namespace kiln::test::potts_stationary_test {
namespace {

constexpr std::int64_t samples = 65536;
constexpr std::uint32_t sweeps = 60;

// A ring with a chord, real couplings of both signs, and fields.
Potts real_ring() {
  return {5,
          3,
          {{0, 0, 0.4}, {0, 2, -0.3}, {2, 1, 0.7}, {3, 0, -0.5}, {3, 2, 0.2}, {4, 1, -0.6}},
          {{0, 1, 0.9}, {0, 4, -1.1}, {1, 2, 0.6}, {1, 3, 0.8}, {2, 3, -0.7}, {3, 4, 1.2}}};
}

Potts integer_star() {
  return {5, 3, {{0, 1, 1}, {4, 2, -1}}, {{0, 1, 1}, {0, 2, 2}, {0, 3, -1}, {0, 4, 1}, {3, 4, 1}}};
}

// s = +1 for value 0 and -1 for value 1: J s s' = 2 J [equal] - J, h s = h [0] - h [1].
Potts of_ising(const Ising& ising) {
  Potts model{ising.n, 2, {}, ising.couplings};
  for (Edge& e : model.couplings) e.weight *= 2;
  for (std::int32_t v = 0; v < ising.n; ++v) {
    model.fields.push_back({v, 0, ising.fields[idx(v)]});
    model.fields.push_back({v, 1, -ising.fields[idx(v)]});
  }
  problems::canonicalize(model);
  return model;
}
Potts two_values() { return of_ising(mixed_integers()); }

std::size_t states_of(const Potts& model) {
  std::size_t states = 1;
  for (std::int32_t v = 0; v < model.n; ++v) states *= idx(model.q);
  return states;
}

std::vector<std::int32_t> values_of_state(const Potts& model, std::size_t state) {
  std::vector<std::int32_t> values;
  for (std::int32_t v = 0; v < model.n; ++v) {
    values.push_back(static_cast<std::int32_t>(state % idx(model.q)));
    state /= idx(model.q);
  }
  return values;
}

double energy_of(const Potts& model, std::size_t state) {
  return problems::potts_energy(model, values_of_state(model, state));
}

double energy_of_ising(const Potts&, std::size_t state) {
  return direct_energy(mixed_integers(), spins_of_state(state));
}

struct PottsSystem {
  const char* name;
  Potts (*model)();
  double (*energy)(const Potts& model, std::size_t state);
  std::int32_t copies;  // several give colour classes, one is sequential
  std::array<double, 2> betas;
};

const PottsSystem systems[] = {
    {"real_sequential", real_ring, energy_of, 1, {0.5, 1.0}},
    {"integers_colored", integer_star, energy_of, 8, {0.5, 1.0}},
    {"two_values_are_spins", two_values, energy_of_ising, 8, {0.12, 0.3}},
};

std::vector<double> boltzmann(const PottsSystem& system, double beta) {
  const Potts model = system.model();
  std::vector<double> weights;
  for (std::size_t state = 0; state < states_of(model); ++state) {
    weights.push_back(std::exp(-beta * system.energy(model, state)));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

Potts side_by_side(const Potts& model, std::int32_t copies) {
  Potts all{model.n * copies, model.q, {}, {}};
  for (std::int32_t copy = 0; copy < copies; ++copy) {
    const std::int32_t first = copy * model.n;
    for (const PottsField& f : model.fields) {
      all.fields.push_back({f.variable + first, f.value, f.amount});
    }
    for (const Edge& e : model.couplings) {
      all.couplings.push_back({e.u + first, e.v + first, e.weight});
    }
  }
  return all;
}

PottsInputs sampling(const PottsSystem& system, SweepRule rule, double beta, std::uint64_t seed) {
  const std::int64_t slots = samples / system.copies;
  PottsInputs inputs =
      make_potts_sweep(side_by_side(system.model(), system.copies), rule, slots, seed);
  inputs.beta = {beta};
  inputs.rung.assign(idx(slots), 0);
  inputs.names = make_names(slots, 4, seed + 1000);
  inputs.sweeps = sweeps;
  return inputs;
}

std::vector<std::int64_t> histogram(Queue& queue, const PottsSystem& system,
                                    const PottsInputs& inputs) {
  const PottsOutputs out = run_potts_sweeps(queue, inputs);
  const Potts one = system.model();
  std::vector<std::int64_t> counts(states_of(one), 0);
  for (std::int64_t slot = 0; slot < inputs.slots; ++slot) {
    const std::vector<std::int32_t> values = values_of(out.values, inputs.slots, slot);
    for (std::int32_t copy = 0; copy < system.copies; ++copy) {
      std::size_t state = 0;
      for (std::int32_t v = one.n - 1; v >= 0; --v) {
        state = state * idx(one.q) + idx(values[idx(copy * one.n + v)]);
      }
      ++counts[state];
    }
  }
  return counts;
}

// What one update of a variable does to a law, exactly.
void update(const Potts& model, SweepRule rule, double beta, std::int32_t v,
            const std::vector<double>& energy, std::vector<double>& law) {
  const std::size_t q = idx(model.q);
  std::size_t unit = 1;
  for (std::int32_t i = 0; i < v; ++i) unit *= q;
  for (std::size_t base = 0; base < law.size(); ++base) {
    if (base / unit % q != 0) continue;
    std::vector<double> next(q, 0.0);
    double all = 0, weights = 0;
    for (std::size_t a = 0; a < q; ++a) {
      all += law[base + a * unit];
      weights += std::exp(-beta * energy[base + a * unit]);
    }
    for (std::size_t a = 0; a < q; ++a) {
      const double here = law[base + a * unit];
      if (rule == SweepRule::heat_bath) {
        next[a] = all * std::exp(-beta * energy[base + a * unit]) / weights;
        continue;
      }
      next[a] += here;
      for (std::size_t b = 0; b < q; ++b) {
        if (b == a) continue;
        const double rise = energy[base + b * unit] - energy[base + a * unit];
        const double moved =
            here * std::min(1.0, std::exp(-beta * rise)) / static_cast<double>(q - 1);
        next[a] -= moved;
        next[b] += moved;
      }
    }
    for (std::size_t a = 0; a < q; ++a) law[base + a * unit] = next[a];
  }
}

using Parameter = std::tuple<Device, PottsSystem, SweepRule>;

class PottsStationary : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override { skip_without(std::get<0>(GetParam())); }
  Queue& queue() const { return *open_device(std::get<0>(GetParam())).queue; }
  PottsSystem system() const { return std::get<1>(GetParam()); }
  SweepRule rule() const { return std::get<2>(GetParam()); }
};

const char* rule_name(SweepRule rule) {
  return rule == SweepRule::metropolis ? "metropolis" : "heat_bath";
}
std::string case_name(const testing::TestParamInfo<Parameter>& info) {
  return std::string(std::get<1>(info.param).name) + "_" + rule_name(std::get<2>(info.param));
}
const auto every_system = testing::ValuesIn(systems);
const auto every_rule = testing::Values(SweepRule::metropolis, SweepRule::heat_bath);
INSTANTIATE_TEST_SUITE_P(Cpu, PottsStationary,
                         testing::Combine(testing::Values(Device::cpu), every_system, every_rule),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Cuda, PottsStationary,
                         testing::Combine(testing::Values(Device::cuda), every_system, every_rule),
                         case_name);

TEST_P(PottsStationary, IsTheBoltzmannLaw) {
  for (const double beta : system().betas) {
    const std::vector<double> exact = boltzmann(system(), beta);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const ChiSquare test = chi_square_test(
          histogram(queue(), system(), sampling(system(), rule(), beta, seed)), exact);
      EXPECT_GT(test.p, 1e-3) << "beta " << beta << ", seed " << seed << ", chi-square "
                              << test.value << " with " << test.degrees << " degrees of freedom";
    }
  }
}

// Negative control: a factor of 1.1 in beta, or in the energies, is seen.
TEST_P(PottsStationary, SeesAWrongFactorOfTenPerCent) {
  const double beta = system().betas[1];
  const std::vector<double> exact = boltzmann(system(), beta);
  const PottsInputs wrong_beta = sampling(system(), rule(), beta * 1.1, 1);
  EXPECT_LT(chi_square_test(histogram(queue(), system(), wrong_beta), exact).p, 1e-6);
  PottsInputs wrong_energy = sampling(system(), rule(), beta, 1);
  wrong_energy.inverse_scale = 1.1;
  EXPECT_LT(chi_square_test(histogram(queue(), system(), wrong_energy), exact).p, 1e-6);
}

// Negative control: the start is uniform over states, which is not the Boltzmann law.
TEST_P(PottsStationary, SeesThatNothingWasSwept) {
  PottsInputs none = sampling(system(), rule(), system().betas[0], 1);
  none.control.stop = DeviceStop::target;
  EXPECT_LT(
      chi_square_test(histogram(queue(), system(), none), boltzmann(system(), system().betas[0])).p,
      1e-6);
}

// The condition of the tests above: after that many sweeps the exact law of the chain differs from
// the Boltzmann law by far less than the samples can show.
TEST(PottsSystems, ForgetTheirStart) {
  for (const PottsSystem& system : systems) {
    const Potts model = system.model();
    std::vector<std::int32_t> order;
    for (const std::int32_t v :
         problems::plan_potts(side_by_side(model, system.copies)).pairs.variable) {
      if (v >= 0 && v < model.n) order.push_back(v);
    }
    std::vector<double> energy;
    for (std::size_t s = 0; s < states_of(model); ++s) energy.push_back(system.energy(model, s));
    for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
      for (const double beta : system.betas) {
        const std::vector<double> exact = boltzmann(system, beta);
        std::vector<double> law(exact.size(), 1.0 / static_cast<double>(exact.size()));
        for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
          for (const std::int32_t v : order) update(model, rule, beta, v, energy, law);
        }
        double noncentrality = 0;
        for (std::size_t s = 0; s < law.size(); ++s) {
          noncentrality += samples * (law[s] - exact[s]) * (law[s] - exact[s]) / exact[s];
        }
        EXPECT_LT(noncentrality, 1e-3) << system.name << ", " << rule_name(rule) << ", " << beta;
      }
    }
  }
}

TEST(PottsSystems, UseBothKindsOfUpdateOrder) {
  EXPECT_TRUE(problems::plan_potts(real_ring()).pairs.sequential);
  EXPECT_FALSE(problems::plan_potts(side_by_side(integer_star(), 8)).pairs.sequential);
}

}  // namespace
}  // namespace kiln::test::potts_stationary_test
