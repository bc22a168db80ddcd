// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/categorical_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "kiln/backend.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "models/models_potts.hpp"
#include "potts/potts_objective.hpp"

// Decisions and weights are made in exact arithmetic; integer energies are exact.
KILN_CONFORMANCE_CASE(CategoricalSweep, exact)

namespace kiln::test::categorical_sweep_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr SweepRule both_rules[] = {SweepRule::metropolis, SweepRule::heat_bath};

class CategoricalSweepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(CategoricalSweepKernel);

WeightSource integers(std::int64_t size, std::uint64_t seed) {
  return [size, random = std::make_shared<TestRandom>(seed)] {
    return static_cast<double>(random->between(-size, size));
  };
}

WeightSource reals(double size, std::uint64_t seed) {
  return [size, random = std::make_shared<TestRandom>(seed)] {
    return size * (2 * random->unit() - 1);
  };
}

Ising sparse_pairs(std::int32_t n, const WeightSource& weight) {
  return sparse(n, 4, weight, constant(0), 10 + idx(n));
}

void expect_definition(Queue& queue, const PottsInputs& inputs, const std::string& what) {
  EXPECT_EQ(first_difference(run_potts_sweeps(queue, inputs), plain_potts_sweeps(inputs)), "")
      << what << (inputs.rule == SweepRule::metropolis ? ", metropolis" : ", heat bath");
}

// All slots in the same state at the same temperature.
PottsInputs uniform(const Potts& model, const std::vector<std::int8_t>& values, SweepRule rule,
                    double beta) {
  PottsInputs inputs = make_potts_sweep(model, rule, 32, 1);
  for (std::size_t i = 0; i < inputs.values.size(); ++i) inputs.values[i] = values[i / 32];
  inputs.beta = {beta};
  inputs.rung.assign(32, 0);
  inputs.sweeps = 1;
  return inputs;
}

TEST_P(CategoricalSweepKernel, HeatBathTakesTheOnlyMinimiserAtZeroTemperature) {
  const Potts model{1, 5, {{0, 0, 3}, {0, 1, 2}, {0, 2, 5}, {0, 4, 1}, {0, 3, -1}}, {}};

  const PottsOutputs out =
      run_potts_sweeps(queue(), uniform(model, {2}, SweepRule::heat_bath, infinity));

  EXPECT_EQ(out.values, std::vector<std::int8_t>(32, 3));
  EXPECT_EQ(out.energy, std::vector<double>(32, potts_energy_before - 6));
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(32, potts_accepted_before + 1));
}

// Two equal colours with a penalty: the first site leaves, the second stays, whatever is proposed.
TEST_P(CategoricalSweepKernel, SeparatesTwoEqualColorsAtZeroTemperature) {
  const Potts model{2, 3, {}, {{0, 1, 2.0}}};
  for (const SweepRule rule : both_rules) {
    const PottsOutputs out = run_potts_sweeps(queue(), uniform(model, {1, 1}, rule, infinity));

    for (std::int64_t slot = 0; slot < 32; ++slot) {
      const std::vector<std::int32_t> x = values_of(out.values, 32, slot);
      EXPECT_NE(x[0], x[1]);
      EXPECT_EQ(out.energy[idx(slot)], potts_energy_before - 2);
      EXPECT_GE(out.accepted[idx(slot)], potts_accepted_before + 1);
    }
  }
}

TEST_P(CategoricalSweepKernel, MetropolisMovesEverythingAtInfiniteTemperature) {
  const Potts model = potts_of(sparse_pairs(40, integers(3, 1)), 7, integers(5, 2));
  const PottsInputs inputs =
      uniform(model, std::vector<std::int8_t>(40, 4), SweepRule::metropolis, 0.0);

  const PottsOutputs out = run_potts_sweeps(queue(), inputs);

  EXPECT_EQ(std::ranges::count(out.values, std::int8_t{4}), 0);
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(32, potts_accepted_before + 40));
}

TEST_P(CategoricalSweepKernel, MatchesTheDefinitionForEveryNumberOfSlots) {
  for (const std::int64_t slots : {0, 1, 31, 32, 33, 1025}) {
    for (const SweepRule rule : both_rules) {
      const Potts model = potts_of(sparse_pairs(33, integers(3, 3)), 3, integers(2, 4));
      expect_definition(queue(), make_potts_sweep(model, rule, slots, idx(slots) + 5),
                        std::to_string(slots) + " slots");
    }
  }
}

TEST_P(CategoricalSweepKernel, MatchesTheDefinitionForEveryNumberOfValues) {
  for (const std::int32_t q : {2, 3, 7, 64, 127}) {
    for (const SweepRule rule : both_rules) {
      const std::string what = std::to_string(q) + " values";
      const Ising whole = sparse_pairs(100, integers(4, 6)), real = sparse_pairs(70, reals(1, 7));
      expect_definition(queue(), make_potts_sweep(potts_of(whole, q, constant(0)), rule, 64, 8),
                        what);
      expect_definition(queue(), make_potts_sweep(potts_of(whole, q, integers(3, 9)), rule, 64, 10),
                        what + ", fields");
      expect_definition(queue(), make_potts_sweep(potts_of(real, q, reals(1, 11)), rule, 64, 12),
                        what + ", reals");
    }
  }
}

TEST_P(CategoricalSweepKernel, MatchesTheDefinitionInEveryArithmetic) {
  const std::pair<const char*, Ising> models[] = {
      {"one variable", isolated_spins({0})},
      {"no couplings", sparse(67, 0, constant(1), constant(0), 1)},
      {"sequential", dense(41, integers(3, 13), constant(0))},
      {"sequential reals", dense(41, reals(1, 14), constant(0))},
      {"star", star(600, 5, integers(1, 15))},
      {"8-bit sums end", star(127, 3, constant(1))},
      {"8-bit sums left", star(128, 3, constant(-1))},
      {"16-bit sums end", ring(40, constant(8191), constant(0))},
      {"16-bit sums left", ring(40, constant(8192), constant(0))},
      {"medium", ring(64, one_of({-0x1p22, 0x1p22}, 16), constant(0))},
      {"wide integers", sparse_pairs(90, integers(std::int64_t{1} << 40, 17))},
      {"mixed sizes", sparse_pairs(100, one_of({1e-9, 1.0, -1e9, 0.1}, 18))},
  };
  for (const auto& [what, pairs] : models) {
    for (const SweepRule rule : both_rules) {
      for (const WeightSource& field : {constant(0), integers(2, 19), reals(1, 20)}) {
        expect_definition(queue(), make_potts_sweep(potts_of(pairs, 4, field), rule, 64, 21), what);
      }
    }
  }
}

TEST_P(CategoricalSweepKernel, MatchesTheDefinitionAtOddStepsStridesAndScales) {
  for (const SweepRule rule : both_rules) {
    PottsInputs inputs = make_potts_sweep(
        potts_of(sparse_pairs(50, integers(3, 22)), 5, integers(1, 23)), rule, 40, 24);
    inputs.extra_stride = 7;
    inputs.inverse_scale = 0.3;
    for (std::uint32_t& replica : inputs.names.replica) replica += 0xFFFFFFE0u;
    for (const std::uint64_t step : {0xFFFFFFFEull, (0x1234ull << 32) + 77, (1ull << 48) - 1}) {
      inputs.control.step = step;
      inputs.sweeps = 4;
      expect_definition(queue(), inputs, "step " + std::to_string(step));
    }
  }
}

TEST_P(CategoricalSweepKernel, WorksWhereValuesDoNotFitIntoSharedMemory) {
  const Potts model = potts_of(ring(9000, one_of({-1, 1}, 25), constant(0)), 3, constant(0));
  for (const SweepRule rule : both_rules) {
    expect_definition(queue(), make_potts_sweep(model, rule, 33, 26), "9000 variables");
  }
}

TEST_P(CategoricalSweepKernel, KeepsIntegerEnergiesExact) {
  for (const SweepRule rule : both_rules) {
    const PottsInputs inputs = make_potts_sweep(
        potts_of(sparse_pairs(200, integers(9, 27)), 6, integers(9, 28)), rule, 96, 29);

    const PottsOutputs out = run_potts_sweeps(queue(), inputs);

    for (std::int64_t slot = 0; slot < 96; ++slot) {
      const auto energy = [&](const std::vector<std::int8_t>& values) {
        return problems::potts_energy(inputs.model, values_of(values, 96, slot));
      };
      EXPECT_EQ(out.energy[idx(slot)],
                potts_energy_before + energy(out.values) - energy(inputs.values));
    }
  }
}

TEST_P(CategoricalSweepKernel, LeavesEnergiesOfRealModelsAlone) {
  const PottsInputs inputs = make_potts_sweep(
      potts_of(sparse_pairs(30, reals(1, 30)), 3, constant(0)), SweepRule::metropolis, 32, 31);

  EXPECT_EQ(run_potts_sweeps(queue(), inputs).energy, std::vector<double>(32, potts_energy_before));
}

TEST_P(CategoricalSweepKernel, CountsOnlyWhereItIsAsked) {
  PottsInputs inputs = make_potts_sweep(potts_of(sparse_pairs(30, integers(1, 32)), 3, constant(0)),
                                        SweepRule::heat_bath, 32, 33);
  inputs.count_accepted = false;
  expect_definition(queue(), inputs, "no counts");
}

TEST_P(CategoricalSweepKernel, DoesNothingOnceStoppedOrAtTheLimit) {
  PottsInputs inputs = make_potts_sweep(potts_of(sparse_pairs(30, integers(1, 34)), 3, constant(0)),
                                        SweepRule::metropolis, 32, 35);
  inputs.control.step_limit = inputs.control.step + 1;
  expect_definition(queue(), inputs, "limit");
  inputs.control.stop = DeviceStop::target;
  EXPECT_EQ(run_potts_sweeps(queue(), inputs).values, inputs.values);
}

void expect_in_all_shapes(Device device, const PottsInputs& inputs, const std::string& what) {
  const PottsOutputs plain = plain_potts_sweeps(inputs);
  for (const char* shape :
       {"", "1x1", "1x4", "1x16", "1x32", "2x1", "2x3", "2x16", "1x2g", "1x3g", "s8x4"}) {
    const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", shape);
    // A queue of the CUDA backend reads the variable when it is made.
    const std::unique_ptr<Queue> fresh = open_backend(to_string(device)).backend->make_queue();
    EXPECT_EQ(first_difference(run_potts_sweeps(*fresh, inputs), plain), "")
        << what << ", shape " << shape;
    if (device == Device::cpu) return;
  }
}

TEST_P(CategoricalSweepKernel, HasTheSameBitsForEveryLaunchShape) {
  for (const SweepRule rule : both_rules) {
    for (const std::int32_t q : {2, 3, 7, 9, 100}) {
      for (const std::int64_t slots : {1, 65, 200}) {
        const Ising pairs = sparse_pairs(500, integers(4, 35));
        const std::string what = std::to_string(q) + " values";
        expect_in_all_shapes(
            GetParam(), make_potts_sweep(potts_of(pairs, q, constant(0)), rule, slots, 36), what);
        expect_in_all_shapes(
            GetParam(), make_potts_sweep(potts_of(pairs, q, integers(999, 37)), rule, slots, 36),
            what + ", fields");
      }
      expect_in_all_shapes(
          GetParam(),
          make_potts_sweep(potts_of(sparse_pairs(500, reals(1, 36)), q, reals(1, 37)), rule, 65,
                           38),
          "reals");
    }
  }
}

// Sums of couplings of 127 are counted in bytes, larger ones are not.
TEST_P(CategoricalSweepKernel, CountsUpToTheLimitOfABytesInEveryShape) {
  for (const double weight : {-1.0, 1.0}) {
    for (const std::int32_t leaves : {127, 128}) {
      PottsInputs inputs =
          make_potts_sweep(potts_of(star(leaves, 3, constant(weight)), 2, constant(0)),
                           SweepRule::metropolis, 70, 50);
      for (std::size_t i = 0; i < inputs.values.size(); ++i) inputs.values[i] = i % 70 % 2;
      expect_in_all_shapes(GetParam(), inputs, std::to_string(leaves) + " leaves");
    }
  }
}

// Several keys in a block, and rows that do not begin at a word.
TEST_P(CategoricalSweepKernel, TakesGroupsAndStridesInEveryShape) {
  for (const std::int64_t groups : {2, 5, 16, 32}) {
    for (const std::int64_t stride : {0, 3, 4}) {
      PottsInputs inputs =
          make_potts_sweep(potts_of(sparse_pairs(90, integers(3, 51)), 3, integers(1, 52)),
                           SweepRule::metropolis, 128, 53);
      inputs.names = make_names(128, groups, 54);
      inputs.extra_stride = stride;
      expect_in_all_shapes(GetParam(), inputs, std::to_string(groups) + " groups");
    }
  }
}

// A word that equals the threshold is rejected, one below it is accepted.
TEST_P(CategoricalSweepKernel, RejectsTheThresholdItself) {
  for (const double field : {0.0, 5.0}) {
    const Potts model = potts_of(ring(40, constant(-3), constant(0)), 3, constant(0));
    PottsInputs inputs = make_potts_sweep(model, SweepRule::metropolis, 32, 55);
    // All neighbours agree, so that leaving them costs 6, and more where value 0 is favoured.
    inputs.values.assign(inputs.values.size(), 0);
    for (std::int32_t i = 0; field != 0 && i < 40; ++i)
      inputs.model.fields.push_back({i, 0, -field});
    inputs.sweeps = 1;
    const double delta = 6 + field;
    for (std::size_t slot = 0; slot < 32; ++slot) {
      const std::uint32_t word = draw_word({inputs.names.key[slot], inputs.control.step,
                                            inputs.names.replica[slot], RngDomain::metropolis, 0},
                                           1);
      double low = 0, high = 23 / delta;
      for (int i = 0; i < 200; ++i) {
        const double middle = (low + high) / 2;
        (exact::accept_threshold(middle * delta) > word + slot % 2 ? low : high) = middle;
      }
      inputs.beta[idx(inputs.rung[slot])] = high;
    }
    expect_in_all_shapes(GetParam(), inputs, "threshold");
  }
}

// Words so close to a cumulated weight that the last bit of beta decides the value. All neighbours
// agree: their value has the weight 1, the two others exp(-6 beta) each.
TEST_P(CategoricalSweepKernel, HeatBathDecidesBordersExactly) {
  PottsInputs inputs = make_potts_sweep(
      potts_of(ring(40, constant(-3), constant(0)), 3, constant(0)), SweepRule::heat_bath, 64, 56);
  inputs.values.assign(inputs.values.size(), 0);
  inputs.sweeps = 1;
  for (std::size_t slot = 0; slot < 64; ++slot) {
    const std::uint32_t word = draw_word({inputs.names.key[slot], inputs.control.step,
                                          inputs.names.replica[slot], RngDomain::metropolis, 0},
                                         1);
    const auto stays = [&](double beta) {
      const double other = exact::exp(-(beta * 6));
      return word * 0x1p-32 * (1 + other + other) < 1;
    };
    double low = 0, high = 4;
    if (stays(low) || !stays(high)) continue;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      (stays(middle) ? high : low) = middle;
    }
    inputs.beta[idx(inputs.rung[slot])] = slot % 2 == 0 ? low : high;
  }
  expect_in_all_shapes(GetParam(), inputs, "border");
}

TEST_P(CategoricalSweepKernel, MatchesCpu) {
  for (const SweepRule rule : both_rules) {
    const PottsInputs inputs =
        make_potts_sweep(potts_of(sparse_pairs(300, reals(1, 39)), 9, reals(1, 40)), rule, 128, 41);

    EXPECT_EQ(
        first_difference(run_potts_sweeps(queue(), inputs), run_potts_sweeps(cpu_queue(), inputs)),
        "");
  }
}

}  // namespace
}  // namespace kiln::test::categorical_sweep_test
