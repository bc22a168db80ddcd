// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/space_filling_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kiln/errors.hpp"
#include "kiln/models/sobol_directions.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "chi_square.hpp"

// Named draws, integers and exact arithmetic.
KILN_CONFORMANCE_CASE(SpaceFillingPoints, exact)

namespace kiln::test::space_filling_points_test {
namespace {

constexpr PointsKind all_kinds[] = {PointsKind::sobol, PointsKind::latin_hypercube,
                                    PointsKind::uniform};

constexpr double false_alarm = 1e-4;  // of each test of a distribution

struct Sets {
  PointsKind kind = PointsKind::sobol;
  std::int64_t dimension = 2, points = 0;
  std::vector<std::uint64_t> keys{1}, first{};
  bool by_step = false;
  std::int64_t gap = 0;  ///< values behind each row

  std::int64_t stride() const { return points + gap; }
  std::size_t at(std::int64_t set, std::int64_t k, std::int64_t point) const {
    return idx((set * dimension + k) * stride() + point);
  }
};

std::vector<double> make(Queue& queue, const Sets& in, const RunControl& state = {}) {
  const DeviceArray<std::uint32_t> directions(queue,
                                              sobol_directions(static_cast<int>(in.dimension)));
  const DeviceArray<std::uint64_t> keys(queue, in.keys), first(queue, in.first);
  const auto control = upload_control(queue, state);
  DeviceArray<double> data(
      queue, std::vector<double>(in.keys.size() * idx(in.dimension * in.stride()), 4711));
  SpaceFillingPoints kernel;
  kernel.kind = in.kind;
  kernel.dimension = in.dimension;
  kernel.points = in.points;
  kernel.directions = {directions.data(), in.dimension, 32, 32};
  kernel.keys = keys.view();
  kernel.first = first.view();
  kernel.by_step = in.by_step;
  kernel.data = data.data();
  kernel.stride = in.stride();
  kernel.set_stride = in.dimension * in.stride();
  kernel.control = control.data();
  queue.launch(kernel);
  return data.download();
}

std::vector<std::uint64_t> some_keys(std::int64_t count) {
  std::vector<std::uint64_t> keys;
  for (std::int64_t i = 0; i < count; ++i) keys.push_back(0x9E3779B97F4A7C15ull * idx(i + 1));
  return keys;
}

// How many points lie in each box of 2^a x 2^b over two axes.
std::vector<std::int64_t> boxes(const Sets& in, const std::vector<double>& x, std::int64_t k, int a,
                                std::int64_t l, int b) {
  std::vector<std::int64_t> count(std::size_t{1} << (a + b));
  for (std::int64_t i = 0; i < in.points; ++i) {
    const auto row = static_cast<std::size_t>(std::ldexp(x[in.at(0, k, i)], a));
    const auto column = static_cast<std::size_t>(std::ldexp(x[in.at(0, l, i)], b));
    ++count[(row << b) + column];
  }
  return count;
}

class SpaceFillingPointsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SpaceFillingPointsKernel);

TEST_P(SpaceFillingPointsKernel, PutsOnePointIntoEveryElementaryIntervalOfTwoAxes) {
  for (const std::uint64_t key : {1ull, 77ull}) {
    for (const int m : {1, 5, 10}) {
      Sets in{.points = std::int64_t{1} << m, .keys = {key}};
      const std::vector<double> x = make(queue(), in);
      for (int a = 0; a <= m; ++a) {
        EXPECT_EQ(boxes(in, x, 0, a, 1, m - a), std::vector<std::int64_t>(idx(in.points), 1))
            << m << ", " << a;
      }
    }
  }
}

TEST_P(SpaceFillingPointsKernel, KeepsTheNetOfEveryStretchOfASequence) {
  // Any 2^8 points that begin with a multiple of 2^8 are a net too.
  for (const std::uint64_t first : {256ull, 1024ull * 256, (1ull << 32) - 256, 1ull << 32}) {
    const Sets in{.points = 256, .first = {first}};
    const std::vector<double> x = make(queue(), in);
    for (int a = 0; a <= 8; ++a) {
      EXPECT_EQ(boxes(in, x, 0, a, 1, 8 - a), std::vector<std::int64_t>(256, 1)) << first;
    }
  }
}

TEST_P(SpaceFillingPointsKernel, UniformPointsAreNoNet) {
  const Sets in{.kind = PointsKind::uniform, .points = 1024};
  const std::vector<double> x = make(queue(), in);
  EXPECT_NE(boxes(in, x, 0, 5, 1, 5), std::vector<std::int64_t>(1024, 1));
}

TEST_P(SpaceFillingPointsKernel, SpreadsEveryAxisEvenly) {
  const Sets in{.dimension = 1100, .points = 256};
  const std::vector<double> x = make(queue(), in);
  for (std::int64_t k = 0; k < in.dimension; ++k) {
    ASSERT_EQ(boxes(in, x, k, 8, k, 0), std::vector<std::int64_t>(256, 1)) << k;
  }
}

TEST_P(SpaceFillingPointsKernel, HasFairPairsOfAxes) {
  // Each of 4 x 4 boxes has a sixteenth of the points.
  const Sets in{.dimension = 20, .points = 1024};
  const std::vector<double> x = make(queue(), in);
  for (std::int64_t k = 0; k < in.dimension; ++k) {
    for (std::int64_t l = 0; l < k; ++l) {
      EXPECT_EQ(boxes(in, x, k, 2, l, 2), std::vector<std::int64_t>(16, 64)) << k << ", " << l;
    }
  }
}

TEST_P(SpaceFillingPointsKernel, GoesOnWhereASequenceEnded) {
  for (const PointsKind kind : {PointsKind::sobol, PointsKind::uniform}) {
    const Sets whole{.kind = kind, .points = 777, .first = {5}};
    const Sets begun{.kind = kind, .points = 300, .first = {5}};
    const Sets rest{.kind = kind, .points = 477, .first = {305}};
    const std::vector<double> all = make(queue(), whole), x = make(queue(), begun),
                              y = make(queue(), rest);
    for (std::int64_t k = 0; k < 2; ++k) {
      for (std::int64_t i = 0; i < 777; ++i) {
        const double part = i < 300 ? x[begun.at(0, k, i)] : y[rest.at(0, k, i - 300)];
        ASSERT_EQ(all[whole.at(0, k, i)], part) << k << ", " << i;
      }
    }
  }
}

TEST_P(SpaceFillingPointsKernel, PutsOnePointIntoEverySliceOfALatinHypercube) {
  for (const std::int64_t points : {1, 2, 3, 31, 64, 65, 100, 1000, 5000}) {
    const Sets in{.kind = PointsKind::latin_hypercube,
                  .dimension = 7,
                  .points = points,
                  .keys = some_keys(3)};
    const std::vector<double> x = make(queue(), in);
    for (std::int64_t row = 0; row < 21; ++row) {
      std::vector<int> slices(idx(points));
      for (std::int64_t i = 0; i < points; ++i) {
        ++slices.at(
            static_cast<std::size_t>(x[idx(row * points + i)] * static_cast<double>(points)));
      }
      ASSERT_EQ(slices, std::vector<int>(idx(points), 1)) << points << ", " << row;
    }
  }
}

TEST_P(SpaceFillingPointsKernel, DrawsPermutationsOfAFewSlicesUniformly) {
  const Sets in{
      .kind = PointsKind::latin_hypercube, .dimension = 4, .points = 4, .keys = some_keys(6000)};
  const std::vector<double> x = make(queue(), in);
  std::map<int, std::int64_t> seen;
  for (std::size_t row = 0; row < 24000; ++row) {
    int order = 0;
    for (std::size_t i = 0; i < 4; ++i) order = 4 * order + static_cast<int>(4 * x[4 * row + i]);
    ++seen[order];
  }
  ASSERT_EQ(seen.size(), 24u);
  std::vector<std::int64_t> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  EXPECT_GT(chi_square_test(counts, std::vector<double>(24, 1.0 / 24)).p, false_alarm);
}

TEST_P(SpaceFillingPointsKernel, DrawsPairsOfManySlicesUniformly) {
  // Of 80 slices, where points 0 and 1 of a row are: which fifth of the axis each.
  const Sets in{
      .kind = PointsKind::latin_hypercube, .dimension = 10, .points = 80, .keys = some_keys(1000)};
  const std::vector<double> x = make(queue(), in);
  std::vector<std::int64_t> counts(25);
  std::vector<double> probabilities;
  for (std::size_t row = 0; row < 10000; ++row) {
    const double* at = x.data() + 80 * row;
    ++counts[static_cast<std::size_t>(5 * at[0]) * 5 + static_cast<std::size_t>(5 * at[1])];
  }
  for (int i = 0; i < 25; ++i) {
    probabilities.push_back((i / 5 == i % 5 ? 16.0 * 15 : 16.0 * 16) / (80 * 79));
  }
  EXPECT_GT(chi_square_test(counts, probabilities).p, false_alarm);
}

TEST_P(SpaceFillingPointsKernel, MakesEachPointUniform) {
  // The first point of many sets; a scramble without a shift would leave it at 0.
  for (const PointsKind kind : all_kinds) {
    const Sets in{.kind = kind, .dimension = 1, .points = 3, .keys = some_keys(20000)};
    const std::vector<double> x = make(queue(), in);
    for (std::size_t point = 0; point < 3; ++point) {
      std::vector<std::int64_t> counts(20);
      for (std::size_t set = 0; set < 20000; ++set) {
        ++counts[static_cast<std::size_t>(20 * x[3 * set + point])];
      }
      EXPECT_GT(chi_square_test(counts, std::vector<double>(20, 0.05)).p, false_alarm)
          << int(kind) << ", " << point;
    }
  }
}

// The mean of prod (1 + (x_k - 1/2) / 2), of which the integral is 1, minus that.
std::vector<double> errors(const Sets& in, const std::vector<double>& x) {
  std::vector<double> all;
  for (std::int64_t set = 0; set < std::ssize(in.keys); ++set) {
    double sum = 0;
    for (std::int64_t i = 0; i < in.points; ++i) {
      double product = 1;
      for (std::int64_t k = 0; k < in.dimension; ++k) {
        product *= 1 + (x[in.at(set, k, i)] - 0.5) / 2;
      }
      sum += product;
    }
    all.push_back(sum / static_cast<double>(in.points) - 1);
  }
  return all;
}

double root_mean_square(const std::vector<double>& all) {
  double sum = 0;
  for (const double x : all) sum += x * x;
  return std::sqrt(sum / static_cast<double>(all.size()));
}

TEST_P(SpaceFillingPointsKernel, IntegratesSmoothFunctionsWellAndWithoutBias) {
  std::map<PointsKind, double> size;
  for (const PointsKind kind : all_kinds) {
    const Sets in{.kind = kind, .dimension = 6, .points = 1024, .keys = some_keys(64)};
    const std::vector<double> all = errors(in, make(queue(), in));
    double sum = 0;
    for (const double e : all) sum += e;
    size[kind] = root_mean_square(all);
    EXPECT_LT(std::abs(sum / 64), 4 * size[kind] / 8) << int(kind);
  }
  // Monte Carlo: sqrt(((1 + 1/48)^6 - 1) / 1024) = 0.0114.
  EXPECT_NEAR(size[PointsKind::uniform], 0.0114, 0.004);
  EXPECT_LT(size[PointsKind::latin_hypercube], 0.3 * size[PointsKind::uniform]);
  EXPECT_LT(size[PointsKind::sobol], 0.02 * size[PointsKind::uniform]);
}

TEST_P(SpaceFillingPointsKernel, GivesEverySetItsOwnPoints) {
  for (const PointsKind kind : all_kinds) {
    for (const std::int64_t points : {50, 100}) {
      const Sets in{.kind = kind, .dimension = 3, .points = points, .keys = {1, 2, 1}};
      const std::vector<double> x = make(queue(), in);
      const auto same = [&](std::int64_t set, std::int64_t k, std::int64_t other, std::int64_t l) {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < points; ++i)
          count += x[in.at(set, k, i)] == x[in.at(other, l, i)];
        return count;
      };
      EXPECT_EQ(same(0, 0, 1, 0), 0);       // another key
      EXPECT_EQ(same(0, 1, 0, 2), 0);       // another axis
      EXPECT_EQ(same(0, 2, 2, 2), points);  // the same key
    }
  }
}

TEST_P(SpaceFillingPointsKernel, GivesASetTheSameBitsAloneAndInABatch) {
  for (const PointsKind kind : all_kinds) {
    for (const std::int64_t points : {33, 300}) {
      Sets all{.kind = kind, .dimension = 5, .points = points, .keys = some_keys(100)};
      for (std::size_t set = 0; set < 100; ++set) all.first.push_back(3 * set);
      all.gap = 3;
      const std::vector<double> x = make(queue(), all);
      for (const std::int64_t set : {0, 41, 99}) {
        Sets alone = all;
        alone.keys = {all.keys[idx(set)]};
        alone.first = {all.first[idx(set)]};
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(all.at(set, 0, 0));
        const std::vector<double> part(begin, begin + 5 * (points + 3));
        EXPECT_EQ(bits_of(make(queue(), alone)), bits_of(part)) << int(kind) << ", " << set;
      }
    }
  }
}

TEST_P(SpaceFillingPointsKernel, HasTheBitsOfTheCpu) {
  for (const PointsKind kind : all_kinds) {
    for (const std::int64_t points : {0, 1, 31, 32, 33, 64, 65, 256, 257, 5000}) {
      Sets in{.kind = kind, .dimension = 21, .points = points, .keys = some_keys(4)};
      in.first = {0, 7, 4096, (1ull << 32) - 20};
      in.gap = 1;
      EXPECT_EQ(bits_of(make(queue(), in)), bits_of(make(cpu_queue(), in))) << points;
    }
  }
}

TEST_P(SpaceFillingPointsKernel, StaysInsideTheCubeBesideTheGaps) {
  for (const PointsKind kind : all_kinds) {
    Sets in{.kind = kind, .dimension = 3, .points = 4000, .keys = some_keys(2), .gap = 2};
    const std::vector<double> x = make(queue(), in);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % 4002 >= 4000) {
        ASSERT_EQ(x[i], 4711);
      } else {
        ASSERT_TRUE(x[i] > 0 && x[i] < 1) << x[i];
      }
    }
  }
}

TEST_P(SpaceFillingPointsKernel, MakesOtherPointsInEachStepIfAskedTo) {
  for (const PointsKind kind : all_kinds) {
    Sets in{.kind = kind, .points = 40};
    RunControl later;
    later.step = 9;
    EXPECT_EQ(make(queue(), in), make(queue(), in, later));
    in.by_step = true;
    EXPECT_NE(make(queue(), in), make(queue(), in, later));
  }
}

TEST_P(SpaceFillingPointsKernel, RefusesASequenceWithoutDirections) {
  SpaceFillingPoints kernel;
  kernel.points = 1;
  EXPECT_THROW(queue().launch(kernel), InvalidArgument);
}

TEST_P(SpaceFillingPointsKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  for (const PointsKind kind : all_kinds) {
    EXPECT_EQ(make(queue(), {.kind = kind, .points = 3}, stopped), std::vector<double>(6, 4711));
  }
}

}  // namespace
}  // namespace kiln::test::space_filling_points_test
