// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/information/estimate_information.hpp"

#include "backends/cpu_queue.hpp"
#include "information/estimate_on_cpu.hpp"
#include "information/gaussian_series.hpp"

namespace kiln::information_map_test {
namespace {

using Measure = InformationMeasure;
using Status = InformationStatus;
using Values = std::vector<double>;
using test::code_of;
using test::coupled_pair;
using test::estimate_on_cpu;
using test::gaussian_pair;
using test::NormalDraws;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Independent integers 0 .. 4.
struct TestRandomColumns {
  Values x, y;
  explicit TestRandomColumns(int rows) {
    test::TestRandom random(5);
    for (int i = 0; i < rows; ++i) {
      x.push_back(static_cast<double>(random.between(0, 4)));
      y.push_back(static_cast<double>(random.between(0, 4)));
    }
  }
};

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

// A sentinel in both columns makes no copy: all other rows are independent.
TEST(Columns, ACommonOutlierMakesNoCopy) {
  NormalDraws draw(41);
  Values x = draw.row(300), y = draw.row(300);
  x[17] = y[17] = 1e9;
  EXPECT_EQ(mutual_information(x, y).status, Status::ok);
  EXPECT_LT(mutual_information(x, y).value, 0.2);
  Values copy;
  for (const double v : x) copy.push_back(0.25 * v - 1);
  EXPECT_EQ(mutual_information(x, copy).status, Status::unbounded);
  // Copies of columns with few values, most of them equal.
  Values few, twice;
  for (int i = 0; i < 300; ++i) {
    few.push_back(i % 10 == 0 ? i % 30 : 0);
    twice.push_back(2 * few.back() + 1e6);
  }
  EXPECT_EQ(mutual_information(few, twice).status, Status::unbounded);
}

// Far from zero, as near to it: the mean is taken off, or noise would be lost in rounding.
TEST(Columns, EqualValuesFarFromZeroAreToldApart) {
  TestRandomColumns columns(300);
  InformationOptions options;
  options.standardize = false;
  const double near = mutual_information(columns.x, columns.y, options).value;
  for (double& v : columns.x) v += 1e9;
  for (double& v : columns.y) v += 1e9;
  EXPECT_NEAR(mutual_information(columns.x, columns.y, options).value, near, 0.05);
  EXPECT_LT(near, 0.2);
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
  const InformationMap map = estimate_on_cpu({{"x", with_gaps}, {"y", y}}, options);
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
  const InformationMap map = estimate_on_cpu({{"x", x}, {"y", y}}, {});
  // ln 2 - H(1/4), four standard deviations of sqrt(3) ln 3 / 4 / sqrt(2000) and a little.
  const double expected = std::log(2.0) + 0.25 * std::log(0.25) + 0.75 * std::log(0.75);
  EXPECT_NEAR(map.links[0].estimate.value, expected, 0.06);
  ASSERT_EQ(map.notes.size(), 1u);
  EXPECT_EQ(map.notes[0],
            "values occur more than once in 'x' (2000), 'y' (2000): noise of 1e-08 of their "
            "width tells them apart");
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
  EXPECT_EQ(code_of([&] {
              InformationOptions flow;
              flow.measure = Measure::transfer_entropy;
              (void)estimate_on_cpu({{"x", x}, {"y", y}, {"z", x}}, flow, {{0}, {1}, {0}});
            }),
            "information.condition");
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
  EXPECT_EQ(estimate_on_cpu(columns, {}).links.size(), 3u);
  InformationOptions flow;
  flow.measure = Measure::transfer_entropy;
  flow.lags = {1, 2};
  const InformationMap map = estimate_on_cpu(columns, flow);
  ASSERT_EQ(map.links.size(), 12u);
  EXPECT_EQ(map.links[0].target, 0);
  EXPECT_EQ(map.links[0].source, 1);
  EXPECT_EQ(map.links[1].lag, 2);
  const InformationMap of_target = estimate_on_cpu(columns, {}, {{}, {1}, {}});
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
  const InformationMap all = estimate_on_cpu(columns, options);
  for (const InformationLink& link : all.links) {
    const InformationMap one =
        estimate_on_cpu(columns, options, {{link.source}, {link.target}, {}});
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

// Slow series that know nothing of each other look alike; rotations do, too.
TEST(Surrogates, AreRotationsWhereRowsDependOnTheRowBefore) {
  int by_default = 0, by_permutation = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    NormalDraws draw(900 + seed);
    Values x{0}, y{0};
    for (int i = 1; i < 400; ++i) {
      x.push_back(0.95 * x.back() + draw());
      y.push_back(0.95 * y.back() + draw());
    }
    InformationOptions options;
    options.surrogates = 50;
    by_default += mutual_information(x, y, options).p_value <= 0.05 ? 1 : 0;
    options.surrogate_kind = SurrogateKind::permutation;
    by_permutation += mutual_information(x, y, options).p_value <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(by_default, 5);  // 1 expected; of 20 more than 5 have probability 3e-4
  EXPECT_GE(by_permutation, 10);
}

// No rotation is made twice: of few rows there are few, and p-values are no smaller than they
// allow.
TEST(Surrogates, ThereAreNoMoreRotationsThanShifts) {
  NormalDraws draw(3);
  const Values x = draw.row(24), y = draw.row(24);
  InformationOptions options;
  options.surrogates = 100;
  options.theiler = 9;
  options.surrogate_kind = SurrogateKind::rotation;
  EXPECT_GE(mutual_information(x, y, options).p_value, 1.0 / 6);  // shifts 10 .. 14
}

TEST(Neighbors, AreChosenByStability) {
  const auto [x, y] = gaussian_pair(400, 0.6, 17);
  InformationOptions options;
  options.k = 0;
  const InformationMap map = estimate_on_cpu({{"x", x}, {"y", y}}, options);
  EXPECT_TRUE(map.links[0].estimate.k == 4 || map.links[0].estimate.k == 6 ||
              map.links[0].estimate.k == 8 || map.links[0].estimate.k == 12);
  EXPECT_EQ(map.notes.front().substr(map.notes.front().find(' ')),
            " neighbours: estimates change the least there");
}

// Strong dependence in few rows: 16 neighbours see less of it than 4.
TEST(Neighbors, AWarningSaysThatAnEstimateIsBiased) {
  const auto [x, y] = gaussian_pair(300, 0.9999, 31);
  const InformationMap map = estimate_on_cpu({{"x", x}, {"y", y}}, {});
  EXPECT_EQ(map.links[0].estimate.status, Status::biased);
  EXPECT_LT(map.links[0].estimate.value, -0.5 * std::log(1 - 0.9999 * 0.9999));
  ASSERT_FALSE(map.notes.empty());
  EXPECT_EQ(map.notes.back().substr(0, 37), "1 of 1 estimates change with k by mor");
  const auto [u, v] = gaussian_pair(300, 0.6, 31);
  EXPECT_EQ(mutual_information(u, v).status, Status::ok);
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
  const InformationMap all = estimate_on_cpu(columns, options, which);
  EXPECT_TRUE(all.links[0].significant);  // x says something of z, through y one row before
  EXPECT_TRUE(all.links[1].significant);
  options.direct = true;
  const InformationMap direct = estimate_on_cpu(columns, options, which);
  EXPECT_FALSE(direct.links[0].significant);
  EXPECT_TRUE(direct.links[1].significant);
}

}  // namespace
}  // namespace kiln::information_map_test
