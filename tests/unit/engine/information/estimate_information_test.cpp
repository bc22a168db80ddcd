// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/information/estimate_information.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/device/math.hpp"
#include "kiln/errors.hpp"

#include "backends/cpu_queue.hpp"
#include "information/estimate_on_cpu.hpp"
#include "information/gaussian_series.hpp"

namespace kiln::estimate_information_test {
namespace {

using Measure = InformationMeasure;

using Values = std::vector<double>;

using test::coupled_pair;
using test::estimate_on_cpu;
using test::gaussian_pair;
using test::NormalDraws;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// --- An estimator from the formulas alone, O(n^2), of standardised columns.

Values standardized(const Values& values) {
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  Values result;
  for (const double v : values) result.push_back((v - mean) / deviation);
  return result;
}

using Block = std::vector<Values>;  // [coordinate][point]

double apart(const Block& block, std::size_t i, std::size_t j) {
  double most = 0;
  for (const Values& axis : block) most = std::max(most, std::abs(axis[i] - axis[j]));
  return most;
}

double psi(std::int64_t n) { return math::digamma(static_cast<double>(n)); }

double direct_mutual_information(const Block& x, const Block& y, std::size_t k, int type) {
  const std::size_t n = x.front().size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::pair<double, std::size_t>> others;
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) others.emplace_back(std::max(apart(x, i, j), apart(y, i, j)), j);
    }
    std::ranges::sort(others);
    const double radius = others[k - 1].first;
    double extent_x = 0, extent_y = 0;
    for (std::size_t r = 0; r < k; ++r) {
      extent_x = std::max(extent_x, apart(x, i, others[r].second));
      extent_y = std::max(extent_y, apart(y, i, others[r].second));
    }
    std::int64_t n_x = 0, n_y = 0;
    for (const auto& [distance, j] : others) {
      n_x += (type == 1 ? apart(x, i, j) < radius : apart(x, i, j) <= extent_x) ? 1 : 0;
      n_y += (type == 1 ? apart(y, i, j) < radius : apart(y, i, j) <= extent_y) ? 1 : 0;
    }
    sum += type == 1 ? psi(n_x + 1) + psi(n_y + 1) : psi(n_x) + psi(n_y);
  }
  const double value = psi(static_cast<std::int64_t>(k)) + psi(static_cast<std::int64_t>(n)) -
                       sum / static_cast<double>(n);
  return type == 1 ? value : value - 1.0 / static_cast<double>(k);
}

double direct_conditional(const Block& x, const Block& y, const Block& z, std::size_t k) {
  const std::size_t n = x.front().size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Values distances;
    for (std::size_t j = 0; j < n; ++j) {
      if (j != i) distances.push_back(std::max({apart(x, i, j), apart(y, i, j), apart(z, i, j)}));
    }
    std::ranges::sort(distances);
    const double radius = distances[k - 1];
    std::int64_t n_z = 0, n_xz = 0, n_yz = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i || apart(z, i, j) >= radius) continue;
      n_z += 1;
      n_xz += apart(x, i, j) < radius ? 1 : 0;
      n_yz += apart(y, i, j) < radius ? 1 : 0;
    }
    sum += psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1);
  }
  return psi(static_cast<std::int64_t>(k)) + sum / static_cast<double>(n);
}

Values shifted(const Values& values, std::size_t lag, std::size_t longest) {
  return {values.begin() + static_cast<std::ptrdiff_t>(longest - lag),
          values.end() - static_cast<std::ptrdiff_t>(lag)};
}

// Sums of the library are exact to 2^-37 a point.
constexpr double rounding = 1e-10;

TEST(MutualInformation, IsTheFormula) {
  for (const int type : {1, 2}) {
    for (const std::int32_t k : {1, 3, 4, 7, 16}) {
      const auto [x, y] = gaussian_pair(300, 0.6, 5);
      InformationOptions options;
      options.k = k;
      options.type = type;
      const double expected = direct_mutual_information({standardized(x)}, {standardized(y)},
                                                        static_cast<std::size_t>(k), type);
      EXPECT_NEAR(mutual_information(x, y, options).value, expected, rounding) << type << ' ' << k;
    }
  }
}

TEST(MutualInformation, OfSeveralRowsOfTheSourceIsTheFormula) {
  const auto [x, y] = coupled_pair(250, 9);
  InformationOptions options;
  options.lags = {1};
  options.source_past = 3;
  for (const int type : {1, 2}) {
    options.type = type;
    const Values a = standardized(x), b = standardized(y);
    const Block past{shifted(a, 1, 3), shifted(a, 2, 3), shifted(a, 3, 3)};
    EXPECT_NEAR(mutual_information(x, y, options).value,
                direct_mutual_information(past, {shifted(b, 0, 3)}, 4, type), rounding);
  }
}

TEST(ConditionalMutualInformation, IsTheFormula) {
  NormalDraws draw(3);
  const Values x = draw.row(280), y = draw.row(280), z = draw.row(280);
  const double expected =
      direct_conditional({standardized(x)}, {standardized(y)}, {standardized(z)}, 4);
  EXPECT_NEAR(conditional_mutual_information(x, y, z).value, expected, rounding);
}

TEST(TransferEntropy, IsTheFormula) {
  const auto [x, y] = coupled_pair(300, 21);
  InformationOptions options;
  options.past = 2;
  options.source_past = 2;
  options.lags = {3};
  const Values a = standardized(x), b = standardized(y);
  const double expected =
      direct_conditional({shifted(a, 3, 4), shifted(a, 4, 4)}, {shifted(b, 0, 4)},
                         {shifted(b, 1, 4), shifted(b, 2, 4)}, 4);
  EXPECT_NEAR(transfer_entropy(x, y, options).value, expected, rounding);
}

TEST(ActiveStorage, IsMutualInformationWithThePast) {
  const Values y = coupled_pair(300, 2).second, b = standardized(y);
  InformationOptions options;
  options.measure = Measure::active_storage;
  options.past = 2;
  const InformationMap map = estimate_on_cpu({{"y", y}}, options);
  ASSERT_EQ(map.links.size(), 1u);
  EXPECT_EQ(map.links[0].source, -1);
  EXPECT_NEAR(
      map.links[0].estimate.value,
      direct_mutual_information({shifted(b, 1, 2), shifted(b, 2, 2)}, {shifted(b, 0, 2)}, 4, 1),
      rounding);
}

TEST(LocalValues, HaveTheValueAsMean) {
  const auto [x, y] = coupled_pair(400, 4);
  InformationOptions options;
  options.local = true;
  for (const int type : {1, 2}) {
    options.type = type;
    const InformationEstimate of_pair = mutual_information(x, y, options);
    ASSERT_EQ(of_pair.local.size(), 400u);
    double sum = 0, squares = 0;
    for (const double v : of_pair.local) sum += v, squares += v * v;
    const double mean = sum / 400;
    EXPECT_NEAR(mean, of_pair.value, rounding);
    EXPECT_NEAR(of_pair.spread, std::sqrt((squares / 400 - mean * mean) / 400), 1e-4);
  }
  const InformationEstimate flow = transfer_entropy(x, y, options);
  ASSERT_EQ(flow.local.size(), 399u);
  double sum = 0;
  for (const double v : flow.local) sum += v;
  EXPECT_NEAR(sum / 399, flow.value, rounding);
}

TEST(LocalValues, SayWhichRowsTheyAreOf) {
  auto [x, y] = coupled_pair(50, 4);
  x[10] = missing;
  InformationOptions options;
  options.measure = Measure::transfer_entropy;
  options.local = true;
  const InformationMap map = estimate_on_cpu({{"x", x}, {"y", y}}, options, {{0}, {1}, {}});
  ASSERT_EQ(map.point_rows.size(), map.links[0].estimate.local.size());
  EXPECT_EQ(map.point_rows.front(), 1);  // row 0 has no past
  EXPECT_EQ(map.point_rows[9], 10);
  EXPECT_EQ(map.point_rows[10], 12);  // the source of row 11 is missing
}

// A point where both are far out is a surprise that each tells of the other.
TEST(LocalValues, StandInTheOrderOfRows) {
  auto [x, y] = gaussian_pair(500, 0.9, 8);
  x[123] = y[123] = 4;
  InformationOptions options;
  options.local = true;
  const std::vector<double> local = mutual_information(x, y, options).local;
  EXPECT_GT(local[123], 2);
}

TEST(TheilerWindow, LeavesOutNeighborsInTime) {
  // A slow wave: without a window its neighbours in time are its nearest neighbours.
  Values x, y;
  NormalDraws draw(6);
  for (int i = 0; i < 200; ++i) {
    x.push_back(std::sin(i * 0.01) + 1e-3 * draw());
    y.push_back(std::cos(i * 0.013) + 1e-3 * draw());
  }
  InformationOptions options;
  options.theiler = 5;
  const Values a = standardized(x), b = standardized(y);
  double sum = 0;
  const std::int64_t n = 200, k = 4;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto is_near = [&](std::int64_t j) { return std::abs(i - j) <= 5; };
    const auto in_a = [&](std::int64_t j) {
      return std::abs(a[static_cast<std::size_t>(i)] - a[static_cast<std::size_t>(j)]);
    };
    const auto in_b = [&](std::int64_t j) {
      return std::abs(b[static_cast<std::size_t>(i)] - b[static_cast<std::size_t>(j)]);
    };
    Values distances;
    for (std::int64_t j = 0; j < n; ++j) {
      if (!is_near(j)) distances.push_back(std::max(in_a(j), in_b(j)));
    }
    std::ranges::sort(distances);
    const double radius = distances[k - 1];
    std::int64_t n_a = 0, n_b = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      if (is_near(j)) continue;
      n_a += in_a(j) < radius ? 1 : 0;
      n_b += in_b(j) < radius ? 1 : 0;
    }
    sum += psi(std::ssize(distances) + 1) - psi(n_a + 1) - psi(n_b + 1);
  }
  const double expected = psi(k) + sum / static_cast<double>(n);
  EXPECT_NEAR(mutual_information(x, y, options).value, expected, rounding);
  EXPECT_GT(mutual_information(x, y).value, expected + 0.1);
}

}  // namespace
}  // namespace kiln::estimate_information_test
