// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/gp_covariance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Elementary functions of the device.
KILN_CONFORMANCE_CASE(GpCovariance, reordered)

namespace kiln::test::gp_covariance_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr CovarianceKind all_kinds[] = {
    CovarianceKind::squared_exponential, CovarianceKind::matern12, CovarianceKind::matern32,
    CovarianceKind::matern52, CovarianceKind::rational_quadratic};

struct Points {
  std::int64_t sets = 1, points = 0;
  std::vector<double> x;  ///< [sets][dimension][points]
  std::vector<std::int32_t> counts;
};

struct Prior {
  CovarianceKind kind = CovarianceKind::matern52;
  std::int64_t dimension = 1, items = 1, items_per_set = 1;
  Points rows, columns;  ///< columns without sets: the symmetric form
  std::vector<double> variance, length, alpha, noise;
  std::vector<std::uint8_t> categorical;
  std::vector<double> logarithms;  ///< [items][parameters], of the same; empty: the others are read
  std::int64_t gap = 0;            ///< values between the rows of a matrix

  bool symmetric() const { return columns.points == 0; }
  std::int64_t width() const { return symmetric() ? rows.points : columns.points; }
};

std::vector<double> covariances(Queue& queue, const Prior& in, const RunControl& state = {}) {
  const DeviceArray<double> x(queue, in.rows.x), y(queue, in.columns.x);
  const DeviceArray<std::int32_t> x_counts(queue, in.rows.counts),
      y_counts(queue, in.columns.counts);
  const DeviceArray<double> variance(queue, in.variance), length(queue, in.length);
  const DeviceArray<double> alpha(queue, in.alpha), noise(queue, in.noise);
  const DeviceArray<double> logarithms(queue, in.logarithms);
  const DeviceArray<std::uint8_t> categorical(queue, in.categorical);
  const std::int64_t n = in.rows.points, stride = in.width() + in.gap;
  DeviceArray<double> matrix(queue, std::vector<double>(idx(in.items * n * stride), 4711));
  const auto control = upload_control(queue, state);
  GpCovariance kernel;
  kernel.kind = in.kind;
  kernel.dimension = in.dimension;
  kernel.items_per_set = in.items_per_set;
  kernel.points = {x.data(), n, n, in.dimension * n, x_counts.view()};
  if (!in.symmetric()) {
    kernel.other = {y.data(), in.width(), in.width(), in.dimension * in.width(), y_counts.view()};
  }
  kernel.axes.categorical = categorical.view();
  kernel.parameters.variance = variance.view();
  kernel.parameters.length = {length.data(), length.size() / in.items, in.items, in.items};
  kernel.parameters.alpha = alpha.view();
  kernel.parameters.noise = noise.view();
  if (!in.logarithms.empty()) {
    const auto lengths = static_cast<std::int64_t>(in.length.size()) / in.items;
    const std::int64_t size = HyperLayout::size(lengths, in.kind);
    kernel.parameters = {};
    kernel.parameters.logarithms = {logarithms.data(), in.items, size, size};
    kernel.parameters.layout.lengths = lengths;
  }
  kernel.matrix = {matrix.data(), in.items, n, in.width(), stride, n * stride};
  kernel.control = control.data();
  queue.launch(kernel);
  return matrix.download();
}

// The formulas as they are in the literature.
double textbook(CovarianceKind kind, double r, double alpha) {
  switch (kind) {
    case CovarianceKind::squared_exponential:
      return std::exp(-r * r / 2);
    case CovarianceKind::matern12:
      return std::exp(-r);
    case CovarianceKind::matern32:
      return (1 + std::sqrt(3.0) * r) * std::exp(-std::sqrt(3.0) * r);
    case CovarianceKind::matern52:
      return (1 + std::sqrt(5.0) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5.0) * r);
    case CovarianceKind::rational_quadratic:
      return std::pow(1 + r * r / (2 * alpha), -alpha);
  }
  return nan;
}

double expected(const Prior& in, std::int64_t item, std::int64_t i, std::int64_t j) {
  const Points& columns = in.symmetric() ? in.rows : in.columns;
  const std::int64_t set = item / in.items_per_set;
  const auto missing = [&](const Points& points, std::int64_t p) {
    return !points.counts.empty() && p >= points.counts[idx(set)];
  };
  if (missing(in.rows, i) || missing(columns, j)) return in.symmetric() && i == j ? 1 : 0;
  double square = 0;
  for (std::int64_t k = 0; k < in.dimension; ++k) {
    const bool one = in.length.size() == idx(in.items);
    const double l = in.length[idx((one ? 0 : k * in.items) + item)];
    double d = in.rows.x[idx((set * in.dimension + k) * in.rows.points + i)] -
               columns.x[idx((set * in.dimension + k) * columns.points + j)];
    if (!in.categorical.empty() && in.categorical[idx(k)] != 0) d = d == 0 ? 0 : 1;
    square += d * d / (l * l);
  }
  const double alpha = in.alpha.empty() ? 1 : in.alpha[idx(item)];
  const double noise = in.symmetric() && i == j && !in.noise.empty() ? in.noise[idx(item)] : 0;
  return in.variance[idx(item)] * textbook(in.kind, std::sqrt(square), alpha) + noise;
}

void expect_textbook(const Prior& in, const std::vector<double>& matrix) {
  const std::int64_t stride = in.width() + in.gap;
  for (std::int64_t item = 0; item < in.items; ++item) {
    for (std::int64_t i = 0; i < in.rows.points; ++i) {
      for (std::int64_t j = 0; j < stride; ++j) {
        const double value = matrix[idx((item * in.rows.points + i) * stride + j)];
        const double wanted = j < in.width() ? expected(in, item, i, j) : 4711;
        ASSERT_NEAR(value, wanted, double_tolerance * (1 + wanted))
            << item << ", " << i << ", " << j;
      }
    }
  }
}

std::vector<double> uniform(std::int64_t count, double low, double high, std::uint64_t seed) {
  TestRandom random(seed);
  std::vector<double> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(low + (high - low) * random.unit());
  return all;
}

Points make_points(std::int64_t sets, std::int64_t dimension, std::int64_t points,
                   std::uint64_t seed) {
  return {sets, points, uniform(sets * dimension * points, 0, 1, seed), {}};
}

Prior make_prior(CovarianceKind kind, std::int64_t dimension, std::int64_t points,
                 std::int64_t items = 1, bool isotropic = false) {
  Prior in;
  in.kind = kind;
  in.dimension = dimension;
  in.items = items;
  in.rows = make_points(items, dimension, points, 1);
  in.variance = uniform(items, 0.5, 3, 2);
  in.length = uniform(items * (isotropic ? 1 : dimension), 0.2, 2, 3);
  in.alpha = uniform(items, 0.3, 4, 4);
  in.noise = uniform(items, 1e-6, 0.1, 5);
  return in;
}

class GpCovarianceKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(GpCovarianceKernel);

TEST_P(GpCovarianceKernel, HasTheValuesOfTheFormulas) {
  // v = 2, l = 0.5, alpha = 1.5, at distances 0, 0.5, 1 and 2.
  Prior in;
  in.rows = {1, 1, {0}, {}};
  in.columns = {1, 4, {0, 0.5, -1, 2}, {}};
  in.variance = {2};
  in.length = {0.5};
  in.alpha = {1.5};
  in.noise = {7};  // not for points that are others
  const std::vector<std::pair<CovarianceKind, std::vector<double>>> table{
      {CovarianceKind::squared_exponential,
       {2, 1.2130613194252668, 0.2706705664732254, 0.0006709252558050237}},
      {CovarianceKind::matern12, {2, 0.7357588823428847, 0.2706705664732254, 0.03663127777746836}},
      {CovarianceKind::matern52,
       {2, 1.0479882176636406, 0.27732043827700853, 0.009554169093396986}},
      {CovarianceKind::rational_quadratic,
       {2, 1.299038105676658, 0.5611317177496948, 0.1254820127745831}}};
  for (const auto& [kind, values] : table) {
    in.kind = kind;
    const std::vector<double> matrix = covariances(queue(), in);
    EXPECT_EQ(matrix[0], 2);
    for (std::size_t j = 1; j < 4; ++j) EXPECT_NEAR(matrix[j], values[j], 1e-14) << int(kind);
  }
}

TEST_P(GpCovarianceKernel, MatchesTheFormulasForEveryShape) {
  for (const CovarianceKind kind : all_kinds) {
    for (const std::int64_t points : {1, 31, 32, 33, 70}) {
      for (const std::int64_t dimension : {1, 2, 16, 17}) {
        SCOPED_TRACE(std::to_string(int(kind)) + ": " + std::to_string(points) + " points in " +
                     std::to_string(dimension));
        Prior in = make_prior(kind, dimension, points, 3, points == 70);
        expect_textbook(in, covariances(queue(), in));
        in.gap = 3;
        in.noise.clear();
        expect_textbook(in, covariances(queue(), in));
        in.columns = make_points(3, dimension, 45, 9);
        expect_textbook(in, covariances(queue(), in));
      }
    }
  }
}

TEST_P(GpCovarianceKernel, IsItsOwnTransposeWithTheNoiseOnTheDiagonal) {
  for (const CovarianceKind kind : all_kinds) {
    const std::int64_t n = 101;
    const Prior in = make_prior(kind, 5, n);
    const std::vector<double> matrix = covariances(queue(), in);
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(matrix[idx(i * n + i)], in.variance[0] + in.noise[0]);
      for (std::int64_t j = 0; j < i; ++j) {
        ASSERT_EQ(matrix[idx(i * n + j)], matrix[idx(j * n + i)]) << i << ", " << j;
      }
    }
  }
}

TEST_P(GpCovarianceKernel, KeepsTheDigitsOfClosePointsFarFromTheOrigin) {
  Prior in = make_prior(CovarianceKind::squared_exponential, 10, 2);
  in.length.assign(10, 0.0625);
  for (std::size_t k = 0; k < 10; ++k) {
    in.rows.x[2 * k] = 1e6;
    in.rows.x[2 * k + 1] = 1e6 + 0x1p-10;
  }
  const double r2 = 10 * 0x1p-12;
  EXPECT_NEAR(covariances(queue(), in)[1], in.variance[0] * std::exp(-r2 / 2), 1e-14);
}

TEST_P(GpCovarianceKernel, TakesOneLengthForAllAxesLikeEqualOnes) {
  for (const CovarianceKind kind : all_kinds) {
    Prior one = make_prior(kind, 4, 40, 2, true), each = one;
    each.length.clear();
    for (int k = 0; k < 4; ++k)
      each.length.insert(each.length.end(), one.length.begin(), one.length.end());
    EXPECT_EQ(bits_of(covariances(queue(), one)), bits_of(covariances(queue(), each)));
  }
}

// What a fit moves: the same hyper-parameters as logarithms, an item after another.
void take_logarithms(Prior& in) {
  const std::size_t items = idx(in.items), lengths = in.length.size() / items;
  for (std::size_t item = 0; item < items; ++item) {
    for (std::size_t k = 0; k < lengths; ++k) {
      in.logarithms.push_back(std::log(in.length[k * items + item]));
    }
    in.logarithms.push_back(std::log(in.variance[item]));
    in.logarithms.push_back(std::log(in.noise[item]));
    if (in.kind == CovarianceKind::rational_quadratic) {
      in.logarithms.push_back(std::log(in.alpha[item]));
    }
  }
}

TEST_P(GpCovarianceKernel, TakesLogarithmsOfHyperparameters) {
  for (const CovarianceKind kind : all_kinds) {
    for (const bool isotropic : {false, true}) {
      Prior in = make_prior(kind, 5, 40, 4, isotropic);
      in.items_per_set = 2;
      take_logarithms(in);
      expect_textbook(in, covariances(queue(), in));
      in.columns = make_points(2, 5, 33, 9);
      expect_textbook(in, covariances(queue(), in));
    }
  }
  Prior in = make_prior(CovarianceKind::matern52, 2, 10, 2);
  take_logarithms(in);
  in.logarithms[1] = nan;  // of item 0
  const std::vector<double> matrix = covariances(queue(), in);
  for (std::size_t at = 0; at < 200; ++at) EXPECT_EQ(std::isnan(matrix[at]), at < 100);
}

TEST_P(GpCovarianceKernel, TakesCategoriesAsNames) {
  for (const CovarianceKind kind : all_kinds) {
    for (const std::int64_t dimension : {2, 17}) {  // 17: more than go through memory at once
      Prior in = make_prior(kind, dimension, 45, 2);
      in.columns = make_points(2, dimension, 33, 9);
      in.categorical.assign(idx(dimension), 1);
      in.categorical[0] = 0;
      for (Points* points : {&in.rows, &in.columns}) {
        for (std::size_t i = 0; i < points->x.size(); ++i) {
          const bool named = i / idx(points->points) % idx(dimension) != 0;
          if (named) points->x[i] = 1000 * std::floor(3 * points->x[i]);
        }
      }
      expect_textbook(in, covariances(queue(), in));
      in.columns = {};
      expect_textbook(in, covariances(queue(), in));
      take_logarithms(in);
      expect_textbook(in, covariances(queue(), in));
    }
  }
}

TEST_P(GpCovarianceKernel, GivesAnItemTheSameBitsAloneAndInABatch) {
  Prior all = make_prior(CovarianceKind::matern52, 3, 50, 300);
  all.items_per_set = 30;
  all.rows = make_points(10, 3, 50, 8);
  const std::vector<double> matrices = covariances(queue(), all);
  for (const std::int64_t item : {0, 29, 30, 299}) {
    Prior alone = all;
    alone.items = alone.items_per_set = 1;
    const auto begin = all.rows.x.begin() + item / 30 * 150;
    alone.rows = {1, 50, {begin, begin + 150}, {}};
    alone.variance = {all.variance[idx(item)]};
    alone.noise = {all.noise[idx(item)]};
    alone.length = {all.length[idx(item)], all.length[idx(300 + item)],
                    all.length[idx(600 + item)]};
    const auto first = matrices.begin() + item * 2500;
    EXPECT_EQ(bits_of(covariances(queue(), alone)), bits_of({first, first + 2500}));
  }
}

TEST_P(GpCovarianceKernel, LeavesOutPointsThatAreNotThere) {
  Prior in = make_prior(CovarianceKind::matern32, 2, 40, 4);
  in.items_per_set = 2;
  in.rows.counts = {33, 0};
  for (std::size_t k = 0; k < 2; ++k) in.rows.x[k * 40 + 35] = nan;
  expect_textbook(in, covariances(queue(), in));
  in.columns = make_points(2, 2, 10, 9);
  in.columns.counts = {7, 10};
  expect_textbook(in, covariances(queue(), in));
}

TEST_P(GpCovarianceKernel, KnowsTheLimits) {
  for (const CovarianceKind kind : all_kinds) {
    Prior in = make_prior(kind, 1, 4);
    in.variance = {3};
    in.noise.clear();
    in.length = {1e-3};
    in.alpha = {1e3};
    in.rows.x = {0.5, 0.5, 1e300, -1e300};
    const std::vector<double> matrix = covariances(queue(), in);
    EXPECT_EQ(matrix[1], 3) << int(kind);  // the same point
    EXPECT_EQ(matrix[2], 0) << int(kind);  // not a subnormal number, and no NaN
    EXPECT_EQ(matrix[11], 0) << int(kind);
    in.dimension = 0;
    in.rows.x.clear();
    EXPECT_EQ(covariances(queue(), in), std::vector<double>(16, 3));
  }
}

TEST_P(GpCovarianceKernel, NearsTheSquaredExponentialForALargeAlpha) {
  Prior in = make_prior(CovarianceKind::squared_exponential, 3, 30);
  const std::vector<double> limit = covariances(queue(), in);
  in.kind = CovarianceKind::rational_quadratic;
  in.alpha = {1e8};
  const std::vector<double> matrix = covariances(queue(), in);
  for (std::size_t i = 0; i < limit.size(); ++i) EXPECT_NEAR(matrix[i], limit[i], 1e-7);
}

TEST_P(GpCovarianceKernel, SpreadsNanFromPointsAndParametersAndNoFarther) {
  Prior in = make_prior(CovarianceKind::rational_quadratic, 2, 40, 6);
  in.rows.x[40 + 7] = nan;  // item 0
  in.variance[1] = -1;
  in.length[6 + 2] = 0;  // of the second axis
  in.length[3] = nan;
  in.alpha[4] = 0;
  const std::vector<double> matrix = covariances(queue(), in);
  for (std::size_t at = 0; at < matrix.size(); ++at) {
    const std::size_t item = at / 1600, i = at / 40 % 40, j = at % 40;
    const bool bad = item == 0 ? i == 7 || j == 7 : item < 5;
    ASSERT_EQ(std::isnan(matrix[at]), bad) << item << ", " << i << ", " << j;
  }
}

TEST_P(GpCovarianceKernel, AgreesWithTheCpuOnManyPoints) {
  for (const CovarianceKind kind : all_kinds) {
    const Prior in = make_prior(kind, 10, 1000);
    const std::vector<double> here = covariances(queue(), in), there = covariances(cpu_queue(), in);
    for (std::size_t i = 0; i < here.size(); ++i) {
      ASSERT_NEAR(here[i], there[i], double_tolerance * in.variance[0]) << i;
    }
    EXPECT_EQ(bits_of(here), bits_of(covariances(queue(), in)));
  }
}

TEST_P(GpCovarianceKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Prior in = make_prior(CovarianceKind::matern12, 2, 3);
  EXPECT_EQ(covariances(queue(), in, stopped), std::vector<double>(9, 4711));
}

}  // namespace
}  // namespace kiln::test::gp_covariance_test
