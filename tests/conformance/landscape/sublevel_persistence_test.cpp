// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/sublevel_persistence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "images.hpp"

// Results are numbers of pixels, which comparisons of values alone determine.
KILN_CONFORMANCE_CASE(SublevelPersistence, exact)

namespace kiln::test::sublevel_persistence_test {
namespace {

using Pixels = std::vector<std::int32_t>;
constexpr std::int32_t never = SublevelPersistence::never, wall = SublevelPersistence::wall;

struct Outputs {
  Pixels basin, death;
  friend bool operator==(const Outputs&, const Outputs&) = default;

  Pixels minima() const {
    Pixels all;
    for (std::size_t i = 0; i < basin.size(); ++i) {
      if (basin[i] == static_cast<std::int32_t>(i)) all.push_back(basin[i]);
    }
    return all;
  }
};

Outputs run(Queue& queue, const Images& in) {
  const DeviceArray<double> value(queue, in.value);
  const std::int64_t pixels = in.pixels();
  DeviceArray<std::int32_t> basin(queue, in.count * pixels), death(queue, in.count * pixels);
  DeviceArray<std::byte> room(queue, SublevelPersistence::room_bytes(in.count, in.grid));
  queue.launch(SublevelPersistence{{value.data(), in.count, pixels, pixels},
                                   in.grid,
                                   {basin.data(), in.count, pixels, pixels},
                                   {death.data(), in.count, pixels, pixels},
                                   room.view()});
  return {basin.download(), death.download()};
}

bool is_neighbor(const PixelGrid& grid, std::int32_t a, std::int32_t b) {
  const int rows = std::abs(a / grid.columns - b / grid.columns);
  const int columns = std::abs(a % grid.columns - b % grid.columns);
  return grid.diagonal ? std::max(rows, columns) == 1 : rows + columns == 1;
}

Pixels order_of(const Images& in) {
  Pixels order(idx(in.pixels()));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::int32_t pixel) { return std::isnan(in.value[idx(pixel)]); });
  std::ranges::stable_sort(order, {}, [&](std::int32_t pixel) { return in.value[idx(pixel)]; });
  return order;
}

// The first pixel in `order` of the component of each of its first `count` pixels, by search.
Pixels first_of_components(const PixelGrid& grid, const Pixels& order, std::size_t count) {
  Pixels first(idx(grid.pixels()), never);
  for (std::size_t i = 0; i < count; ++i) {
    if (first[idx(order[i])] != never) continue;
    Pixels reached{order[i]};
    first[idx(order[i])] = order[i];
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (std::size_t other = 0; other < count; ++other) {
        if (first[idx(order[other])] != never) continue;
        if (!is_neighbor(grid, reached[next], order[other])) continue;
        first[idx(order[other])] = order[i];
        reached.push_back(order[other]);
      }
    }
  }
  return first;
}

// What the definition says: the components of the sublevel sets, pixel by pixel.
Outputs by_flooding(const Images& in) {
  const Pixels order = order_of(in);
  Outputs out{Pixels(idx(in.pixels()), wall), Pixels(idx(in.pixels()), never)};
  Pixels place(idx(in.pixels()), in.grid.pixels());
  for (std::size_t i = 0; i < order.size(); ++i) place[idx(order[i])] = static_cast<int>(i);
  Pixels before(idx(in.pixels()), never);
  for (std::size_t count = 1; count <= order.size(); ++count) {
    const std::int32_t entering = order[count - 1];
    const Pixels now = first_of_components(in.grid, order, count);
    for (const std::int32_t pixel : order) {
      // A component that had this pixel as its first one has an elder one now.
      if (before[idx(pixel)] == pixel && now[idx(pixel)] != pixel) out.death[idx(pixel)] = entering;
    }
    std::int32_t below = entering;
    for (std::size_t i = count - 1; i-- > 0;) {
      if (is_neighbor(in.grid, entering, order[i])) below = order[i];
    }
    out.basin[idx(entering)] = below == entering ? entering : out.basin[idx(below)];
    before = now;
  }
  return out;
}

class SublevelPersistenceKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SublevelPersistenceKernel);

TEST_P(SublevelPersistenceKernel, FindsWhatFloodingFinds) {
  int deaths = 0, differing = 0;
  for (const std::int64_t levels : {2, 6, 1000}) {
    for (const std::int64_t pixels_per_wall : {0, 6}) {
      Images in = random_levels({20, 20}, 1, levels, pixels_per_wall, idx(levels));
      const Outputs with_4 = by_flooding(in);
      EXPECT_EQ(run(queue(), in), with_4) << levels << " levels";
      in.grid.diagonal = true;
      const Outputs with_8 = by_flooding(in);
      EXPECT_EQ(run(queue(), in), with_8) << levels << " levels";
      deaths += static_cast<int>(std::ranges::count_if(with_8.death, [](int d) { return d >= 0; }));
      differing += with_4 != with_8 ? 1 : 0;
    }
  }
  EXPECT_GT(deaths, 100);
  EXPECT_EQ(differing, 6);
}

// Minima 0, 1, 2, 3 with lower and lower saddles between them: the lowest saddle of each but the
// last leads to a younger one.
TEST_P(SublevelPersistenceKernel, KeepsTheElderOfTwoAlsoIfTheYoungerIsWider) {
  Images in{{1, 7}, 1, {0, 9, 1, 8, 2, 7, 3}};
  EXPECT_EQ(run(queue(), in), (Outputs{{0, 0, 2, 2, 4, 4, 6}, {-1, -1, 1, -1, 3, -1, 5}}));
  in.value = {3, 7, 2, 8, 1, 9, 0};
  EXPECT_EQ(run(queue(), in), (Outputs{{0, 2, 2, 4, 4, 6, 6}, {1, -1, 3, -1, 5, -1, -1}}));
}

TEST_P(SublevelPersistenceKernel, OrdersEqualValuesByTheirPixels) {
  const Images in{{1, 5}, 1, {1, 2, 1, 2, 1}};
  EXPECT_EQ(run(queue(), in), (Outputs{{0, 0, 2, 2, 4}, {-1, -1, 1, -1, 3}}));
  const Images signs{{1, 5}, 1, {0.0, 2, -0.0, 2, -0.0}};
  EXPECT_EQ(run(queue(), signs), run(queue(), in));
}

TEST_P(SublevelPersistenceKernel, FindsOneBasinWhereAllIsEqual) {
  for (const bool diagonal : {false, true}) {
    const Images in = random_levels({9, 14, diagonal}, 1, 1, 0, 1);
    EXPECT_EQ(run(queue(), in), (Outputs{Pixels(126, 0), Pixels(126, never)}));
  }
}

TEST_P(SublevelPersistenceKernel, LeavesPartsBehindWallsAlone) {
  const double w = wall_value, inf = std::numeric_limits<double>::infinity();
  Images in{{3, 3}, 1, {2, w, 1, 3, w, 0, inf, w, w}};
  EXPECT_EQ(run(queue(), in), (Outputs{{0, -1, 5, 0, -1, 5, 0, -1, -1}, Pixels(9, never)}));
  in.value = {2, 9, w, w, w, 9, w, -inf, w};
  EXPECT_EQ(run(queue(), in), (Outputs{{0, 0, -1, -1, -1, 5, -1, 7, -1}, Pixels(9, never)}));
  in.grid.diagonal = true;
  EXPECT_EQ(run(queue(), in),
            (Outputs{{0, 0, -1, -1, -1, 7, -1, 7, -1}, {5, -1, -1, -1, -1, -1, -1, -1, -1}}));
  in.value.assign(9, w);
  EXPECT_EQ(run(queue(), in), (Outputs{Pixels(9, wall), Pixels(9, never)}));
}

// x^4 - 2 x^2 + y^2 has minima -1 at x = -1 and 1, and a saddle 0 between them. With pixels of
// h x k, the lowest pixel of a well lies within h/2 and k/2 of its minimum, where the function is
// 4 d^2 + 4 d^3 + d^4 <= 1.1 h^2 higher for x and k^2 / 4 for y (h <= 0.05). The pass goes over a
// pixel within h/2 and k/2 of the saddle: at least -2 (h/2)^2, at most k^2 / 4.
TEST_P(SublevelPersistenceKernel, MeasuresTheBarrierOfADoubleWell) {
  for (const std::int32_t columns : {80, 101, 256}) {
    for (const std::int32_t rows : {50, 101}) {
      const Images in = sampled({rows, columns, true}, 1.5, 1, [](double x, double y) {
        return x * x * x * x - 2 * x * x + y * y;
      });
      const Outputs out = run(queue(), in);
      const Pixels minima = out.minima();
      ASSERT_EQ(minima.size(), 2u);
      const auto dies = [&](std::int32_t m) { return out.death[idx(m)] != never; };
      ASSERT_EQ(std::ranges::count_if(minima, dies), 1);
      const std::int32_t younger = dies(minima[0]) ? minima[0] : minima[1];
      const double persistence = in.value[idx(out.death[idx(younger)])] - in.value[idx(younger)];
      const double h = 3.0 / (columns - 1), k = 2.0 / (rows - 1);
      EXPECT_LE(persistence, 1 + k * k / 4 + 1e-12);
      EXPECT_GE(persistence, 1 - (1.1 + 0.5) * h * h - k * k / 4);
    }
  }
}

// Each centre is the minimum of its own paraboloid; from every other pixel a step along an axis
// leads down.
TEST_P(SublevelPersistenceKernel, CountsPlantedBasins) {
  TestRandom random(5);
  for (const std::int32_t planted : {1, 2, 9, 25}) {
    std::vector<std::pair<double, double>> centers;
    for (std::int32_t i = 0; i < planted; ++i) {
      centers.emplace_back(-0.8 + 0.4 * (i % 5) + 0.1 * random.unit(),
                           -0.8 + 0.4 * (i / 5) + 0.1 * random.unit());
    }
    const Images in = sampled({128, 128}, 1, 1, [&](double x, double y) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < centers.size(); ++i) {
        const double dx = x - centers[i].first, dy = y - centers[i].second;
        least = std::min(least, dx * dx + dy * dy + 1e-4 * static_cast<double>(i));
      }
      return least;
    });
    const Outputs out = run(queue(), in);
    EXPECT_EQ(out.minima().size(), idx(planted));
    EXPECT_EQ(std::ranges::count_if(out.death, [](int d) { return d != never; }), planted - 1);
  }
}

TEST_P(SublevelPersistenceKernel, TreatsEachImageOfABatchAlone) {
  const Images in = random_levels({7, 11, true}, 150, 4, 9, 8);
  const Outputs all = run(queue(), in);
  for (std::int64_t i = 0; i < in.count; ++i) {
    const auto begin = i * in.pixels(), end = begin + in.pixels();
    const Images one{in.grid, 1, {in.value.begin() + begin, in.value.begin() + end}};
    EXPECT_EQ(run(queue(), one), (Outputs{{all.basin.begin() + begin, all.basin.begin() + end},
                                          {all.death.begin() + begin, all.death.begin() + end}}));
  }
}

TEST_P(SublevelPersistenceKernel, MatchesCpu) {
  std::vector<Images> cases;
  for (const bool diagonal : {false, true}) {
    for (const std::int64_t levels : {3, 300, 1 << 30}) {
      cases.push_back(random_levels({256, 256, diagonal}, 3, levels, levels == 3 ? 5 : 0, 2));
      cases.push_back(random_levels({37, 501, diagonal}, 2, levels, 7, 3));
    }
    cases.push_back(sampled({256, 256, diagonal}, 5.12, 5.12, [](double x, double y) {
      return x * x + y * y - 10 * std::cos(6.283185307 * x) - 10 * std::cos(6.283185307 * y);
    }));
    // The worst case of a GPU: each minimum has its lowest saddle towards a younger one.
    Images chain{{1, 4001, diagonal}};
    for (int i = 0; i < 4001; ++i) chain.value.push_back(i % 2 == 0 ? i : 9000 - i);
    cases.push_back(chain);
  }
  for (const Images& in : cases) {
    EXPECT_TRUE(run(queue(), in) == run(cpu_queue(), in))
        << in.grid.rows << " x " << in.grid.columns;
  }
}

}  // namespace
}  // namespace kiln::test::sublevel_persistence_test
