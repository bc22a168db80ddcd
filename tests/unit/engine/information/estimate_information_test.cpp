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
#include "information/gaussian_series.hpp"

namespace kiln::estimate_information_test {
namespace {

using Measure = InformationMeasure;
using Status = InformationStatus;
using Values = std::vector<double>;
using test::code_of;
using test::coupled_pair;
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

InformationMap estimate(const std::vector<Series>& columns, const InformationOptions& options,
                        const InformationColumns& which = {}) {
  return estimate_information(columns, which, options, *open_backend("cpu", 2).backend);
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
  const InformationMap map = estimate({{"y", y}}, options);
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
  const InformationMap map = estimate({{"x", x}, {"y", y}}, options, {{0}, {1}, {}});
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

TEST(Columns, AConstantOneSaysNothing) {
  const InformationEstimate of_pair = mutual_information(Values(50, 3.0), NormalDraws(1).row(50));
  EXPECT_EQ(of_pair.status, Status::constant);
  EXPECT_EQ(of_pair.value, 0);
}

TEST(Columns, ACopySaysEverything) {
  const Values x = NormalDraws(1).row(100);
  Values twice;
  for (const double v : x) twice.push_back(3 - 2 * v);
  for (const Values& copy : {x, twice}) {
    const InformationEstimate of_pair = mutual_information(x, copy);
    EXPECT_EQ(of_pair.status, Status::unbounded);
    EXPECT_EQ(of_pair.value, std::numeric_limits<double>::infinity());
  }
  Values almost = x;
  almost[7] += 0.01;
  EXPECT_EQ(mutual_information(x, almost).status, Status::biased);
}

TEST(Columns, RowsWithMissingValuesAreLeftOutAndCounted) {
  const auto [x, y] = gaussian_pair(300, 0.5, 3);
  Values with_gaps = x, kept_x, kept_y;
  for (std::size_t i = 0; i < 300; ++i) {
    if (i % 3 == 0) {
      with_gaps[i] = missing;
    } else {
      kept_x.push_back(x[i]);
      kept_y.push_back(y[i]);
    }
  }
  InformationOptions options;
  options.standardize = false;
  const InformationMap map = estimate({{"x", with_gaps}, {"y", y}}, options);
  EXPECT_EQ(map.links[0].estimate.value, mutual_information(kept_x, kept_y, options).value);
  EXPECT_EQ(map.links[0].estimate.points, 200);
  ASSERT_EQ(map.notes.size(), 1u);
  EXPECT_EQ(map.notes[0], "100 of 300 rows left out: a value is missing in a column that is used");
}

// Delay vectors never join rows on both sides of a gap.
TEST(Columns, AGapInTimeIsNotClosed) {
  auto [x, y] = coupled_pair(300, 14);
  y[100] = missing;
  const InformationEstimate flow = transfer_entropy(x, y);
  EXPECT_EQ(flow.points, 297);  // rows 100 and 101 have no value or no past
}

TEST(Columns, EqualValuesAreToldApartAndCounted) {
  NormalDraws draw(2);
  Values x, y;
  for (int i = 0; i < 2000; ++i) {
    const double hidden = draw();
    x.push_back(hidden > 0 ? 1 : 0);
    y.push_back((hidden > 0) == (draw() > -0.6744897501960817) ? 1 : 0);  // right in 3 of 4
  }
  const InformationMap map = estimate({{"x", x}, {"y", y}}, {});
  // ln 2 - H(1/4), four standard deviations of sqrt(3) ln 3 / 4 / sqrt(2000) and a little.
  const double expected = std::log(2.0) + 0.25 * std::log(0.25) + 0.75 * std::log(0.75);
  EXPECT_NEAR(map.links[0].estimate.value, expected, 0.06);
  ASSERT_EQ(map.notes.size(), 1u);
  EXPECT_EQ(map.notes[0],
            "values occur more than once in 'x' (2000), 'y' (2000): noise of 1e-08 standard "
            "deviations tells them apart");
}

TEST(Columns, ScaleDoesNotMatterUnlessAsked) {
  auto [x, y] = gaussian_pair(400, 0.5, 12);
  const double value = mutual_information(x, y).value;
  for (double& v : x) v = 1e12 + 1e150 * v;
  EXPECT_NEAR(mutual_information(x, y).value, value, 1e-9);
}

TEST(Options, AreRefusedOutOfRange) {
  const Values x = NormalDraws(1).row(20), y = NormalDraws(2).row(20);
  const auto code_with = [&](auto&& change) {
    InformationOptions options;
    change(options);
    return code_of([&] { (void)mutual_information(x, y, options); });
  };
  EXPECT_EQ(code_with([](InformationOptions& o) { o.k = 17; }), "information.option");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.k = -1; }), "information.option");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.type = 3; }), "information.option");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.lags = {20}; }), "information.lag");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.lags = {-1}; }), "information.option");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.source_past = 16; }), "information.option");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.bins = 1; }), "information.option");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.false_discovery_rate = 0; }),
            "information.option");
  EXPECT_EQ(code_with([](InformationOptions& o) { o.direct = true; }), "information.direct");
  EXPECT_EQ(code_of([&] { (void)mutual_information(x, {1, 2}, {}); }), "information.length");
}

TEST(Options, TooFewRowsAreRefusedWithTheNumberThatWouldDo) {
  const auto complaint = [](std::int64_t rows, std::int32_t theiler) -> std::string {
    InformationOptions options;
    options.theiler = theiler;
    try {
      (void)mutual_information(NormalDraws(1).row(rows), NormalDraws(2).row(rows), options);
    } catch (const InvalidArgument& error) {
      return error.message() + "; " + error.expected() + "; " + error.fix();
    }
    return "";
  };
  EXPECT_EQ(complaint(5, 0), "");
  EXPECT_EQ(complaint(4, 0),
            "4 rows are too few for 4 neighbours; at least 5 rows without missing values; at most "
            "3 neighbours");
  EXPECT_EQ(complaint(14, 5),
            "14 rows are too few for 4 neighbours more than 5 rows apart; at least 15 rows without "
            "missing values; ");
  EXPECT_EQ(complaint(15, 5), "");
}

TEST(Map, HasEachPairOnceIfTheMeasureIsSymmetric) {
  NormalDraws draw(5);
  const std::vector<Series> columns{{"a", draw.row(60)}, {"b", draw.row(60)}, {"c", draw.row(60)}};
  EXPECT_EQ(estimate(columns, {}).links.size(), 3u);
  InformationOptions flow;
  flow.measure = Measure::transfer_entropy;
  flow.lags = {1, 2};
  const InformationMap map = estimate(columns, flow);
  ASSERT_EQ(map.links.size(), 12u);
  EXPECT_EQ(map.links[0].target, 0);
  EXPECT_EQ(map.links[0].source, 1);
  EXPECT_EQ(map.links[1].lag, 2);
  const InformationMap of_target = estimate(columns, {}, {{}, {1}, {}});
  ASSERT_EQ(of_target.links.size(), 2u);
  EXPECT_EQ(of_target.links[0].source, 0);
  EXPECT_EQ(of_target.links[1].source, 2);
}

// A link of a map is what the estimate of the pair alone is, surrogates included.
TEST(Map, DoesNotDependOnTheOtherLinks) {
  NormalDraws draw(15);
  const std::vector<Series> columns{
      {"a", draw.row(150)}, {"b", draw.row(150)}, {"c", draw.row(150)}, {"d", draw.row(150)}};
  InformationOptions options;
  options.measure = Measure::transfer_entropy;
  options.surrogates = 30;
  const InformationMap all = estimate(columns, options);
  for (const InformationLink& link : all.links) {
    const InformationMap one = estimate(columns, options, {{link.source}, {link.target}, {}});
    EXPECT_EQ(one.links[0].estimate.value, link.estimate.value);
    EXPECT_EQ(one.links[0].estimate.p_value, link.estimate.p_value);
    EXPECT_EQ(one.links[0].estimate.surrogate_mean, link.estimate.surrogate_mean);
  }
}

TEST(Surrogates, KeepTheValueAndTheirMeanIsNearZero) {
  const auto [x, y] = coupled_pair(500, 3);
  InformationOptions options;
  const double value = transfer_entropy(x, y, options).value;
  options.surrogates = 100;
  for (const SurrogateKind kind : {SurrogateKind::permutation, SurrogateKind::rotation}) {
    options.surrogate_kind = kind;
    const InformationEstimate flow = transfer_entropy(x, y, options);
    EXPECT_EQ(flow.value, value);
    EXPECT_NEAR(flow.surrogate_mean, 0, 0.02);
    EXPECT_NEAR(flow.effective, value - flow.surrogate_mean, 1e-15);
    EXPECT_LT(flow.p_value, 1e-4);
    EXPECT_EQ(transfer_entropy(x, y, options).p_value, flow.p_value);
  }
}

TEST(Neighbors, AreChosenByStability) {
  const auto [x, y] = gaussian_pair(400, 0.6, 17);
  InformationOptions options;
  options.k = 0;
  const InformationMap map = estimate({{"x", x}, {"y", y}}, options);
  EXPECT_TRUE(map.links[0].estimate.k == 4 || map.links[0].estimate.k == 6 ||
              map.links[0].estimate.k == 8 || map.links[0].estimate.k == 12);
  EXPECT_EQ(map.notes.front().substr(map.notes.front().find(' ')),
            " neighbours: estimates change the least there");
}

// Strong dependence in few rows: 16 neighbours see less of it than 4.
TEST(Neighbors, AWarningSaysThatAnEstimateIsBiased) {
  const auto [x, y] = gaussian_pair(300, 0.9999, 31);
  const InformationMap map = estimate({{"x", x}, {"y", y}}, {});
  EXPECT_EQ(map.links[0].estimate.status, Status::biased);
  EXPECT_LT(map.links[0].estimate.value, -0.5 * std::log(1 - 0.9999 * 0.9999));
  ASSERT_FALSE(map.notes.empty());
  EXPECT_EQ(map.notes.back().substr(0, 37), "1 of 1 estimates change with k by mor");
  const auto [u, v] = gaussian_pair(300, 0.6, 31);
  EXPECT_EQ(mutual_information(u, v).status, Status::ok);
}

TEST(Bins, EntropyOfValuesHasTheMillerMadowTerm) {
  Values fair;
  for (int i = 0; i < 100; ++i) fair.push_back(i % 16);  // 7 of four values, 6 of the others
  InformationOptions options;
  options.measure = Measure::entropy;
  const double plain = -(4 * 0.07 * std::log(0.07) + 12 * 0.06 * std::log(0.06));
  EXPECT_NEAR(estimate({{"y", fair}}, options).links[0].estimate.value, plain + 15.0 / 200, 1e-12);
}

// 1000 values in two halves of the range, 3 to 1: bins of equal width see it.
TEST(Bins, EntropyIsOfBinsOfEqualWidth) {
  Values y;
  for (int i = 0; i < 1000; ++i) y.push_back(i < 750 ? i * 1e-4 : 1 - (i - 750) * 1e-4);
  InformationOptions options;
  options.measure = Measure::entropy;
  options.bins = 2;
  const double plain = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
  EXPECT_NEAR(estimate({{"y", y}}, options).links[0].estimate.value, plain + 1.0 / 2000, 1e-12);
}

TEST(Bins, KnownDependenceLeavesNoEntropy) {
  Values x, y;
  for (int i = 0; i < 120; ++i) {
    x.push_back(i % 6);
    y.push_back(i % 6 / 2);
  }
  InformationOptions options;
  options.measure = Measure::conditional_entropy;
  const InformationColumns which{{0}, {1}, {}};
  EXPECT_NEAR(estimate({{"x", x}, {"y", y}}, options, which).links[0].estimate.value, 0, 1e-12);
  options.measure = Measure::binned_mutual_information;
  // H(Y) = ln 3; Miller-Madow terms 2, 5 and -5 of 2 n.
  EXPECT_NEAR(estimate({{"x", x}, {"y", y}}, options, which).links[0].estimate.value,
              std::log(3.0) + 2.0 / 240, 1e-12);
}

TEST(Bins, SurrogatesOfConditionalEntropyAreHigher) {
  const auto [x, y] = gaussian_pair(1000, 0.8, 4);
  InformationOptions options;
  options.measure = Measure::conditional_entropy;
  options.surrogates = 50;
  const InformationEstimate given =
      estimate({{"x", x}, {"y", y}}, options, {{0}, {1}, {}}).links[0].estimate;
  EXPECT_LT(given.value, given.surrogate_mean);
  EXPECT_LT(given.p_value, 1e-6);
  EXPECT_NEAR(given.effective, given.value - given.surrogate_mean, 1e-12);
}

// x -> y -> z: what x says of z at lag 2 is what y says of it at lag 1.
TEST(Direct, LeavesOutWhatOtherSourcesExplain) {
  NormalDraws draw(77);
  Values x, y, z;
  for (int i = 0; i < 1500; ++i) {
    const auto last = static_cast<std::size_t>(i - 1);
    const double next_z = i > 0 ? 0.9 * y[last] + draw() : draw();
    const double next_y = i > 0 ? 0.9 * x[last] + 0.5 * draw() : draw();
    x.push_back((i > 0 ? 0.7 * x[last] : 0) + draw());
    y.push_back(next_y);
    z.push_back(next_z);
  }
  InformationOptions options;
  options.measure = Measure::transfer_entropy;
  options.surrogates = 100;
  const std::vector<Series> columns{{"x", x}, {"y", y}, {"z", z}};
  const InformationColumns which{{}, {2}, {}};
  const InformationMap all = estimate(columns, options, which);
  EXPECT_TRUE(all.links[0].significant);  // x says something of z, through y one row before
  EXPECT_TRUE(all.links[1].significant);
  options.direct = true;
  const InformationMap direct = estimate(columns, options, which);
  EXPECT_FALSE(direct.links[0].significant);
  EXPECT_TRUE(direct.links[1].significant);
}

}  // namespace
}  // namespace kiln::estimate_information_test
