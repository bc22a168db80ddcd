// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/boltzmann_probabilities.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backends/backends_boltzmann.hpp"
#include "backends/conformance_case.hpp"

// kiln/device/exact_math.hpp only; sums in an order that the header fixes.
KILN_CONFORMANCE_CASE(BoltzmannProbabilities, exact)

namespace kiln::test::boltzmann_probabilities_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
using Status = BoltzmannStatus;

class BoltzmannProbabilitiesKernel : public DeviceTest {
 protected:
  BoltzmannOutputs run(const BoltzmannInputs& inputs) const {
    return run_boltzmann(queue(), inputs);
  }
};
KILN_ON_EVERY_BACKEND(BoltzmannProbabilitiesKernel);

// The sum of node r of m, as the header words it.
double tree_sum(const std::vector<double>& partial, std::size_t m, std::size_t r) {
  if (m == 256) return partial[r];
  return tree_sum(partial, 2 * m, r) + tree_sum(partial, 2 * m, r + m);
}

std::vector<double> partial_sums(const std::vector<double>& terms) {
  std::vector<double> partial(256, 0.0);
  for (std::size_t j = 0; j < terms.size(); ++j) partial[j % 256] += terms[j];
  return partial;
}

std::int32_t plain_draw(const std::vector<double>& weights, std::uint32_t word) {
  const std::vector<double> partial = partial_sums(weights);
  double target = (word + 0.5) * 0x1p-32 * tree_sum(partial, 1, 0);
  std::size_t k = 0;
  for (std::size_t m = 1; m < 256; m *= 2) {
    const double left = tree_sum(partial, 2 * m, k);
    if (target < left || tree_sum(partial, 2 * m, k + m) == 0) continue;
    target -= left;
    k += m;
  }
  std::int32_t last = -1;
  for (std::size_t j = k; j < weights.size(); j += 256) {
    if (weights[j] == 0) continue;
    last = static_cast<std::int32_t>(j);
    if (target < weights[j]) break;
    target -= weights[j];
  }
  return last;
}

// A row of finite energies at a finite beta above 0, by the definition in plain loops.
void expect_defined(const BoltzmannInputs& in, const BoltzmannOutputs& out, std::int64_t row) {
  const double beta = in.beta_of(row);
  std::vector<double> e, weights, terms;
  for (std::int64_t j = 0; j < in.columns; ++j) e.push_back(in.at(row, j));
  const double e0 = *std::min_element(e.begin(), e.end());
  for (const double x : e) weights.push_back(exact::exp(-(beta * (x - e0))));
  const double s = tree_sum(partial_sums(weights), 1, 0);
  for (std::int64_t j = 0; j < in.columns; ++j) {
    EXPECT_EQ(out.p(row, j), weights[idx(j)] / s);
    EXPECT_EQ(out.p_f32(row, j), static_cast<float>(weights[idx(j)] / s));
    terms.push_back(weights[idx(j)] * (e[idx(j)] - e0));
  }
  const double mean = tree_sum(partial_sums(terms), 1, 0) / s;
  for (std::size_t j = 0; j < terms.size(); ++j) {
    terms[j] = weights[j] * ((e[j] - e0 - mean) * (e[j] - e0 - mean));
  }
  const double variance = tree_sum(partial_sums(terms), 1, 0) / s;
  const double log_s = exact::log(s);
  EXPECT_EQ(out.norm_of(row), (std::vector<double>{e0, log_s, log_s - beta * e0,
                                                   log_s == 0 ? e0 : e0 - log_s / beta}));
  EXPECT_EQ(out.moments_of(row),
            (std::vector<double>{e0 + mean, log_s + beta * mean, beta * (beta * variance)}));
  const DrawName draws{in.names.key[idx(row)], in.control.step + in.offset,
                       in.names.replica[idx(row)], RngDomain::choose, 0};
  EXPECT_EQ(out.drawn[idx(row)], plain_draw(weights, draw_word(draws, in.attempt)));
  EXPECT_EQ(out.status[idx(row)], Status::ok);
}

TEST_P(BoltzmannProbabilitiesKernel, MatchesTheDefinitionForEverySize) {
  for (const std::int64_t columns :
       {1, 2, 31, 32, 33, 255, 256, 257, 1000, 1024, 1025, 4096, 5000, 65537}) {
    SCOPED_TRACE(columns);
    BoltzmannInputs inputs = make_boltzmann(columns > 4096 ? 2 : 5, columns);
    inputs.inverse_scale = 0.7;
    inputs.attempt = 9;
    inputs.offset = 3;
    const BoltzmannOutputs out = run(inputs);
    for (std::int64_t row = 0; row < inputs.rows; ++row) expect_defined(inputs, out, row);
  }
}

TEST_P(BoltzmannProbabilitiesKernel, TakesAnyStridesAndWritesNothingBetweenThem) {
  for (const std::int64_t columns : {3, 33, 1025, 5000}) {
    const BoltzmannInputs plain = make_boltzmann(7, columns);
    const BoltzmannOutputs expected = run(plain);
    // Rows with a gap; every third value of a row; [column][row]; [column][row] with a gap.
    for (const auto& [row_stride, column_stride] :
         {std::pair{columns + 5, std::int64_t{1}}, {3 * columns + 2, 3}, {1, 7}, {2, 17}}) {
      const BoltzmannInputs strided = restrided(plain, row_stride, column_stride);
      const BoltzmannOutputs out = run(strided);
      EXPECT_EQ(out.drawn, expected.drawn);
      EXPECT_EQ(bits_of(out.norm), bits_of(expected.norm));
      EXPECT_EQ(bits_of(out.moments), bits_of(expected.moments));
      for (std::int64_t row = 0; row < 7; ++row) {
        for (std::int64_t j = 0; j < columns; ++j) {
          ASSERT_EQ(out.p(row, j), expected.p(row, j)) << row << ", " << j;
          ASSERT_EQ(out.p_f32(row, j), expected.p_f32(row, j)) << row << ", " << j;
        }
      }
      const auto written = std::count_if(out.probability.begin(), out.probability.end(),
                                         [](double p) { return p != untouched; });
      EXPECT_EQ(written, 7 * columns);
    }
  }
}

TEST_P(BoltzmannProbabilitiesKernel, GivesARowOfABatchWhatItHasAlone) {
  for (const std::int64_t columns : {32, 100}) {
    for (const std::int64_t rows : {1, 10, 100, 1000, 3000}) {
      const BoltzmannInputs batch = make_boltzmann(rows, columns);
      const BoltzmannOutputs all = run(batch);
      for (const std::int64_t row : {std::int64_t{0}, rows / 3, rows - 1}) {
        EXPECT_EQ(all.row(row), run(alone(batch, row)).row(0)) << row << " of " << rows;
      }
    }
  }
}

TEST_P(BoltzmannProbabilitiesKernel, WritesOnlyWhatIsWanted) {
  for (const std::int64_t columns : {5, 500, 5000}) {
    BoltzmannInputs inputs = make_boltzmann(3, columns);
    const BoltzmannOutputs all = run(inputs);
    inputs.wanted = {.norm = true};
    EXPECT_EQ(bits_of(run(inputs).norm), bits_of(all.norm));
    inputs.wanted = {.drawn = true};
    EXPECT_EQ(run(inputs).drawn, all.drawn);
    inputs.wanted = {.probability_f32 = true};
    EXPECT_EQ(run(inputs).probability_f32, all.probability_f32);
    inputs.wanted = {.moments = true, .status = true};
    const BoltzmannOutputs two = run(inputs);
    EXPECT_EQ(bits_of(two.moments), bits_of(all.moments));
    EXPECT_EQ(two.status, all.status);
    EXPECT_EQ(two.drawn, std::vector<std::int32_t>(3, -7)) << "not wanted";
  }
}

// Energies 0, 1, ..., 999 at beta = 0.01.
TEST_P(BoltzmannProbabilitiesKernel, KnowsTheLadder) {
  std::vector<double> ladder(1000);
  std::iota(ladder.begin(), ladder.end(), 0.0);
  const BoltzmannOutputs out = run(one_row(ladder, 0.01));
  EXPECT_NEAR(out.log_z(0), 4.610120618364525, 1e-14 * 4.6);
  EXPECT_NEAR(out.moments_of(0)[0], 99.45543134093494, 1e-13 * 99);
  EXPECT_NEAR(out.p(0, 0), 0.009950618008190623, 1e-16);
  EXPECT_NEAR(out.moments_of(0)[1], 5.604674931773878, 1e-14 * 5.6);
  // d lnZ / d beta = -<E> and d^2 lnZ / d beta^2 = Var = C / beta^2, by central differences.
  const double up = run(one_row(ladder, 0.0101)).log_z(0);
  const double down = run(one_row(ladder, 0.0099)).log_z(0);
  EXPECT_NEAR((up - down) / 2e-4, -99.45543134093494, 0.02);
  const double variance = out.moments_of(0)[2] / 1e-4;
  EXPECT_NEAR((up - 2 * out.log_z(0) + down) / 1e-8, variance, 2e-3 * variance);
  EXPECT_NEAR(
      (run(one_row(ladder, 0.01 + 1e-6)).log_z(0) - run(one_row(ladder, 0.01 - 1e-6)).log_z(0)) /
          2e-6,
      -99.45543134093494, 1e-6);
}

TEST_P(BoltzmannProbabilitiesKernel, GivesTwoLevelsTheLogisticLaw) {
  for (const double gap : {0.0, 1e-9, 0.3, 1.0, 20.0, 700.0}) {
    for (const double beta : {0.01, 1.0, 3.0}) {
      const BoltzmannOutputs out = run(one_row({-4, -4 + gap}, beta));
      const double exact = 1 / (1 + std::exp(beta * ((-4 + gap) + 4)));
      EXPECT_NEAR(out.p(0, 1), exact, 1e-13 * exact) << gap << ", " << beta;
      EXPECT_NEAR(out.p(0, 0) + out.p(0, 1), 1.0, 1e-15);
    }
  }
}

TEST_P(BoltzmannProbabilitiesKernel, SumsToOneAndIgnoresAShift) {
  for (const std::int64_t columns : {7, 1000, 5000}) {
    BoltzmannInputs inputs = make_boltzmann(3, columns);
    inputs.beta = {1e-3, 0.2, 4};
    const BoltzmannOutputs out = run(inputs);
    for (const double shift : {1.0, -1e3, 1e9}) {
      BoltzmannInputs moved = inputs;
      for (double& e : moved.energy) e += shift;
      const BoltzmannOutputs same = run(moved);
      for (std::int64_t row = 0; row < 3; ++row) {
        const double bound = 4 * std::abs(shift) * 2.3e-16 * inputs.beta[idx(row)] + 1e-15;
        for (std::int64_t j = 0; j < columns; ++j) {
          ASSERT_NEAR(same.p(row, j), out.p(row, j), bound * out.p(row, j)) << shift;
        }
      }
    }
    for (std::int64_t row = 0; row < 3; ++row) {
      double sum = 0, sum_f32 = 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        sum += out.p(row, j);
        sum_f32 += static_cast<double>(out.p_f32(row, j));
      }
      EXPECT_NEAR(sum, 1.0, 1e-12);
      EXPECT_NEAR(sum_f32, 1.0, static_cast<double>(columns) * 6e-8);
    }
  }
}

TEST_P(BoltzmannProbabilitiesKernel, StaysFiniteOverAWideSpreadAndInTheCold) {
  std::vector<double> wide(1001);
  for (std::size_t j = 0; j < wide.size(); ++j) wide[j] = -5000 + 10.0 * static_cast<double>(j);
  const BoltzmannOutputs spread = run(one_row(wide, 1));  // spread E/T = 1e4
  EXPECT_NEAR(spread.p(0, 0), 1 - std::exp(-10.0), 1e-15);
  EXPECT_NEAR(spread.log_z(0), 5000 - std::log1p(-std::exp(-10.0)), 1e-11);
  EXPECT_EQ(spread.p(0, 1000), 0.0);
  EXPECT_EQ(spread.drawn[0], 0);
  const BoltzmannOutputs cold = run(one_row({3, 3 + 1e-6, 4}, 1e6));  // T = 1e-6
  EXPECT_NEAR(cold.p(0, 1), 1 / (1 + std::exp(1.0)), 1e-9);
  EXPECT_EQ(cold.p(0, 2), 0.0);
}

TEST_P(BoltzmannProbabilitiesKernel, SharesAmongTheMinimisersAtTemperatureZero) {
  for (const std::size_t columns : {5, 40, 300, 5000}) {
    std::vector<double> row(columns, 2.5);
    row[1] = row[3] = row[columns - 1] = -1.5;
    const BoltzmannOutputs out = run(one_row(row, infinity));
    for (const std::int64_t j : {std::int64_t{1}, std::int64_t{3}}) EXPECT_EQ(out.p(0, j), 1.0 / 3);
    EXPECT_EQ(out.p(0, 0), 0.0);
    EXPECT_EQ(out.norm_of(0), (std::vector<double>{-1.5, exact::log(3.0), infinity, -1.5}));
    EXPECT_EQ(out.moments_of(0), (std::vector<double>{-1.5, exact::log(3.0), 0}));
    EXPECT_TRUE(out.drawn[0] == 1 || out.drawn[0] == 3 ||
                out.drawn[0] == static_cast<std::int32_t>(columns) - 1);
  }
}

TEST_P(BoltzmannProbabilitiesKernel, SharesAmongAllAtInfiniteTemperature) {
  for (const std::size_t columns : {4, 64, 8192}) {
    std::vector<double> row(columns, 1);
    row[0] = -1e300;
    row[2] = infinity;
    const BoltzmannOutputs out = run(one_row(row, 0));
    const auto finite = static_cast<double>(columns - 1);
    EXPECT_EQ(out.p(0, 0), 1.0 / finite);
    EXPECT_EQ(out.p(0, 1), 1.0 / finite);
    EXPECT_EQ(out.p(0, 2), 0.0);
    EXPECT_EQ(out.norm_of(0),
              (std::vector<double>{-1e300, exact::log(finite), exact::log(finite), -infinity}));
    EXPECT_EQ(out.moments_of(0)[1], exact::log(finite));
  }
  const BoltzmannOutputs one = run(one_row({7}, 0));
  EXPECT_EQ(one.norm_of(0), (std::vector<double>{7, 0, 0, 7}));
  EXPECT_EQ(one.p(0, 0), 1.0);
}

// Refused rows lie between good ones, which they leave alone.
TEST_P(BoltzmannProbabilitiesKernel, SaysWhichRowsItRefusesAndWhy) {
  for (const std::int64_t columns : {4, 100, 2000, 5000}) {
    BoltzmannInputs inputs = make_boltzmann(7, columns);
    const BoltzmannOutputs good = run(inputs);
    inputs.beta[1] = -0.5;
    inputs.beta[2] = not_a_number;
    inputs.energy[idx(3 * columns + columns - 2)] = not_a_number;
    std::fill_n(inputs.energy.begin() + 4 * columns, columns, infinity);
    inputs.energy[idx(5 * columns + 1)] = inputs.energy[idx(5 * columns + 3)] = -infinity;
    const BoltzmannOutputs out = run(inputs);
    EXPECT_EQ(out.status, (std::vector<Status>{Status::ok, Status::bad_temperature,
                                               Status::bad_temperature, Status::nan_energy,
                                               Status::empty_row, Status::unbounded, Status::ok}));
    for (const std::int64_t row : {0, 6}) EXPECT_EQ(out.row(row), good.row(row));
    for (const std::size_t row : {1u, 2u, 3u, 4u}) EXPECT_EQ(out.drawn[row], -1);
    for (std::int64_t j = 0; j < columns; ++j) {
      ASSERT_EQ(out.p(1, j), untouched);
      ASSERT_EQ(out.p(2, j), untouched);
      ASSERT_TRUE(std::isnan(out.p(3, j)) && std::isnan(out.p_f32(3, j)));
      ASSERT_EQ(out.p(4, j), 0.0);
      ASSERT_EQ(out.p(5, j), j == 1 || j == 3 ? 0.5 : 0.0);
    }
    EXPECT_TRUE(std::isnan(out.norm_of(3)[0]) && std::isnan(out.moments_of(3)[0]));
    EXPECT_EQ(out.norm_of(4), (std::vector<double>{infinity, -infinity, -infinity, infinity}));
    EXPECT_EQ(out.norm_of(5),
              (std::vector<double>{-infinity, exact::log(2.0), infinity, -infinity}));
    EXPECT_TRUE(out.drawn[5] == 1 || out.drawn[5] == 3);
  }
  const BoltzmannOutputs none = run(one_row({}, 1));
  EXPECT_EQ(none.status[0], Status::empty_row);
  EXPECT_EQ(none.drawn[0], -1);
}

TEST_P(BoltzmannProbabilitiesKernel, NeverDrawsWhatHasNoWeight) {
  for (const std::int64_t columns : {32, 300, 1000, 9000}) {
    BoltzmannInputs inputs = make_boltzmann(200, columns);
    inputs.beta.assign(200, infinity);
    for (std::int64_t row = 0; row < 200; ++row) {
      std::fill_n(inputs.energy.begin() + row * columns, columns, infinity);
      inputs.energy[idx(row * columns + (row * 7919) % columns)] = 3;
    }
    const BoltzmannOutputs out = run(inputs);
    for (std::int64_t row = 0; row < 200; ++row) {
      ASSERT_EQ(out.drawn[idx(row)], (row * 7919) % columns);
    }
  }
}

TEST_P(BoltzmannProbabilitiesKernel, DoesNotSeeTheSignOfZero) {
  const BoltzmannOutputs out = run(one_row({0.0, -0.0}, 1));
  EXPECT_EQ(bits_of(out.norm), bits_of(run(one_row({-0.0, 0.0}, 1)).norm));
}

TEST_P(BoltzmannProbabilitiesKernel, FindsTheTemperatureOfARowByItsRung) {
  BoltzmannInputs inputs = make_boltzmann(3, 50);
  inputs.beta = {0.5, 2};
  inputs.rung = {1, 0, 1};
  const BoltzmannOutputs out = run(inputs);
  for (std::int64_t row = 0; row < 3; ++row) expect_defined(inputs, out, row);
}

TEST_P(BoltzmannProbabilitiesKernel, DoesNothingOnceStopped) {
  for (const std::int64_t columns : {4, 100}) {
    BoltzmannInputs inputs = make_boltzmann(2, columns);
    inputs.control.stop = DeviceStop::target;
    const BoltzmannOutputs out = run(inputs);
    EXPECT_EQ(out.drawn, std::vector<std::int32_t>(2, -7));
    EXPECT_EQ(out.p(1, columns - 1), untouched);
  }
}

}  // namespace
}  // namespace kiln::test::boltzmann_probabilities_test
