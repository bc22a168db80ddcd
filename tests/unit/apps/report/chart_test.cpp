// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Axes, thinned lines and charts of reports, and the hash of their content policy.
#include "report/chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "report/axis_scale.hpp"
#include "report/content_hash.hpp"

namespace kiln::cli::chart_test {
namespace {

struct Extremes {
  double low = std::numeric_limits<double>::infinity(), high = -low;
};

std::map<double, Extremes> extremes_by_column(const std::vector<Pixel>& places) {
  std::map<double, Extremes> columns;
  for (const Pixel& place : places) {
    Extremes& column = columns[std::floor(place.x)];
    column.low = std::min(column.low, place.y);
    column.high = std::max(column.high, place.y);
  }
  return columns;
}

TEST(AxisScale, ThinningKeepsTheLargestDeviationOfEveryColumn) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal(100, 5);
  std::vector<Pixel> places;
  for (int i = 0; i < 20000; ++i) places.push_back({i * 0.02, normal(generator)});
  places[12345].y = 900;  // a spike that samples of every n-th point miss
  const std::vector<Pixel> kept = thinned_to_pixels(places);
  EXPECT_LE(kept.size(), 4u * 400);
  const auto before = extremes_by_column(places), after = extremes_by_column(kept);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [column, extremes] : before) {
    EXPECT_EQ(after.at(column).low, extremes.low) << column;
    EXPECT_EQ(after.at(column).high, extremes.high) << column;
  }
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &Pixel::x));
  EXPECT_EQ(thinned_to_pixels({}).size(), 0u);
}

TEST(AxisScale, LogarithmicAxesHaveTicksAtPowersOfTen) {
  const AxisScale axis({0.001, 100, true}, 0, 500, 6);
  ASSERT_EQ(axis.ticks(), (std::vector<double>{0.001, 0.01, 0.1, 1, 10, 100}));
  EXPECT_EQ(axis.label(0.001), "0.001");
  EXPECT_NEAR(axis(10) - axis(1), axis(0.1) - axis(0.01), 1e-9) << "equal factors, equal lengths";
  EXPECT_GT(axis(0.001), 0);
  EXPECT_LT(axis(100), 500);
  const AxisScale wide({1e-9, 1e9, true}, 0, 500, 6);
  EXPECT_LE(wide.ticks().size(), 8u);
  EXPECT_EQ(wide.label(1e6), "1e6");
}

TEST(AxisScale, WithoutMarginTheRangeIsTheWholeAxis) {
  const AxisScale axis({0, 1, false, 0}, 200, 0, 5);
  EXPECT_EQ(axis(0), 200);
  EXPECT_EQ(axis(1), 0);
  EXPECT_EQ(axis.ticks().front(), 0);
  EXPECT_EQ(axis.ticks().back(), 1);
}

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Chart, LeavesOutWhatHasNoPlace) {
  Chart chart("t", {"x", true}, {"y"});
  EXPECT_EQ(chart.figure(), "");
  chart.dots({"d"}, {{0, 1}, {-1, 1}, {1, NAN}, {HUGE_VAL, 1}});
  EXPECT_TRUE(chart.empty()) << "no point is above 0 and finite";
  chart.dots({"d"}, {{1, 5}, {10, 5}, {100, 6}});
  const std::string figure = chart.figure();
  EXPECT_EQ(count(figure, "<circle"), 3);
  EXPECT_EQ(figure.find("nan"), std::string::npos) << figure;
  EXPECT_EQ(figure.find("inf"), std::string::npos) << figure;
}

TEST(Chart, StepsAreHorizontalAndVertical) {
  Chart chart("t", {"x"}, {"y"});
  chart.steps({"best"}, {{0, 1}, {5, 3}, {7, 4}}, 10);
  const std::string figure = chart.figure();
  const std::size_t at = figure.find("<path d=\"M");
  ASSERT_NE(at, std::string::npos);
  const std::string path = figure.substr(at, figure.find("/>", at) - at);
  static const std::regex place("([0-9.]+) ([0-9.]+)");
  std::vector<Pixel> places;
  for (std::sregex_iterator i(path.begin(), path.end(), place), end; i != end; ++i) {
    places.push_back({std::stod((*i)[1]), std::stod((*i)[2])});
  }
  ASSERT_EQ(places.size(), 6u) << path;
  for (std::size_t i = 1; i < places.size(); ++i) {
    EXPECT_TRUE(places[i].x == places[i - 1].x || places[i].y == places[i - 1].y) << path;
  }
}

TEST(Chart, NamesOfOthersAreEscaped) {
  Chart chart("<b>\"t\"", {"<i>"}, {"a&b"});
  chart.line({"<script>alert(1)</script>"}, {{0, 1}, {1, 2}});
  chart.rule("<img src=x>", 1);
  chart.tip({0, 1}, "'\"><script>");
  chart.caption("<u>");
  const std::string figure = chart.figure();
  for (const char* part : {"<b>", "<i>", "<script", "<img", "<u>", "a&b"}) {
    EXPECT_EQ(figure.find(part), std::string::npos) << part << "\n" << figure;
  }
}

// FIPS 180-4 and RFC 6234 give the digests of the first two; the third is padded to two blocks.
TEST(ContentHash, IsSha256) {
  EXPECT_EQ(policy_hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  EXPECT_EQ(policy_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(policy_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "sha256-JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
}

}  // namespace
}  // namespace kiln::cli::chart_test
