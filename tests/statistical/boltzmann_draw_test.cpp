// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Drawn candidates follow the Boltzmann law: a million draws a case, Pearson's chi-square over the
// candidates, p > 1e-3. There are 5 cases of one seed each on backends that have the same bits: a
// false alarm once in 200 if seeds were drawn anew. The negative controls must give p < 1e-6.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backends/backends_boltzmann.hpp"
#include "chi_square.hpp"

namespace kiln::test::boltzmann_draw_test {
namespace {

constexpr std::int64_t draws = 1000000;

class BoltzmannDraw : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BoltzmannDraw);

std::vector<double> energies_of(std::int64_t candidates) {
  TestRandom random(idx(candidates));
  std::vector<double> energy;
  for (std::int64_t j = 0; j < candidates; ++j) energy.push_back(4 * random.unit() - 100);
  return energy;
}

std::vector<double> law_of(const std::vector<double>& energy, double beta) {
  std::vector<double> law;
  for (const double e : energy) law.push_back(std::exp(-beta * (e + 100)));
  const double sum = std::accumulate(law.begin(), law.end(), 0.0);
  for (double& p : law) p /= sum;
  return law;
}

// Many launches of the same rows, told apart by their steps.
std::vector<std::int64_t> counts_of(Queue& queue, const std::vector<double>& energy, double beta) {
  const auto candidates = static_cast<std::int64_t>(energy.size());
  const std::int64_t rows = std::min<std::int64_t>(draws, 40000000 / candidates);
  BoltzmannInputs inputs;
  inputs.rows = rows;
  inputs.columns = candidates;
  inputs.row_stride = 0;  // all rows read the same energies
  inputs.energy = energy;
  inputs.beta = {beta};
  inputs.rung.assign(idx(rows), 0);
  inputs.names = make_names(rows, 1, 5);
  inputs.wanted = {.drawn = true};
  std::vector<std::int64_t> counts(energy.size(), 0);
  for (std::int64_t done = 0; done < draws; done += rows, ++inputs.control.step) {
    for (const std::int32_t j : run_boltzmann(queue, inputs).drawn) ++counts[idx(j)];
  }
  return counts;
}

TEST_P(BoltzmannDraw, FollowsTheLaw) {
  for (const std::int64_t candidates : {2, 9, 32, 33, 300}) {
    const std::vector<double> energy = energies_of(candidates);
    const ChiSquare test = chi_square_test(counts_of(queue(), energy, 0.8), law_of(energy, 0.8));
    EXPECT_GT(test.p, 1e-3) << candidates << " candidates, chi-square " << test.value << " with "
                            << test.degrees << " degrees of freedom";
  }
}

// Negative controls: ten per cent more in beta, and candidates that are drawn all alike.
TEST_P(BoltzmannDraw, SeesAWrongTemperature) {
  for (const std::int64_t candidates : {2, 33}) {
    const std::vector<double> energy = energies_of(candidates);
    const std::vector<double> law = law_of(energy, 0.8);
    EXPECT_LT(chi_square_test(counts_of(queue(), energy, 0.8 * 1.1), law).p, 1e-6);
    EXPECT_LT(chi_square_test(counts_of(queue(), energy, 0), law).p, 1e-6);
  }
}

}  // namespace
}  // namespace kiln::test::boltzmann_draw_test
