// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// metropolis_sweep by planes with few words, bit for bit against the definition: a CPU decides
// several sites of a class in one vector, and their rows, parities and powers of two differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kiln/backend.hpp"

#include "backends/backends.hpp"
#include "backends/cpu_queue.hpp"
#include "models/models_sweep.hpp"
#include "plane_inputs.hpp"

namespace kiln::test::metropolis_sweep_packs_test {
namespace {

struct Rows {
  std::string name;
  std::function<Ising()> model;
  std::vector<double> betas;
};
void PrintTo(const Rows& rows, std::ostream* out) { *out << rows.name; }

// A ring, and hubs with so many neighbours each: most rows are short, and one of a pack is long.
Ising hubs(std::int32_t n, std::int32_t every, std::int32_t degree) {
  Ising model = ring(n, constant(1), constant(0));
  TestRandom random(70);
  for (std::int32_t hub = 0; hub < n; hub += every) {
    std::vector<bool> known(idx(n));
    for (std::int32_t i = 0; i < degree; ++i) {
      const auto other = static_cast<std::int32_t>(random.word() % static_cast<std::uint64_t>(n));
      const std::int32_t apart = std::abs(other - hub);
      if (apart < 2 || apart == n - 1 || known[idx(other)] || other % every == 0) continue;
      known[idx(other)] = true;
      model.couplings.push_back({std::min(hub, other), std::max(hub, other), -1});
    }
  }
  return model;
}

std::vector<Rows> rows() {
  return {
      {"mixed_parity", [] { return glass(150, 6); }, {0.25}},
      {"positive_only", [] { return sparse(160, 5, constant(1), constant(0), 71); }, {0.3}},
      {"negative_only", [] { return sparse(160, 5, constant(-1), constant(0), 72); }, {0.3}},
      {"fields_only", [] { return isolated_spins(std::vector<double>(37, -2.0)); }, {0.2}},
      {"blocks_of_packs",
       [] {
         return lattice({24, 40}, one_of({-1, 1}, 73), constant(0));
       },
       {0.5}},
      {"short_rows", [] { return short_rows(); }, {0.5}},
      {"hubs", [] { return hubs(400, 80, 90); }, {0.08}},
      {"powers_of_two",
       [] {
         return sparse(170, 3, one_of({-32, -1, 2, 5, 16}, 74), one_of({-3, 0, 1}, 75), 76);
       },
       {0.02}},
      {"hot_powers",
       [] {
         return sparse(170, 3, one_of({-32, -1, 2, 5, 16}, 74), one_of({-3, 0, 1}, 75), 76);
       },
       {1e-4, 0.004}},
      {"largest_sums",
       [] {
         return star(250, 3, one_of({-1, 1}, 77));
       },
       {0.02}},
      {"zero_weights",
       [] {
         return sparse(90, 4, one_of({0, 1, -2}, 78), constant(0), 79);
       },
       {0.2}},
  };
}

class MetropolisSweepPacks : public testing::TestWithParam<Rows> {};
std::string name_of(const testing::TestParamInfo<Rows>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Cpu, MetropolisSweepPacks, testing::ValuesIn(rows()), name_of);

void expect_definition(const SweepInputs& given, const std::string& what) {
  const SweepOutputs expected = plain_sweeps(given);
  for (const char* isa : {"baseline", "avx2", ""}) {
    const ScopedEnvironment chosen("KILN_CPU_ISA", isa);
    EXPECT_EQ(first_difference(run_sweeps(*cpu_queue(), given), expected), "")
        << what << ", KILN_CPU_ISA=" << isa;
  }
}

TEST_P(MetropolisSweepPacks, MatchTheDefinitionWithAnyNumberOfWords) {
  for (const std::int64_t words : {1, 2, 3, 4, 6, 8, 16, 18}) {
    SweepInputs given = grouped(GetParam().model(), words, words, GetParam().betas, 80);
    given.in_row = true;
    expect_definition(given, std::to_string(words) + " words");
  }
}

// Words of one key with temperatures of their own.
TEST_P(MetropolisSweepPacks, MatchTheDefinitionAtSeveralTemperatures) {
  for (const std::int64_t words : {2, 4, 7, 16}) {
    SweepInputs given = laddered(GetParam().model(), words, words, GetParam().betas);
    given.in_row = true;
    expect_definition(given, std::to_string(words) + " words");
  }
}

// Groups of two words each in one task, whose widths differ from that of the task.
TEST_P(MetropolisSweepPacks, MatchTheDefinitionInGroups) {
  expect_definition(grouped(GetParam().model(), 11, 2, GetParam().betas, 81), "groups of 2");
  expect_definition(grouped(GetParam().model(), 9, 3, GetParam().betas, 82), "groups of 3");
}

}  // namespace
}  // namespace kiln::test::metropolis_sweep_packs_test
