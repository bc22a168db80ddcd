// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fronts/indicators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "backends/cpu_queue.hpp"

namespace kiln::indicators_test {
namespace {

using test::code_of;
using Values = std::vector<double>;
using Places = std::vector<std::size_t>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

class Random {
 public:
  explicit Random(std::uint64_t seed) : words_(seed) {}
  double unit() { return static_cast<double>(words_() >> 11) * 0x1p-53; }
  double level(int levels) { return std::floor(unit() * levels); }

 private:
  std::mt19937_64 words_;
};

TEST(Dominates, IsNowhereGreaterAndSomewhereLess) {
  EXPECT_TRUE(dominates({1, 2}, {1, 3}));
  EXPECT_TRUE(dominates({-infinite, 2}, {1, infinite}));
  EXPECT_FALSE(dominates({1, 3}, {1, 2}));
  EXPECT_FALSE(dominates({1, 2}, {1, 2}));
  EXPECT_FALSE(dominates({0.0, 1}, {-0.0, 1}));
  EXPECT_FALSE(dominates({0, 1}, {1, 0}));
  EXPECT_TRUE(dominates({9, 9}, {not_known, 0}));
  EXPECT_FALSE(dominates({not_known, 0}, {9, 9}));
  EXPECT_FALSE(dominates({not_known, 0}, {not_known, 1}));
  EXPECT_EQ(code_of([] { dominates({1, 2}, {1}); }), "front.dimension");
}

// Straight from the definition, in words of its own.
Places by_definition(const Points& points) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  Places front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool on_front = std::none_of(points[i].begin(), points[i].end(), is_nan);
    for (const Values& other : points) {
      int less = 0, greater = 0;
      for (std::size_t k = 0; k < other.size(); ++k) {
        less += other[k] < points[i][k];
        greater += !(other[k] <= points[i][k]);
      }
      on_front = on_front && !(less > 0 && greater == 0);
    }
    if (on_front) front.push_back(i);
  }
  return front;
}

TEST(Nondominated, EqualsTheDefinition) {
  Random random(1);
  std::size_t n_fronts = 0;
  for (std::size_t objectives = 1; objectives <= 5; ++objectives) {
    for (const int levels : {2, 5, 30, 1'000'000}) {
      for (const int n : {1, 7, 60, 200}) {
        Points points(static_cast<std::size_t>(n), Values(objectives));
        for (Values& point : points) {
          for (double& x : point) x = random.unit() < 0.02 ? not_known : random.level(levels);
        }
        points.push_back(points[points.size() / 2]);
        const Places front = nondominated(points);
        EXPECT_EQ(front, by_definition(points)) << objectives << " objectives, " << n << " points";
        n_fronts += front.size() > 3 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(n_fronts, 20U);
}

TEST(Nondominated, KeepsCopiesAndLeavesNanOut) {
  EXPECT_EQ(nondominated({{2, 1}, {1, 2}, {2, 1}, {2, 2}}), (Places{0, 1, 2}));
  EXPECT_EQ(nondominated({{not_known, 0}, {not_known, not_known}}), Places{});
  EXPECT_EQ(nondominated({{0.0, 1}, {-0.0, 1}}), (Places{0, 1}));
  EXPECT_EQ(nondominated({}), Places{});
  EXPECT_EQ(code_of([] { nondominated({{1, 2}, {1}}); }), "front.dimension");
  EXPECT_EQ(code_of([] { nondominated({{}}); }), "front.dimension");
}

TEST(ExtremePoints, AreLeastInOneAndThenInTheOtherObjectives) {
  const Points points{{1, 9, 9}, {3, 2, 7}, {1, 8, 9}, {3, 2, 6}, {5, 5, 5}, {not_known, 0, 0}};
  EXPECT_EQ(extreme_points(points), (Places{2, 3, 4}));
  EXPECT_EQ(extreme_points({{1, 1}, {1, 1}}), (Places{0, 0}));
  EXPECT_EQ(code_of([] { extreme_points({}); }), "front.empty");
  EXPECT_EQ(code_of([] { extreme_points({{not_known, 1}}); }), "front.empty");
}

/// 101 points of a curve over [0, 1].
template <class Shape>
Points curve(Shape shape) {
  Points points;
  for (int i = 0; i <= 100; ++i) points.push_back({i / 100.0, shape(i / 100.0)});
  return points;
}

TEST(KneePoint, IsWhereTheSlopeIsThatOfTheLineThroughTheEnds) {
  EXPECT_EQ(knee_point(curve([](double x) { return 1 - std::sqrt(x); })), 25U);
  EXPECT_EQ(knee_point(curve([](double x) { return (1 - x) * (1 - x); })), 50U);
  EXPECT_EQ(knee_point(curve([](double x) { return std::pow(1 - x, 4); })), 37U);
}

TEST(KneePoint, DoesNotDependOnUnitsAndOnPointsThatAreDominated) {
  Points points = curve([](double x) { return 1 - std::sqrt(x); });
  for (Values& point : points) point = {1000 * point[0] - 7, 1e-3 * point[1] + 5};
  EXPECT_EQ(knee_point(points), 25U);
  points.push_back({1e6, 1e6});
  points.push_back({not_known, -1e6});
  points.push_back({infinite, -1e6});
  EXPECT_EQ(knee_point(points), 25U);
}

TEST(KneePoint, OfAFrontThatBulgesAwayIsAnEnd) {
  EXPECT_EQ(knee_point(curve([](double x) { return 1 - x * x; })), 0U);
  EXPECT_EQ(knee_point({{0, 1}, {1, 0}}), 0U);
  EXPECT_EQ(knee_point({{1, 0}, {0, 1}}), 1U);
}

TEST(KneePoint, IsAKneeBetweenEndsOnly) {
  EXPECT_TRUE(has_knee(curve([](double x) { return 1 - std::sqrt(x); })));
  EXPECT_FALSE(has_knee(curve([](double x) { return 1 - x * x; })));
  EXPECT_FALSE(has_knee(curve([](double x) { return std::sqrt(1 - x * x); })));
  // Lines, exact and as a search leaves them; a parabola bulges by a quarter of its factor.
  EXPECT_FALSE(has_knee(curve([](double x) { return 1 - x; })));
  EXPECT_FALSE(has_knee(curve([](double x) { return 1 - x + 1e-3 * std::sin(40 * x); })));
  EXPECT_FALSE(has_knee(curve([](double x) { return 1 - x - 0.036 * x * (1 - x); })));
  EXPECT_TRUE(has_knee(curve([](double x) { return 1 - x - 0.044 * x * (1 - x); })));
  EXPECT_FALSE(has_knee(das_dennis(3, 12)));
  EXPECT_FALSE(has_knee({{3, 4}}));
  EXPECT_FALSE(has_knee({{0, 1}, {1, 0}}));
  EXPECT_FALSE(has_knee({{0, 1}, {1, 0}, {2, 2}, {not_known, 0}}));
  EXPECT_TRUE(has_knee({{0, 1}, {0.1, 0.1}, {1, 0}}));
  // With three objectives the lowest point can be an end.
  EXPECT_FALSE(has_knee({{0, 0.1, 0.1}, {1, 0, 0.5}, {0.5, 1, 0}}));
  EXPECT_TRUE(has_knee({{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0.2, 0.2, 0.2}}));
  EXPECT_EQ(code_of([] { has_knee({}); }), "front.empty");
}

// A sphere around (1, 1, 1), seen from the ideal: the middle is nearest.
TEST(KneePoint, OfThreeObjectivesIsTheMiddleOfABowl) {
  Points points = das_dennis(3, 12);
  for (Values& point : points) {
    const double length = std::hypot(point[0], point[1], point[2]);
    for (double& x : point) x = 1 - x / length;
  }
  const Values& knee = points[knee_point(points)];
  for (const double x : knee) EXPECT_NEAR(x, 1 - 1 / std::sqrt(3.0), 1e-15);
}

TEST(KneePoint, IsDefinedForDegenerateFronts) {
  EXPECT_EQ(knee_point({{3, 4}}), 0U);
  EXPECT_EQ(knee_point({{5, 5}, {3, 4}, {3, 4}}), 1U);
  EXPECT_EQ(knee_point({{0, 7, 2}, {0.2, 7, 0.3}, {2, 7, 0}}), 1U);  // one objective is constant
  EXPECT_EQ(knee_point({{not_known, 0}, {-infinite, 0}}), 1U);
  EXPECT_EQ(knee_point({{-1.5e308, 1.5e308}, {-1.4e308, -1.4e308}, {1.5e308, -1.5e308}}), 1U);
  EXPECT_EQ(code_of([] { knee_point({}); }), "front.empty");
  EXPECT_EQ(code_of([] { knee_point({{not_known}}); }), "front.empty");
}

const Points hand_points{{1, 2}, {4, 0}};
const Points hand_front{{0, 2}, {1, 1}, {4, 4}};

TEST(Distances, AreRightByHand) {
  EXPECT_DOUBLE_EQ(inverted_generational_distance(hand_points, hand_front),
                   (1 + 1 + std::sqrt(13.0)) / 3);
  EXPECT_DOUBLE_EQ(inverted_generational_distance_plus(hand_points, hand_front), 2.0 / 3);
  EXPECT_DOUBLE_EQ(generational_distance(hand_points, hand_front), (1 + std::sqrt(10.0)) / 2);
  EXPECT_DOUBLE_EQ(generational_distance_plus(hand_points, {{0, 2}, {1, 1}}), (1 + 3) / 2.0);
  EXPECT_DOUBLE_EQ(generational_distance_plus(hand_points, hand_front), 0);
  EXPECT_DOUBLE_EQ(additive_epsilon(hand_points, hand_front), 1);
  EXPECT_DOUBLE_EQ(additive_epsilon({{0, 0, 0}}, {{1, 2, 3}, {3, 3, 3}}), -1);
}

using Indicator = double (*)(const Points&, const Points&);
constexpr Indicator distances[] = {inverted_generational_distance,
                                   inverted_generational_distance_plus, generational_distance,
                                   generational_distance_plus, additive_epsilon};

TEST(Distances, AreNoneForTheReferenceItself) {
  const Points front = das_dennis(3, 9);
  for (const Indicator indicator : distances) EXPECT_EQ(indicator(front, front), 0);
}

TEST(Distances, OfAMovedSetAreTheMove) {
  const Points front = curve([](double x) { return 1 - x; });
  Points moved = front;
  for (Values& point : moved) point = {point[0] + 0.25, point[1] + 0.25};
  EXPECT_NEAR(additive_epsilon(moved, front), 0.25, 1e-15);
  EXPECT_NEAR(additive_epsilon(front, moved), -0.25, 1e-15);
  // Along the normal of the line, and by whole steps of the curve: each foot is a point of it.
  EXPECT_NEAR(generational_distance(moved, front), std::sqrt(0.125), 1e-15);
  EXPECT_EQ(generational_distance_plus(front, moved), 0);
  EXPECT_EQ(inverted_generational_distance_plus(front, moved), 0);
  EXPECT_GT(inverted_generational_distance(front, moved), 0.3);
}

// The published values of sets that lie on 91 directions, against 10011 points of the front.
TEST(Distances, OfPerfectSetsOnDtlzFrontsAreAsPublished) {
  const auto of_directions = [](bool sphere) {
    Points points = reference_directions(3, 91), front = das_dennis(3, 140);
    EXPECT_EQ(front.size(), 10011U);
    for (Points* const set : {&points, &front}) {
      for (Values& point : *set) {
        const double length = std::hypot(point[0], point[1], point[2]);
        for (double& x : point) x = sphere ? x / length : 0.5 * x;
      }
    }
    return inverted_generational_distance(points, front);
  };
  EXPECT_NEAR(of_directions(false), 0.020561, 5e-7);
  EXPECT_NEAR(of_directions(true), 0.054470, 5e-7);
}

// A set that dominates another is not worse by the indicators that respect dominance.
TEST(Distances, RespectDominanceWhereTheyShould) {
  Random random(2);
  const Points front = das_dennis(3, 8);
  for (int round = 0; round < 50; ++round) {
    Points better(10, Values(3)), worse;
    for (Values& point : better) {
      for (double& x : point) x = 1.5 * random.unit();
      worse.push_back(point);
      for (double& x : worse.back()) x += 0.3 * random.unit();
    }
    EXPECT_LE(inverted_generational_distance_plus(better, front),
              inverted_generational_distance_plus(worse, front));
    EXPECT_LE(additive_epsilon(better, front), additive_epsilon(worse, front));
  }
}

TEST(Spread, OfTwoObjectivesIsRightByHand) {
  const Points line{{0, 1}, {1, 0}, {0.5, 0.5}, {0.25, 0.75}, {0.75, 0.25}};
  EXPECT_NEAR(spread(line, line), 0, 1e-15);
  // Gaps sqrt(2) and 3 sqrt(2); the last point is 6 sqrt(2) from the end.
  EXPECT_DOUBLE_EQ(spread({{4, 6}, {0, 10}, {1, 9}}, {{10, 0}, {5, 5}, {0, 10}}), 0.8);
  EXPECT_DOUBLE_EQ(spread({{1, 1}}, line), 1);
  EXPECT_EQ(spread({{1, 1}}, {{1, 1}}), 0);
}

TEST(Spread, OfMoreObjectivesIsRightByHand) {
  const Points corners{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_NEAR(spread(corners, corners), 0, 1e-15);
  // Two points at 5 from each other, two more, two at 13; nearest to (0, 0, 40) is the last one.
  const Points points{{40, 0, 0}, {0, 40, 0}, {0, 0, 15}, {36, 3, 0}, {4, 37, 0}, {0, 5, 27}};
  const Points front{{40, 0, 0}, {0, 40, 0}, {0, 0, 40}, {10, 10, 10}};
  const double end = std::hypot(5, 13);
  const double total = 5 + 5 + 5 + 5 + 13 + 13, mean = total / 6;
  const double deviation = 4 * (mean - 5) + 2 * (13 - mean);
  EXPECT_DOUBLE_EQ(spread(points, front), (end + deviation) / (end + total));
}

// Points far out that others dominate are no ends: the value is that without them.
TEST(Spread, TakesTheEndsFromPointsThatNoOtherDominates) {
  const Points line{{10, 0}, {5, 5}, {0, 10}};
  Points more = line;
  more.insert(more.end(), {{30, 0}, {0, 50}, {11, 4}});
  EXPECT_DOUBLE_EQ(spread({{4, 6}, {0, 10}, {1, 9}}, more), 0.8);
  const Points corners{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  Points with_far = corners;
  with_far.insert(with_far.end(), {{7, 0, 0}, {1, 1, 9}});
  EXPECT_NEAR(spread(corners, with_far), 0, 1e-15);
}

TEST(Indicators, LeaveNanOutAndRefuseWhatTheyCannotCompare) {
  for (const Indicator indicator :
       {distances[0], distances[1], distances[2], distances[3], distances[4], Indicator{spread}}) {
    Points with_nan = hand_points;
    with_nan.insert(with_nan.begin(), {not_known, 0});
    EXPECT_EQ(indicator(with_nan, hand_front), indicator(hand_points, hand_front));
    EXPECT_EQ(code_of([&] { indicator({}, hand_front); }), "front.empty");
    EXPECT_EQ(code_of([&] { indicator(hand_points, {}); }), "front.empty");
    EXPECT_EQ(code_of([&] { indicator({{not_known, 1}}, hand_front); }), "front.empty");
    EXPECT_EQ(code_of([&] { indicator(hand_points, {{1, 2, 3}}); }), "front.dimension");
    EXPECT_EQ(code_of([&] { indicator({{1, 2}, {1}}, hand_front); }), "front.dimension");
  }
}

TEST(DasDennis, ListsAllVectorsInOrder) {
  EXPECT_EQ(das_dennis(3, 2),
            (Points{{0, 0, 1}, {0, 0.5, 0.5}, {0, 1, 0}, {0.5, 0, 0.5}, {0.5, 0.5, 0}, {1, 0, 0}}));
  EXPECT_EQ(das_dennis(1, 5), (Points{{1}}));
  EXPECT_EQ(das_dennis(2, 99).size(), 100U);
  EXPECT_EQ(das_dennis(6, 7).size(), 792U);
  EXPECT_TRUE(std::ranges::is_sorted(das_dennis(6, 7)));
}

TEST(ReferenceDirections, AreAsManyAsPublished) {
  for (const auto& [objectives, count] :
       {std::pair{3, 91}, {5, 210}, {8, 156}, {10, 275}, {15, 135}}) {
    const Points directions = reference_directions(objectives, count);
    EXPECT_EQ(directions.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(std::set<Values>(directions.begin(), directions.end()).size(), directions.size());
    for (const Values& direction : directions) {
      EXPECT_NEAR(std::accumulate(direction.begin(), direction.end(), 0.0), 1, 1e-14);
      EXPECT_GE(*std::min_element(direction.begin(), direction.end()), 0);
    }
    EXPECT_LT(reference_directions(objectives, count - 1).size(), directions.size());
    EXPECT_EQ(reference_directions(objectives, count + 1), directions);
  }
}

TEST(ReferenceDirections, HaveAnInnerLayerInManyObjectives) {
  const Points directions = reference_directions(8, 156);
  const auto inside = [](const Values& direction) {
    return *std::min_element(direction.begin(), direction.end()) > 0;
  };
  EXPECT_EQ(std::ranges::count_if(directions, inside), 36);
  Values corner(8, 1.0 / 16);
  corner.back() = 1.0 / 16 + 0.5;
  EXPECT_EQ(directions[120], corner);
  EXPECT_EQ(reference_directions(8, 43).size(), 8U);  // two layers would be 44
}

TEST(Directions, RefuseWhatDoesNotExist) {
  EXPECT_EQ(code_of([] { das_dennis(0, 3); }), "front.directions");
  EXPECT_EQ(code_of([] { das_dennis(3, 0); }), "front.directions");
  EXPECT_EQ(code_of([] { das_dennis(20, 40); }), "front.directions");
  EXPECT_EQ(code_of([] { reference_directions(3, 2); }), "front.directions");
  EXPECT_EQ(code_of([] { reference_directions(0, 2); }), "front.directions");
  EXPECT_EQ(reference_directions(3, 3).size(), 3U);
  EXPECT_EQ(reference_directions(1, 50).size(), 1U);
}

}  // namespace
}  // namespace kiln::indicators_test
