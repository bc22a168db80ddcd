// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// metropolis_sweep on models of few neighbours, whose weights are real or wide integers: where the
// pattern of the neighbours' bits determines the energy change. Up to six bits a pattern, one of
// them the site's own where there are fields or reals.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>

#include "kiln/backend.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"

#include "backends/backends.hpp"
#include "models/models_sweep.hpp"

namespace kiln::test::metropolis_sweep_patterns_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unit = 0x1p38;  // of weights in fixed point

struct PatternCase {
  std::string name;
  std::function<SweepInputs()> inputs;
};
void PrintTo(const PatternCase& c, std::ostream* out) { *out << c.name; }

WeightSource fixed_point(std::uint64_t seed) {
  return [random = std::make_shared<TestRandom>(seed)] {
    return static_cast<double>(random->between(-(std::int64_t{1} << 38), std::int64_t{1} << 38));
  };
}
WeightSource reals(std::uint64_t seed, double size = 1) {
  return [size, random = std::make_shared<TestRandom>(seed)] {
    return size * (2 * random->unit() - 1);
  };
}
const WeightSource no_fields = constant(0);

// A square without periodic borders: two, three and four neighbours.
Ising square(std::int32_t side, const WeightSource& weight, const WeightSource& field) {
  Ising model = lattice({side, side}, weight, field);
  std::erase_if(model.couplings, [&](const Edge& e) {
    return std::abs(e.u % side - e.v % side) > 1 || std::abs(e.u / side - e.v / side) > 1;
  });
  return model;
}

// All temperatures that make_sweep() knows, or one for all as in an anneal.
PatternCase mixed(std::string name, const Ising& model, std::int64_t words = 9,
                  std::int64_t groups = 1) {
  return {std::move(name), [=] { return make_sweep(model, 32 * words, groups, 40); }};
}
PatternCase anneal(std::string name, const Ising& model, double beta, std::int64_t words = 9,
                   std::int64_t groups = 1) {
  return {std::move(name), [=] {
            SweepInputs inputs = make_sweep(model, 32 * words, groups, 41);
            inputs.beta.assign(inputs.beta.size(), beta);
            return inputs;
          }};
}

Ising torus() { return lattice({10, 8}, fixed_point(1), no_fields); }

std::vector<PatternCase> fixed_point_cases() {
  const Ising fields = lattice({10, 8}, fixed_point(2), fixed_point(3));
  const Ising cube = lattice({4, 5, 5}, fixed_point(4), no_fields);
  return {mixed("torus", torus(), 11),
          mixed("torus_groups_of_32", torus(), 9, 9),
          mixed("torus_groups_of_16", torus(), 9, 18),
          anneal("torus_anneal", torus(), 0.3 / unit, 11),
          anneal("torus_anneal_groups", torus(), 0.3 / unit, 6, 6),
          anneal("torus_hot", torus(), 0),
          anneal("torus_greedy", torus(), infinity),
          mixed("torus_fields", fields),
          anneal("torus_fields_anneal", fields, 0.3 / unit),
          mixed("cube", cube),
          anneal("cube_anneal", cube, 0.2 / unit),
          mixed("square", square(9, fixed_point(5), no_fields)),
          anneal("square_fields", square(9, fixed_point(5), fixed_point(6)), 0.3 / unit),
          mixed("chain_fields", ring(41, fixed_point(7), fixed_point(8))),
          mixed("seven_neighbors", star(7, 90, fixed_point(9))),
          anneal("six_neighbors_or_none", star(6, 90, fixed_point(9)), 0.3 / unit)};
}

// Flips that change nothing, and changes of one size.
std::vector<PatternCase> level_cases() {
  const Ising levels = lattice({10, 8}, one_of({-1000, 1000}, 10), no_fields);
  const Ising fields = lattice({10, 8}, one_of({-1000, 1000}, 10), one_of({-2000, 0, 1000}, 11));
  return {mixed("levels", levels), anneal("levels_anneal", levels, 0.0007),
          anneal("levels_greedy", levels, infinity), mixed("levels_fields", fields),
          anneal("levels_fields_anneal", fields, 0.0007)};
}

// Of the mirrored pattern the sum is rounded in another way.
std::vector<PatternCase> real_cases() {
  const Ising torus = lattice({10, 8}, reals(12), no_fields);
  const Ising chain = ring(40, reals(13), reals(14));
  const auto sized = [](double size) { return ring(40, reals(15, size), reals(16, size)); };
  return {mixed("reals", torus), anneal("reals_anneal", torus, 0.8), mixed("reals_chain", chain),
          anneal("reals_chain_anneal", chain, 0.8),
          mixed("reals_mixed_sizes", ring(60, one_of({1e-9, 1.0, -1e9, 0.1}, 17), no_fields)),
          // Sizes beyond single precision.
          anneal("reals_tiny_greedy", sized(1e-32), infinity),
          anneal("reals_subnormal", sized(1e-42), 1e42), anneal("reals_huge", sized(1e42), 1e-42),
          mixed("reals_tiny_mixed", sized(1e-32)), mixed("reals_huge_mixed", sized(1e42))};
}

SweepInputs strided() {
  SweepInputs inputs = make_sweep(torus(), 32 * 5, 1, 42);
  inputs.extra_stride = 1;
  inputs.count_accepted = false;
  inputs.inverse_scale = 0.3;
  return inputs;
}

// Replica 3 draws the word 2^32 - 1 for site 3 at step 5, see metropolis_sweep_slices_test.cpp.
SweepInputs largest_word() {
  SweepInputs inputs = make_sweep(torus(), 32, 1, 43);
  for (std::size_t slot = 0; slot < 32; ++slot) {
    inputs.names.key[slot] = 38521366;
    inputs.names.replica[slot] = static_cast<std::uint32_t>(slot);
  }
  inputs.beta.assign(inputs.beta.size(), 0.0);
  return inputs;
}

std::vector<PatternCase> cases() {
  std::vector<PatternCase> all = {
      {"strided", strided},
      {"largest_word", largest_word},
      mixed("larger_than_shared_memory", ring(70000, fixed_point(18), no_fields), 1),
      anneal("larger_than_shared_memory_anneal", ring(70000, reals(19), reals(20)), 0.7, 1)};
  for (const auto& more : {fixed_point_cases(), level_cases(), real_cases()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  for (std::size_t i = 0, n = all.size(); i < n; ++i) {
    all.push_back({all[i].name + "_heat_bath", [metropolis = all[i].inputs] {
                     SweepInputs inputs = metropolis();
                     inputs.rule = SweepRule::heat_bath;
                     return inputs;
                   }});
  }
  return all;
}

class MetropolisSweepPatterns : public testing::TestWithParam<std::tuple<Device, PatternCase>> {
 protected:
  void SetUp() override { skip_without(std::get<0>(GetParam())); }
  Device device() const { return std::get<0>(GetParam()); }
  SweepInputs inputs() const { return std::get<1>(GetParam()).inputs(); }
};

std::string name_of(const testing::TestParamInfo<std::tuple<Device, PatternCase>>& info) {
  return std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Cpu, MetropolisSweepPatterns,
                         testing::Combine(testing::Values(Device::cpu), testing::ValuesIn(cases())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisSweepPatterns,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(cases())),
                         name_of);

class MetropolisSweepPatternShapes : public MetropolisSweepPatterns {};
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisSweepPatternShapes,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(cases())),
                         name_of);

TEST_P(MetropolisSweepPatterns, MatchTheDefinition) {
  const SweepInputs given = inputs();

  const SweepOutputs out = run_sweeps(*open_device(device()).queue, given);

  EXPECT_EQ(first_difference(out, plain_sweeps(given)), "");
}

// The shape 2x8 is one of the general kernel.
TEST_P(MetropolisSweepPatternShapes, HaveTheSameBits) {
  const SweepInputs given = inputs();
  const SweepOutputs expected = plain_sweeps(given);
  for (const char* shape :
       {"s8x1", "s8x16", "s8x7", "s4x8", "s4x3", "s2x16", "s2x1", "s8x16g", "s8x3g", "2x8"}) {
    const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", shape);
    const std::unique_ptr<Queue> fresh = open_backend(to_string(device())).backend->make_queue();
    EXPECT_EQ(first_difference(run_sweeps(*fresh, given), expected), "") << shape;
  }
}

// The beta at which `threshold` words accept a change.
double beta_of(std::uint64_t threshold, double delta) {
  double low = 0, high = 23 / delta;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (exact::accept_threshold(middle * delta) > threshold ? low : high) = middle;
  }
  return high;
}

// A word that equals the threshold is rejected, one below it is accepted, in an anneal and among
// other temperatures.
TEST_P(MetropolisSweepPatterns, RejectTheThresholdItself) {
  SweepInputs given = inputs();
  const problems::PairwisePlan plan = problems::plan_pairwise(given.model);
  if (given.rule != SweepRule::metropolis || given.inverse_scale != 1 || plan.n_sites() > 1000) {
    return;
  }
  given.sweeps = 1;
  const PlainModel::Site site = plain_model(given.model, plan).sites[2];
  const std::int64_t slot = 5;
  const auto spin = [&](std::int32_t v) { return given.spins[idx(v * given.slots + slot)]; };
  double down = 0;
  for (const auto& other : site.neighbors) down += spin(other.variable) < 0 ? other.weight : 0.0;
  const double delta = std::abs(2.0 * (site.base - 2 * down));
  if (delta == 0) return;
  if (-2.0 * spin(site.variable) * (site.base - 2 * down) < 0) {
    given.spins[idx(site.variable * given.slots + slot)] *= -1;
  }
  const std::uint32_t word = draw_word({given.names.key[idx(slot)], given.control.step,
                                        given.names.replica[idx(slot)], RngDomain::metropolis, 0},
                                       2);
  // Few replicas of a small model take the general kernel otherwise.
  const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", "s8x4");
  const std::unique_ptr<Queue> queue = open_backend(to_string(device())).backend->make_queue();
  for (const std::uint32_t more : {0u, 1u}) {
    const double beta = beta_of(std::uint64_t{word} + more, delta);
    ASSERT_EQ(exact::accept_threshold(beta * delta), std::uint64_t{word} + more);
    given.beta[idx(given.rung[idx(slot)])] = beta;
    EXPECT_EQ(first_difference(run_sweeps(*queue, given), plain_sweeps(given)), "");
    SweepInputs alike = given;
    alike.beta.assign(given.beta.size(), beta);
    EXPECT_EQ(first_difference(run_sweeps(*queue, alike), plain_sweeps(alike)), "");
  }
}

}  // namespace
}  // namespace kiln::test::metropolis_sweep_patterns_test
