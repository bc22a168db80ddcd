// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fronts/nondominated_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kiln/fronts/indicators.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::nondominated_cells_test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Of multiples of 1 / steps, so that coordinates are often equal.
Points random_points(int n, std::size_t objectives, int steps, std::uint64_t seed) {
  std::mt19937_64 words(seed);
  Points points(static_cast<std::size_t>(n), std::vector<double>(objectives));
  for (std::vector<double>& point : points) {
    for (double& x : point) {
      x = static_cast<double>(words() % static_cast<std::uint64_t>(steps)) / steps;
    }
  }
  return points;
}

/// The volume of the cells above a lower end of the box.
double volume_of(const Cells& cells, double floor) {
  double sum = 0;
  for (std::size_t c = 0; c < cells.lower.size(); ++c) {
    double volume = 1;
    for (std::size_t k = 0; k < cells.lower[c].size(); ++k) {
      volume *= std::max(0.0, cells.upper[c][k] - std::max(floor, cells.lower[c][k]));
    }
    sum += volume;
  }
  return sum;
}

TEST(NondominatedCells, AreWhatTheFrontLeavesOfTheBox) {
  for (const std::size_t m : {2u, 3u, 4u}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Points points =
          random_points(static_cast<int>(3 * seed), m, seed % 2 ? 7 : 100000, seed);
      const std::vector<double> reference(m, 0.9);
      const Cells cells = nondominated_cells(points, reference);
      const double floor = -0.25, box = std::pow(0.9 - floor, static_cast<double>(m));
      EXPECT_NEAR(volume_of(cells, floor), box - hypervolume(points, reference), 1e-12)
          << m << " objectives, seed " << seed;
    }
  }
}

TEST(NondominatedCells, HoldEveryPointOnceThatNothingDominates) {
  std::mt19937_64 words(5);
  for (const std::size_t m : {2u, 3u, 4u}) {
    const Points points = random_points(40, m, 11, m);
    const std::vector<double> reference(m, 1.0);
    const Cells cells = nondominated_cells(points, reference);
    for (int i = 0; i < 4000; ++i) {
      std::vector<double> y(m);
      for (double& x : y) x = 1.2 * static_cast<double>(words() >> 11) * 0x1p-53 - 0.1;
      const bool below = std::ranges::all_of(y, [](double x) { return x <= 1; });
      const bool dominated =
          std::ranges::any_of(points, [&](const auto& p) { return dominates(p, y); });
      int holders = 0;
      for (std::size_t c = 0; c < cells.lower.size(); ++c) {
        bool inside = true;
        for (std::size_t k = 0; k < m; ++k) {
          inside &= y[k] > cells.lower[c][k] && y[k] <= cells.upper[c][k];
        }
        holders += inside ? 1 : 0;
      }
      ASSERT_EQ(holders, below && !dominated ? 1 : 0) << m << " objectives, point " << i;
    }
  }
}

TEST(NondominatedCells, AreFew) {
  for (const std::size_t m : {2u, 3u}) {
    const Points points = random_points(200, m, 1 << 20, 3);
    const std::vector<double> reference(m, 2.0);
    const std::size_t members = nondominated(points).size();
    const std::size_t cells = nondominated_cells(points, reference).lower.size();
    if (m == 2) {
      EXPECT_EQ(cells, members + 1);
    } else {
      EXPECT_LE(cells, 2 * members + 1);
    }
  }
}

TEST(NondominatedCells, KnowsTwoPointsByHand) {
  const Cells cells = nondominated_cells({{1, 2}, {2, 1}, {2, 2}, {5, 0}}, {4, 3});
  ASSERT_EQ(cells.lower.size(), 3u);
  std::vector<std::vector<double>> corners = cells.upper;
  std::ranges::sort(corners);
  EXPECT_EQ(corners, (Points{{1, 3}, {2, 2}, {4, 1}}));
  const Cells empty = nondominated_cells({{4, 0}, {std::nan(""), 0}}, {4, 3});
  EXPECT_EQ(empty.lower, (Points{{-infinite, -infinite}}));
  EXPECT_EQ(empty.upper, (Points{{4, 3}}));
  EXPECT_TRUE(nondominated_cells({{-infinite, -infinite}}, {4, 3}).lower.empty());
}

TEST(NondominatedCells, RefusesWhatIsNoSet) {
  EXPECT_EQ(test::complaint([] {
              nondominated_cells({{1, 2, 3}}, {4, 3});
            }),
            "front.dimension: a point has 3 values, but the reference point has 2 values");
  EXPECT_EQ(test::complaint([] {
              nondominated_cells({}, {4, infinite});
            }),
            "front.reference: the reference point is not finite");
}

}  // namespace
}  // namespace kiln::nondominated_cells_test
