// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// metropolis_sweep with draws by planes and with shared noise, bit for bit against the definition:
// words of one key and one temperature, whose replicas are decided together, and all others, which
// are decided replica by replica.
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
#include "backends/cpu_queue.hpp"
#include "models/models_sweep.hpp"
#include "plane_inputs.hpp"

namespace kiln::test::metropolis_sweep_planes_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct PlaneCase {
  std::string name;
  std::function<SweepInputs()> inputs;
};
void PrintTo(const PlaneCase& c, std::ostream* out) { *out << c.name; }

// A centre whose |h| + sum |J| is `sum`; with one more, sums have another bit.
SweepInputs centre_case(std::int32_t sum) {
  Ising model = star(sum - 3, 4, one_of({-1, 1}, idx(sum)));
  model.fields[0] = -3;
  return grouped(std::move(model), 5, 2, {0.011, 0.03, 0.2});
}

SweepInputs weighted_case(double largest) {
  return grouped(sparse(90, 5, one_of({-largest, -1, 2, largest}, 44), one_of({-2, 0, 1}, 45), 46),
                 6, 4, {0.02, 0.1, 0.5});
}

// Words that no plane serves: neighbours of other keys, of other temperatures, out of order.
SweepInputs mixed(const std::function<void(SweepInputs&, std::size_t slot)>& change) {
  SweepInputs inputs = grouped(glass(60, 5), 5, 5, {0.2});
  for (std::size_t slot = 32; slot < 64; ++slot) change(inputs, slot);
  return inputs;
}

SweepInputs with_step(std::uint64_t step) {
  SweepInputs inputs = grouped(glass(70, 6), 3, 3, {0.3});
  inputs.control.step = step;
  return inputs;
}

std::vector<PlaneCase> uniform_cases() {
  std::vector<PlaneCase> all;
  for (const std::int32_t sum : {7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255}) {
    all.push_back({"sum_" + std::to_string(sum), [sum] { return centre_case(sum); }});
  }
  for (const double largest : {3.0, 7.0, 21.0}) {
    all.push_back({"weights_" + std::to_string(static_cast<int>(largest)),
                   [largest] { return weighted_case(largest); }});
  }
  for (const std::int64_t words : {1, 2, 3, 5, 8, 13, 16, 17, 35}) {
    all.push_back({"words_" + std::to_string(words),
                   [words] { return grouped(glass(60, 5), words, words, {0.25}); }});
  }
  for (const double beta : {0.0, 1e-300, 1e-11, 1e-9, 0.05, 0.17, 0.5, 1.0, 3.0, 6.0, infinity}) {
    all.push_back({"beta_" + std::to_string(all.size()),
                   [beta] { return grouped(glass(100, 8), 4, 4, {beta}); }});
  }
  const std::vector<double> betas = {0.1, infinity, 0.4, 0.0, 0.9, 0.2};
  for (const std::int64_t group : {1, 2, 3, 5}) {
    all.push_back({"groups_of_" + std::to_string(group),
                   [=] { return grouped(glass(60, 5), 19, group, betas); }});
  }
  all.push_back({"torus", [] {
                   return grouped(lattice({10, 12}, one_of({-1, 1}, 47), constant(0)), 9, 9, {0.6});
                 }});
  all.push_back({"odd_torus", [] {
                   return grouped(lattice({5, 7}, one_of({-1, 1}, 61), constant(0)), 18, 18, {0.6});
                 }});
  all.push_back({"short_rows", [] { return grouped(short_rows(), 18, 18, {0.5}); }});
  all.push_back({"short_rows_in_groups", [=] { return grouped(short_rows(), 19, 3, betas); }});
  for (const std::int64_t rungs : {3, 16, 32}) {
    const std::string name = std::to_string(rungs) + "_rungs";
    all.push_back({name, [=] { return laddered(glass(60, 5), 35, rungs, betas); }});
    all.push_back(
        {name + "_torus", [=] {
           return laddered(lattice({10, 12}, one_of({-1, 1}, 62), constant(0)), 35, rungs, betas);
         }});
    all.push_back({name + "_weights", [=] {
                     return laddered(
                         sparse(90, 5, one_of({-7, -1, 2, 7}, 63), one_of({-2, 0, 1}, 64), 65), 35,
                         rungs, {0.03, 0.3});
                   }});
  }
  all.push_back({"many_sweeps", [] {
                   SweepInputs inputs = grouped(glass(60, 5), 17, 17, {0.3});
                   inputs.sweeps = 19;
                   return inputs;
                 }});
  all.push_back({"many_sweeps_torus", [] {
                   SweepInputs inputs =
                       grouped(lattice({8, 8}, one_of({-1, 1}, 66), constant(0)), 16, 16, {0.5});
                   inputs.sweeps = 19;
                   return inputs;
                 }});
  // States that leave little room: with shared noise a block draws for a part of the sites.
  all.push_back({"little_room", [] { return grouped(glass(2900, 4), 5, 5, {0.3}); }});
  all.push_back({"many_sites", [] {
                   return grouped(ring(9000, one_of({-1, 1}, 48), constant(0)), 3, 3, {0.4});
                 }});
  all.push_back({"one_spin", [] { return grouped(isolated_spins({3}), 2, 2, {0.1}); }});
  all.push_back({"zero_weights", [] {
                   return grouped(ring(30, constant(0), constant(0)), 2, 1, {0.1, 1.0});
                 }});
  all.push_back({"step_crosses_2_to_32", [] { return with_step(0xFFFFFFFEull); }});
  all.push_back({"step_above_2_to_32", [] { return with_step((0x1234ull << 32) + 77); }});
  all.push_back({"strided", [] {
                   SweepInputs inputs = grouped(glass(60, 5), 4, 4, {0.3});
                   inputs.extra_stride = 1;
                   return inputs;
                 }});
  all.push_back({"inverse_scale", [] {
                   SweepInputs inputs = grouped(glass(60, 5), 4, 2, {0.3, 0.7});
                   inputs.inverse_scale = 0.3;
                   return inputs;
                 }});
  all.push_back({"not_counted", [] {
                   SweepInputs inputs = grouped(glass(60, 5), 4, 2, {0.3, 0.7});
                   inputs.count_accepted = false;
                   return inputs;
                 }});
  return all;
}

std::vector<PlaneCase> other_cases() {
  return {
      {"other_key",
       [] { return mixed([](SweepInputs& i, std::size_t s) { i.names.key[s] += s % 3 == 0; }); }},
      {"out_of_order",
       [] { return mixed([](SweepInputs& i, std::size_t s) { i.names.replica[s] ^= 1; }); }},
      {"between_words",
       [] { return mixed([](SweepInputs& i, std::size_t s) { i.names.replica[s] += 7; }); }},
      {"other_rung",
       [] {
         return mixed([](SweepInputs& i, std::size_t s) {
           i.beta.push_back(0.01 * static_cast<double>(s));
           i.rung[s] = static_cast<std::int32_t>(i.beta.size() - 1);
         });
       }},
      {"rung_for_each_slot",
       [] {
         SweepInputs inputs = make_sweep(glass(60, 5), 96, 3, 50);
         inputs.naming = DrawNaming::planes;
         return inputs;
       }},
      {"groups_of_9",
       [] {
         SweepInputs inputs = make_sweep(glass(60, 5), 288, 32, 51);
         inputs.naming = DrawNaming::planes;
         return inputs;
       }},
      {"sum_256", [] { return centre_case(256); }},
      {"sum_900", [] { return centre_case(900); }},
      {"reals",
       [] {
         return grouped(sparse(50, 4, one_of({0.1, -0.7, 1.3}, 52), constant(0.25), 53), 3, 3,
                        {0.5});
       }},
      {"dense",
       [] {
         return grouped(dense(33, one_of({-1, 1}, 54), constant(1)), 3, 3, {0.2});
       }},
  };
}

std::vector<PlaneCase> cases() {
  std::vector<PlaneCase> all = uniform_cases();
  for (const PlaneCase& c : other_cases()) all.push_back(c);
  for (const PlaneCase& c : std::vector<PlaneCase>(all)) {
    all.push_back({"shared_" + c.name, [planes = c.inputs] {
                     SweepInputs inputs = planes();
                     inputs.naming = DrawNaming::shared;
                     return inputs;
                   }});
  }
  for (const char* name : {"sum_16", "groups_of_2", "other_key", "reals", "shared_sum_16"}) {
    for (const PlaneCase& c : std::vector<PlaneCase>(all)) {
      if (c.name != name) continue;
      all.push_back({c.name + "_heat_bath", [metropolis = c.inputs] {
                       SweepInputs inputs = metropolis();
                       inputs.rule = SweepRule::heat_bath;
                       return inputs;
                     }});
    }
  }
  return all;
}

class MetropolisSweepPlanes : public testing::TestWithParam<std::tuple<Device, PlaneCase>> {
 protected:
  void SetUp() override { skip_without(std::get<0>(GetParam())); }
  Device device() const { return std::get<0>(GetParam()); }
  SweepInputs inputs() const { return std::get<1>(GetParam()).inputs(); }
};

std::string name_of(const testing::TestParamInfo<std::tuple<Device, PlaneCase>>& info) {
  return std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Cpu, MetropolisSweepPlanes,
                         testing::Combine(testing::Values(Device::cpu), testing::ValuesIn(cases())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisSweepPlanes,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(cases())),
                         name_of);

TEST_P(MetropolisSweepPlanes, MatchTheDefinition) {
  const SweepInputs given = inputs();

  const SweepOutputs out = run_sweeps(*open_device(device()).queue, given);

  EXPECT_EQ(first_difference(out, plain_sweeps(given)), "");
}

// Otherwise all other comparisons would compare words with words.
TEST(MetropolisSweepPlaneNaming, IsAnotherOne) {
  SweepInputs given = grouped(glass(60, 5), 2, 2, {0.3});
  const SweepOutputs by_planes = run_sweeps(*cpu_queue(), given);
  for (const DrawNaming other : {DrawNaming::words, DrawNaming::shared}) {
    given.naming = other;
    EXPECT_NE(first_difference(run_sweeps(*cpu_queue(), given), by_planes), "");
  }
}

// Sweeps of one launch, at one beta and each at another; the limit of the run cuts the row off.
TEST_P(MetropolisSweepPlanes, HaveTheSameBitsInARow) {
  SweepInputs given = inputs();
  given.in_row = true;
  Queue& queue = *open_device(device()).queue;
  EXPECT_EQ(first_difference(run_sweeps(queue, given), plain_sweeps(given)), "");
  given.beta_stride = static_cast<std::int64_t>(given.beta.size());
  const std::vector<double> first = given.beta;
  for (std::uint32_t s = 1; s < given.sweeps; ++s) {
    for (const double beta : first) given.beta.push_back(s == 1 ? 1.5 * beta : 0.25);
  }
  EXPECT_EQ(first_difference(run_sweeps(queue, given), plain_sweeps(given)), "");
  given.control.step_limit = given.control.step + 2;
  EXPECT_EQ(first_difference(run_sweeps(queue, given), plain_sweeps(given)), "");
  given.energies_hold = true;
  EXPECT_EQ(first_difference(run_sweeps(queue, given), plain_sweeps(given)), "");
}

std::vector<std::pair<const char*, std::string>> variants_of(Device device) {
  std::vector<std::pair<const char*, std::string>> all;
  if (device == Device::cpu) {
    for (const char* isa : {"baseline", "avx2", ""}) all.emplace_back("KILN_CPU_ISA", isa);
    return all;
  }
  for (const char* shape : {"1x1", "2x8", "2x3g", "p16x16", "p16x3", "p8x16", "p8x7", "p4x8",
                            "p2x1", "p2x16", "p8x4g"}) {
    all.emplace_back("KILN_CUDA_SWEEP_SHAPE", shape);
  }
  return all;
}

TEST_P(MetropolisSweepPlanes, HaveTheSameBitsInEveryVariant) {
  SweepInputs given = inputs();
  given.in_row = given.energies_hold = true;  // so new energies may be evaluated
  const SweepOutputs expected = plain_sweeps(given);
  for (const auto& [variable, value] : variants_of(device())) {
    if (given.extra_stride > 0 && value == "2x3g") continue;  // loads words in pairs
    const ScopedEnvironment chosen(variable, value.c_str());
    const std::unique_ptr<Queue> fresh = open_backend(to_string(device())).backend->make_queue();
    EXPECT_EQ(first_difference(run_sweeps(*fresh, given), expected), "")
        << variable << "=" << value;
  }
}

// The beta at which so many words accept a step of this dE.
double beta_of_threshold(std::uint64_t threshold, double delta) {
  double low = 0, high = 24 / delta;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (exact::accept_threshold(delta * middle) > threshold ? low : high) = middle;
  }
  return high;
}

class MetropolisSweepPlaneTies : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MetropolisSweepPlaneTies);

// A word that equals the threshold of a step of dE = 2 `field` is rejected, one below it is
// accepted.
void expect_exact_threshold(Queue& queue, DrawNaming naming, int field) {
  const std::size_t n = 40;
  const double delta = 2.0 * field;
  for (const std::uint32_t replica : {0u, 7u, 31u, 32u, 63u}) {
    for (const std::size_t site : {0u, 3u, 4u, 39u}) {
      SweepInputs inputs = grouped(isolated_spins(std::vector<double>(n, -field)), 2, 2, {1.0});
      inputs.spins.assign(inputs.spins.size(), 1);
      inputs.sweeps = 1;
      inputs.naming = naming;
      const DrawName name{inputs.names.key[0], inputs.control.step, replica, RngDomain::metropolis,
                          0};
      const std::uint32_t word = word_of(naming, name, site);
      for (const std::uint32_t more : {0u, 1u}) {
        inputs.beta = {beta_of_threshold(std::uint64_t{word} + more, delta)};
        ASSERT_EQ(exact::accept_threshold(delta * inputs.beta[0]), std::uint64_t{word} + more);

        const SweepOutputs out = run_sweeps(queue, inputs);

        EXPECT_EQ(out.spins[site * idx(inputs.slots) + replica], more == 1 ? -1 : 1)
            << "site " << site << ", replica " << replica << ", field " << field;
      }
    }
  }
}

// By planes all high bits are equal there, so the low bits decide.
TEST_P(MetropolisSweepPlaneTies, RejectTheThresholdItselfAndAcceptTheWordBelow) {
  expect_exact_threshold(queue(), DrawNaming::planes, 1);
}
TEST_P(MetropolisSweepPlaneTies, AreDecidedTheSameWithSharedNoise) {
  for (const int field : {1, 2, 3, 7, 20, 63, 100, 255}) {
    expect_exact_threshold(queue(), DrawNaming::shared, field);
  }
}

// On the CPU a task has 1, 2, 4, 8 or 16 words.
TEST(MetropolisSweepPlaneTasks, DoNotDependOnTheNumberOfThreads) {
  for (const DrawNaming naming : {DrawNaming::planes, DrawNaming::shared}) {
    for (const std::int64_t group : {1, 3, 35}) {
      SweepInputs given = grouped(glass(200, 6), 35, group, {0.2, 0.5});
      given.naming = naming;
      const SweepOutputs expected = plain_sweeps(given);
      for (const int threads : {1, 2, 3, 5}) {
        EXPECT_EQ(first_difference(run_sweeps(*cpu_queue(threads), given), expected), "")
            << to_string(naming) << ", groups of " << group << " words, " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::metropolis_sweep_planes_test
