// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Volumes on the host against definitions that need no algorithm, and against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "kiln/fronts/indicators.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::hypervolume_test {
namespace {

using Values = std::vector<double>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

class Random {
 public:
  explicit Random(std::uint64_t seed) : words_(seed) {}
  double unit() { return static_cast<double>(words_() >> 11) * 0x1p-53; }
  int below(int n) { return static_cast<int>(unit() * n); }
  Points points(int n, std::size_t objectives, double width = 1) {
    Points all(static_cast<std::size_t>(n), Values(objectives));
    for (Values& point : all) {
      for (double& x : point) x = width * unit();
    }
    return all;
  }

 private:
  std::mt19937_64 words_;
};

/// The volume by inclusion and exclusion: all 2^n common boxes.
double by_inclusion(const Points& points, const Values& reference) {
  double volume = 0;
  for (unsigned members = 1; members < 1u << points.size(); ++members) {
    Values corner(reference.size(), -infinite);
    double sign = -1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if ((members >> i & 1) == 0) continue;
      sign = -sign;
      for (std::size_t k = 0; k < corner.size(); ++k) {
        corner[k] = std::max(corner[k], points[i][k]);
      }
    }
    double box = 1;
    for (std::size_t k = 0; k < corner.size(); ++k) box *= std::max(reference[k] - corner[k], 0.0);
    volume += sign * box;
  }
  return volume;
}

/// The number of unit cells of the cube [0, side)^M above some point of whole coordinates.
double by_cells(const Points& points, int side, std::size_t objectives) {
  double cells = 0;
  Values cell(objectives, 0);
  for (;;) {
    cells += std::any_of(points.begin(), points.end(), [&](const Values& point) {
      return std::equal(point.begin(), point.end(), cell.begin(), std::less_equal<>());
    });
    std::size_t k = 0;
    while (k < objectives && ++cell[k] == side) cell[k++] = 0;
    if (k == objectives) return cells;
  }
}

double choose(int n, int k) {
  return std::round(std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)));
}

TEST(Hypervolume, IsNoneWithoutPointsBelowTheReference) {
  EXPECT_EQ(hypervolume({}, {1, 1}), 0);
  EXPECT_EQ(hypervolume({{1, 0}, {0, 2}, {not_known, 0}, {infinite, 0}}, {1, 1}), 0);
  EXPECT_EQ(hypervolume({{1, 0}, {0.5, 0.25}, {0, not_known}}, {1, 1}), 0.375);
}

TEST(Hypervolume, IsRightByHand) {
  EXPECT_EQ(hypervolume({{3}, {1}, {2}}, {4}), 3);
  EXPECT_EQ(hypervolume({{1, 3}, {2, 2}, {3, 1}}, {4, 4}), 6);
  EXPECT_EQ(hypervolume({{1, 3}, {2, 2}, {3, 1}, {3, 3}, {2, 2}}, {4, 4}), 6);
  EXPECT_EQ(hypervolume({{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}, {2, 2, 2}), 7);
  EXPECT_EQ(hypervolume({{0, 0, 0, 1}, {1, 1, 1, 0}}, {2, 2, 2, 2}), 9);
  EXPECT_EQ(hypervolume({{-infinite, 0}, {0, 0}}, {1, 1}), infinite);
}

TEST(Hypervolume, EqualsInclusionAndExclusion) {
  Random random(1);
  for (std::size_t objectives = 1; objectives <= 6; ++objectives) {
    const Values reference(objectives, 0.9);  // so that some points do not count
    for (int round = 0; round < 100; ++round) {
      const Points points = random.points(1 + random.below(6), objectives);
      const double expected = by_inclusion(points, reference);
      EXPECT_NEAR(hypervolume(points, reference), expected, 1e-12 * expected + 1e-18)
          << objectives << " objectives, round " << round;
    }
  }
}

// Exact: whole numbers, with many ties and copies.
TEST(Hypervolume, EqualsTheNumberOfCells) {
  Random random(2);
  for (const std::size_t objectives : {1u, 2u, 3u, 4u, 5u}) {
    for (const int n : {1, 5, 30, 100}) {
      const int side = 5;
      Points points = random.points(n, objectives, side);
      for (Values& point : points) {
        for (double& x : point) x = std::floor(x);
      }
      EXPECT_EQ(hypervolume(points, Values(objectives, side)), by_cells(points, side, objectives))
          << n << " points, " << objectives << " objectives";
    }
  }
}

TEST(Hypervolume, GrowsWithPointsThatNoneDominatesAndWithNoOthers) {
  Random random(3);
  for (std::size_t objectives = 2; objectives <= 6; ++objectives) {
    const Values reference(objectives, 1);
    Points points;
    double before = 0;
    for (const Values& point : random.points(25, objectives)) {
      const bool better = std::none_of(points.begin(), points.end(), [&](const Values& other) {
        return dominates(other, point);
      });
      points.push_back(point);
      const double after = hypervolume(points, reference);
      if (better) {
        EXPECT_GT(after, before);
      } else {
        EXPECT_NEAR(after, before, 1e-13);
      }
      before = after;
    }
  }
}

TEST(Hypervolume, DoesNotDependOnTheOrderOfObjectivesAndPoints) {
  Random random(4);
  for (std::size_t objectives = 2; objectives <= 6; ++objectives) {
    Points points = random.points(40, objectives);
    Values reference;
    for (std::size_t k = 0; k < objectives; ++k) {
      reference.push_back(1 + static_cast<double>(k) / 10);
    }
    const double volume = hypervolume(points, reference);
    for (std::size_t turn = 1; turn < objectives; ++turn) {
      std::rotate(reference.begin(), reference.begin() + 1, reference.end());
      for (Values& point : points) std::rotate(point.begin(), point.begin() + 1, point.end());
      std::rotate(points.begin(), points.begin() + 7, points.end());
      EXPECT_NEAR(hypervolume(points, reference), volume, 1e-12 * volume);
    }
  }
}

// All cells of the lattice whose coordinates sum to less than p are free, all others dominated.
TEST(Hypervolume, OfALatticeOnASimplexIsKnown) {
  for (const auto& [objectives, divisions] :
       {std::pair{2, 99}, {3, 12}, {3, 60}, {4, 10}, {5, 6}, {6, 4}, {8, 3}}) {
    const double r = 1.1;
    const double known = std::pow(r, objectives) - choose(divisions + objectives - 1, objectives) /
                                                       std::pow(divisions, objectives);
    const Values reference(static_cast<std::size_t>(objectives), r);
    EXPECT_NEAR(hypervolume(das_dennis(objectives, divisions), reference), known, 1e-12 * known)
        << objectives << " objectives, " << divisions << " divisions";
  }
}

/// Points in reference directions: as they are on the front of DTLZ1 in its unit simplex, at
/// length 1 on that of DTLZ2.
double of_directions(int objectives, std::int64_t count, bool sphere) {
  Points points = reference_directions(objectives, count);
  for (Values& point : points) {
    const double length =
        std::sqrt(std::inner_product(point.begin(), point.end(), point.begin(), 0.0));
    for (double& x : point) x /= sphere ? length : 1;
  }
  return hypervolume(points, Values(static_cast<std::size_t>(objectives), 1.1)) /
         std::pow(1.1, objectives);
}

TEST(Hypervolume, OfPerfectSetsOnDtlzFrontsIsAsPublished) {
  EXPECT_NEAR(of_directions(3, 91, false), 0.841737, 5e-7);
  EXPECT_NEAR(of_directions(3, 91, true), 0.559618, 5e-7);
  EXPECT_NEAR(of_directions(5, 210, false), 0.979878, 5e-7);
  EXPECT_NEAR(of_directions(5, 210, true), 0.812634, 5e-7);
  EXPECT_NEAR(of_directions(8, 156, false), 0.997589, 5e-7);
  EXPECT_NEAR(of_directions(8, 156, true), 0.924073, 5e-7);
}

// A finer and finer set comes near the volume of the whole front from below.
TEST(Hypervolume, OfFineSetsIsNearThatOfTheFront) {
  const double sphere = 1 - std::acos(-1.0) / 6 / std::pow(1.1, 3);
  const double simplex = 1 - 1.0 / 6 / std::pow(1.1, 3);
  EXPECT_LT(of_directions(3, 5151, true), sphere);
  EXPECT_GT(of_directions(3, 5151, true), sphere - 0.01);
  EXPECT_LT(of_directions(3, 5151, false), simplex);
  EXPECT_GT(of_directions(3, 5151, false), simplex - 0.01);
}

double zdt1(double x) { return 1 - std::sqrt(x); }
double zdt2(double x) { return 1 - x * x; }

// The place after x in a set of best volume: d/dx_i of sum (x_{i+1} - x_i) (r - f2(x_i)) is 0.
double after_on_zdt1(double before, double x) {
  return x + 2 * std::sqrt(x) * (std::sqrt(x) - std::sqrt(before));
}
double after_on_zdt2(double before, double x) { return x + (x * x - before * before) / (2 * x); }

template <class Next>
Values chain_of_places(double before, double first, std::size_t n, Next next) {
  Values places{before, first};
  while (places.size() < n + 2) places.push_back(next(places[places.size() - 2], places.back()));
  return places;
}

/// The n places of the best volume with the reference (1, 1). They are proportional to the first
/// one, with x_0 = 0 and x_{n+1} = 1.
template <class Next>
Values best_places(std::size_t n, Next next) {
  Values places = chain_of_places(0, 1, n, next);
  for (double& x : places) x /= places.back();
  return {places.begin() + 1, places.end() - 1};
}

template <class Shape>
double volume_at(const Values& places, double reference, Shape shape) {
  Points points;
  for (const double x : places) points.push_back({x, shape(x)});
  return hypervolume(points, {reference, reference});
}

TEST(Hypervolume, OfTheBestPlacesOnZdtFrontsIsAsPublished) {
  EXPECT_NEAR(volume_at(best_places(50, after_on_zdt1), 1, zdt1), 0.657813, 5e-7);
  EXPECT_NEAR(volume_at(best_places(50, after_on_zdt2), 1, zdt2), 0.324744, 5e-7);
}

TEST(Hypervolume, IsLessForPlacesMovedFromTheBest) {
  const Values best = best_places(20, after_on_zdt1);
  const double volume = volume_at(best, 1, zdt1);
  for (std::size_t i = 0; i < best.size(); ++i) {
    for (const double factor : {0.99, 1.01}) {
      Values moved = best;
      moved[i] *= factor;
      EXPECT_LT(volume_at(moved, 1, zdt1), volume) << i;
    }
  }
}

// What n points leave of the volume of the whole front is (integral of sqrt(-f2'))^2 / (2 n) for
// many points, on both fronts 4 / (9 n).
TEST(Hypervolume, OfManyBestPlacesApproachesThatOfTheFront) {
  constexpr std::size_t n = 2000;
  EXPECT_NEAR((2.0 / 3 - volume_at(best_places(n, after_on_zdt1), 1, zdt1)) * n, 4.0 / 9, 1e-3);
  EXPECT_NEAR((1.0 / 3 - volume_at(best_places(n, after_on_zdt2), 1, zdt2)) * n, 4.0 / 9, 1e-3);
}

/// The largest `first` in [0, 1] for which the chain ends at 1 at most.
template <class Chain>
double shoot(Chain chain) {
  double low = 0, high = 1;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (chain(middle).back() <= 1 ? low : high) = middle;
  }
  return low;
}

// With (1.1, 1.1) the last point stands at the end of the front, and on ZDT2 the first one too.
TEST(Hypervolume, OfTheBestPlacesWithRoomBehindTheEndsIsAsPublished) {
  constexpr std::size_t n = 50;
  const auto on_zdt1 = [](double first) {  // in s = sqrt(x), which is -0.1 where 1.1 is reached
    Values s{-0.1, first};
    while (s.size() <= n) {
      const double before = s[s.size() - 2], last = s.back();
      s.push_back(std::sqrt(last * last + 2 * last * (last - before)));
    }
    return Values(s.begin() + 1, s.end());
  };
  Values places = on_zdt1(shoot(on_zdt1));
  for (double& s : places) s *= s;
  EXPECT_NEAR(volume_at(places, 1.1, zdt1) / 1.21, 0.716932, 5e-7);

  const auto on_zdt2 = [](double second) {
    return chain_of_places(0, second, n - 2, after_on_zdt2);
  };
  EXPECT_NEAR(volume_at(on_zdt2(shoot(on_zdt2)), 1.1, zdt2) / 1.21, 0.441651, 5e-7);
}

TEST(HypervolumeContributions, AreRightByHand) {
  const Points points{{1, 4}, {2, 2}, {2.5, 3}, {4, 1}, {5, 0}, {6, 0.5}, {2, not_known}};
  EXPECT_EQ(hypervolume_contributions(points, {5, 5}), (Values{1, 2.5, 0, 1, 0, 0, 0}));
  EXPECT_EQ(hypervolume_contributions({{1, 2}, {2, 1}, {1, 2}}, {3, 3}), (Values{0, 1, 0}));
  EXPECT_EQ(hypervolume_contributions({{0, -infinite}, {1, 1}, {0.5, 2}}, {3, 3}),
            (Values{infinite, 0, 0}));
  EXPECT_TRUE(hypervolume_contributions({}, {1, 1}).empty());
}

TEST(HypervolumeContributions, AreWhatIsLostWithoutThePoint) {
  Random random(5);
  for (std::size_t objectives = 1; objectives <= 6; ++objectives) {
    const Values reference(objectives, 0.95);
    Points points = random.points(20, objectives);
    points.push_back(points[3]);
    const double whole = hypervolume(points, reference);
    const Values contributions = hypervolume_contributions(points, reference);
    ASSERT_EQ(contributions.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      Points others = points;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NEAR(contributions[i], whole - hypervolume(others, reference), 1e-13);
    }
    EXPECT_EQ(contributions[3], 0);
    EXPECT_EQ(contributions.back(), 0);
    EXPECT_GT(*std::max_element(contributions.begin(), contributions.end()), 0);
  }
}

TEST(Hypervolume, RefusesWhatHasNone) {
  const auto code_of = [](const Points& points, const Values& reference) {
    return test::code_of([&] {
      hypervolume_contributions(points, reference);
      hypervolume(points, reference);
    });
  };
  EXPECT_EQ(code_of({{1, 2}, {1, 2, 3}}, {3, 3}), "front.dimension");
  EXPECT_EQ(code_of({}, {}), "front.dimension");
  EXPECT_EQ(code_of({{1, 2}}, {3, infinite}), "front.reference");
  EXPECT_EQ(code_of({{1, 2}}, {3, not_known}), "front.reference");
  EXPECT_EQ(code_of({{1, 2}}, {3, 3}), "accepted");
}

}  // namespace
}  // namespace kiln::hypervolume_test
