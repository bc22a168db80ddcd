// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// metropolis_sweep where it counts neighbours in slices: sums that just fit, words that are left
// over, tables of thresholds that are shared, missing, or too small for one word.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "kiln/backend.hpp"
#include "kiln/device/rng_domains.hpp"

#include "backends/backends.hpp"
#include "models/models_sweep.hpp"

namespace kiln::test::metropolis_sweep_slices_test {
namespace {

struct SliceCase {
  std::string name;
  std::function<SweepInputs()> inputs;
};
void PrintTo(const SliceCase& c, std::ostream* out) { *out << c.name; }

// A centre whose |h| + sum |J| is `sum`; with one more, sums have another bit.
SweepInputs centre_case(std::int32_t sum) {
  Ising model = star(sum - 3, 4, one_of({-1, 1}, idx(sum)));
  model.fields[0] = -3;
  return make_sweep(std::move(model), 64, 1, 20);
}

// A vertex with so many neighbours and no fields; from 256 on its sums have 16 bits instead of 8.
SweepInputs hub_case(std::int32_t neighbors, std::int64_t slots = 64) {
  return make_sweep(star(neighbors, 4, one_of({-1, 1, 1}, idx(neighbors))), slots, 2, 41);
}

// Hubs among others: six of several classes, which neighbour each other.
SweepInputs several_hubs(std::int64_t slots, std::int64_t groups) {
  Ising model = sparse(1200, 5, one_of({-1, 1}, 42), constant(0), 43);
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Edge& e : model.couplings) pairs.emplace(e.u, e.v);
  TestRandom random(44);
  for (std::int32_t hub = 0; hub < 6; ++hub) {
    for (std::int32_t v = hub + 1; v < 300 + 120 * hub; ++v) {
      if (!pairs.emplace(hub, v).second) continue;
      model.couplings.push_back({hub, v, random.between(0, 1) == 0 ? -1.0 : 1.0});
    }
  }
  return make_sweep(std::move(model), slots, groups, 45);
}

// Couplings of several bits, which have several terms.
SweepInputs weighted_case(double largest) {
  return make_sweep(
      sparse(90, 5, one_of({-largest, -1, 2, largest}, 21), one_of({-2, 0, 1}, 22), 23), 96, 3, 24);
}

// Enough words for several of a block and a rest, under one key or several.
SweepInputs many_words(std::int64_t words, std::int64_t groups) {
  return make_sweep(sparse(90, 4, one_of({-1, 1}, 25), one_of({-1, 0, 1}, 26), 27), 32 * words,
                    groups, 28);
}

// One temperature for all, as in an anneal.
SweepInputs one_temperature() {
  SweepInputs inputs = many_words(11, 1);
  inputs.beta.assign(inputs.beta.size(), 0.4);
  return inputs;
}

// More temperatures than a block has tables: sums of 250 need two KiB each.
SweepInputs many_temperatures() {
  SweepInputs inputs = make_sweep(star(250, 0, one_of({-1, 1}, 29)), 32 * 9, 1, 30);
  for (std::size_t i = 0; i < inputs.beta.size(); ++i) {
    inputs.beta[i] = 0.001 * static_cast<double>(i + 1);
  }
  return inputs;
}

// A key under which replica 3 draws the word 2^32 - 1 for site 3 at step 5: at beta = 0 all words
// accept, and this one is not below any threshold of 32 bits.
SweepInputs largest_word() {
  SweepInputs inputs = many_words(1, 1);
  for (std::size_t slot = 0; slot < 32; ++slot) {
    inputs.names.key[slot] = 38521366;
    inputs.names.replica[slot] = static_cast<std::uint32_t>(slot);
  }
  inputs.beta.assign(inputs.beta.size(), 0.0);
  return inputs;
}

std::vector<SliceCase> metropolis_cases() {
  std::vector<SliceCase> all;
  for (const std::int32_t sum : {7, 8, 63, 64, 127, 128, 255, 256}) {
    all.push_back({"sum_" + std::to_string(sum), [sum] { return centre_case(sum); }});
  }
  for (const double largest : {3.0, 7.0, 21.0}) {
    all.push_back({"weights_" + std::to_string(static_cast<int>(largest)),
                   [largest] { return weighted_case(largest); }});
  }
  for (const std::int64_t words : {8, 13}) {
    all.push_back({"words_" + std::to_string(words), [words] { return many_words(words, 1); }});
  }
  for (const std::int32_t neighbors : {252, 253, 255, 256, 257, 1000, 65534, 65535}) {
    all.push_back(
        {"hub_of_" + std::to_string(neighbors), [neighbors] { return hub_case(neighbors); }});
  }
  all.push_back({"hub_one_word", [] { return hub_case(300, 32); }});
  all.push_back({"hubs", [] { return several_hubs(32 * 11, 1); }});
  all.push_back({"hubs_of_groups", [] { return several_hubs(96, 6); }});
  all.push_back({"groups_of_16", [] { return many_words(13, 26); }});
  all.push_back({"one_temperature", one_temperature});
  all.push_back({"many_temperatures", many_temperatures});
  all.push_back({"largest_word", largest_word});
  return all;
}

std::vector<SliceCase> cases() {
  std::vector<SliceCase> all = metropolis_cases();
  for (SliceCase& c : metropolis_cases()) {
    all.push_back({c.name + "_heat_bath", [metropolis = c.inputs] {
                     SweepInputs inputs = metropolis();
                     inputs.rule = SweepRule::heat_bath;
                     return inputs;
                   }});
  }
  return all;
}

class MetropolisSweepSlices : public testing::TestWithParam<std::tuple<Device, SliceCase>> {
 protected:
  void SetUp() override { skip_without(std::get<0>(GetParam())); }
  Device device() const { return std::get<0>(GetParam()); }
  SweepInputs inputs() const { return std::get<1>(GetParam()).inputs(); }
};

std::string name_of(const testing::TestParamInfo<std::tuple<Device, SliceCase>>& info) {
  return std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(Cpu, MetropolisSweepSlices,
                         testing::Combine(testing::Values(Device::cpu), testing::ValuesIn(cases())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisSweepSlices,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(cases())),
                         name_of);

// The CPU has tasks of several widths instead, see MetropolisSweepTasks.
class MetropolisSweepSliceShapes : public MetropolisSweepSlices {};
INSTANTIATE_TEST_SUITE_P(Cuda, MetropolisSweepSliceShapes,
                         testing::Combine(testing::Values(Device::cuda),
                                          testing::ValuesIn(cases())),
                         name_of);

TEST_P(MetropolisSweepSlices, MatchTheDefinition) {
  const SweepInputs given = inputs();

  const SweepOutputs out = run_sweeps(*open_device(device()).queue, given);

  EXPECT_EQ(first_difference(out, plain_sweeps(given)), "");
}

TEST_P(MetropolisSweepSliceShapes, HaveTheSameBits) {
  const SweepInputs given = inputs();
  const SweepOutputs expected = plain_sweeps(given);
  for (const char* shape :
       {"s8x1", "s8x16", "s8x7", "s4x8", "s4x3", "s2x16", "s2x1", "s8x16g", "s8x3g"}) {
    const ScopedEnvironment chosen("KILN_CUDA_SWEEP_SHAPE", shape);
    const std::unique_ptr<Queue> fresh = open_backend(to_string(device())).backend->make_queue();
    EXPECT_EQ(first_difference(run_sweeps(*fresh, given), expected), "") << shape;
  }
}

TEST(MetropolisSweepSlicesLargestWord, IsDrawn) {
  const SweepInputs given = largest_word();
  const DrawName name{given.names.key[3], given.control.step, given.names.replica[3],
                      RngDomain::metropolis, 0};
  EXPECT_EQ(draw_word(name, 3), 0xFFFFFFFFu);
}

class MetropolisSweepTemperature : public DeviceTest {};
KILN_ON_EVERY_BACKEND(MetropolisSweepTemperature);

// Sparse, dense and real models by all namings and rules, in rows and one by one: sweeps without a
// temperature first, last and between others. Words lie on one rung, or on two each.
TEST_P(MetropolisSweepTemperature, ThatIsNoNumberCountsAsInfinity) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Ising models[] = {
      sparse(60, 5, one_of({-1, 1}, 51), one_of({-1, 0, 0, 1}, 52), 53),
      dense(40, one_of({-1, 1}, 54), constant(1)),
      sparse(50, 4, one_of({0.1, -0.7, 1.3}, 55), constant(0.25), 56),
  };
  const std::vector<bool> numbers[] = {
      {true, false}, {false, true, true}, {true, false, true, false}};
  for (const Ising& model : models) {
    for (const DrawNaming naming : {DrawNaming::words, DrawNaming::planes, DrawNaming::shared}) {
      for (const SweepRule rule : {SweepRule::metropolis, SweepRule::heat_bath}) {
        for (const std::vector<bool>& is_number : numbers) {
          for (const std::int32_t rungs : {1, 2}) {
            SweepInputs given = make_sweep(model, 96, 1, 57);
            given.naming = naming;
            given.rule = rule;
            given.sweeps = static_cast<std::uint32_t>(is_number.size());
            given.beta_stride = rungs;
            given.beta.clear();
            for (const bool number : is_number) {
              for (std::int32_t r = 0; r < rungs; ++r)
                given.beta.push_back(number ? 0.3 + r : infinity);
            }
            for (std::size_t slot = 0; slot < 96; ++slot) {
              given.rung[slot] = static_cast<std::int32_t>(slot) % rungs;
            }
            const SweepOutputs expected = plain_sweeps(given);
            for (double& beta : given.beta) {
              if (beta == infinity) beta = std::numeric_limits<double>::quiet_NaN();
            }
            for (const bool in_row : {false, true}) {
              given.in_row = in_row;
              EXPECT_EQ(first_difference(run_sweeps(queue(), given), expected), "")
                  << to_string(naming) << ", rule " << static_cast<int>(rule) << ", " << rungs;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::metropolis_sweep_slices_test
