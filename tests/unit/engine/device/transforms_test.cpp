// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/transforms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "backends/backends.hpp"

namespace kiln::test::transforms_test {
namespace {

const std::vector<Transform> transforms = {
    {TransformKind::real, 3},    {TransformKind::positive, 3}, {TransformKind::interval, 2, -1, 4},
    {TransformKind::ordered, 1}, {TransformKind::ordered, 4},  {TransformKind::simplex, 2},
    {TransformKind::simplex, 5},
};
std::string name_of(const Transform& t) {
  return "kind " + std::to_string(static_cast<int>(t.kind)) + " of " + std::to_string(t.size);
}

struct Image {
  std::vector<double> y;
  double log_jacobian = 0;
};
Image image(const Transform& t, const std::vector<double>& x) {
  Image image{std::vector<double>(idx(t.size)), 0};
  image.log_jacobian = t.constrain(x.data(), image.y.data());
  return image;
}
std::vector<double> point_of(const Transform& t, std::uint64_t seed, double spread) {
  TestRandom random(seed);
  std::vector<double> x(idx(t.free()));
  for (double& v : x) v = spread * (2 * random.unit() - 1);
  return x;
}

double difference(const auto& f, std::vector<double> x, std::size_t i) {
  const double h = 1e-3, at = x[i];
  const auto value = [&](double to) {
    x[i] = to;
    return f(x);
  };
  const auto slope = [&](double step) {
    return (value(at + step) - value(at - step)) / (2 * step);
  };
  return (4 * slope(h / 2) - slope(h)) / 3;
}

/// log |det| of an n x n matrix [row][column], by elimination with pivots.
double log_determinant(std::vector<double> a, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k; r < n; ++r) {
      if (std::abs(a[r * n + k]) > std::abs(a[pivot * n + k])) pivot = r;
    }
    for (std::size_t c = 0; c < n; ++c) std::swap(a[k * n + c], a[pivot * n + c]);
    sum += std::log(std::abs(a[k * n + k]));
    for (std::size_t r = k + 1; r < n; ++r) {
      const double share = a[r * n + k] / a[k * n + k];
      for (std::size_t c = k; c < n; ++c) a[r * n + c] -= share * a[k * n + c];
    }
  }
  return sum;
}

TEST(Transforms, GiveValuesThatKeepTheirConstraints) {
  for (const Transform& t : transforms) {
    for (const double spread : {0.1, 2.0, 30.0}) {
      SCOPED_TRACE(name_of(t) + ", " + std::to_string(spread));
      const std::vector<double> y = image(t, point_of(t, 3, spread)).y;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const bool positive = t.kind == TransformKind::positive || t.kind == TransformKind::simplex;
        const bool inside =
            t.kind != TransformKind::interval || (y[i] >= t.lower && y[i] <= t.upper);
        const bool rising = t.kind != TransformKind::ordered || i == 0 || y[i] >= y[i - 1];
        EXPECT_TRUE((!positive || y[i] > 0) && inside && rising) << i << ": " << y[i];
      }
      if (t.kind == TransformKind::simplex) {
        EXPECT_NEAR(std::accumulate(y.begin(), y.end(), 0.0), 1, 1e-14);
      }
    }
  }
}

TEST(Transforms, HaveKnownValues) {
  EXPECT_EQ(image({TransformKind::positive, 1}, {0}).y, std::vector<double>{1});
  const Image middle = image({TransformKind::interval, 1, -1, 3}, {0});
  EXPECT_DOUBLE_EQ(middle.y[0], 1);
  EXPECT_DOUBLE_EQ(middle.log_jacobian, 0);  // 4 * 1/4
  EXPECT_EQ(image({TransformKind::ordered, 3}, {5, 0, 0}).y, (std::vector<double>{5, 6, 7}));
  const Image shares = image({TransformKind::simplex, 4}, {0, 0, 0});
  for (const double y : shares.y) EXPECT_NEAR(y, 0.25, 1e-15);
}

TEST(Transforms, AreUndone) {
  for (const Transform& t : transforms) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const std::vector<double> x = point_of(t, seed, 3), y = image(t, x).y;
      std::vector<double> back(x.size());
      t.unconstrain(y.data(), back.data());
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 1e-11) << name_of(t);
    }
  }
}

TEST(Transforms, HaveTheJacobianOfTheirMap) {
  for (const Transform& t : transforms) {
    const std::vector<double> x = point_of(t, 5, 1.5);
    const std::size_t n = x.size();
    std::vector<double> jacobian(n * n);  // of all values but the last of a simplex
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column < n; ++column) {
        jacobian[row * n + column] = difference(
            [&](const std::vector<double>& at) { return image(t, at).y[row]; }, x, column);
      }
    }
    EXPECT_NEAR(image(t, x).log_jacobian, log_determinant(jacobian, n), 1e-8) << name_of(t);
  }
}

TEST(Transforms, PullGradientsBack) {
  for (const Transform& t : transforms) {
    for (const double weight : {0.0, -1.0, 2.5}) {
      SCOPED_TRACE(name_of(t) + ", weight " + std::to_string(weight));
      const std::vector<double> x = point_of(t, 7, 1.5), y = image(t, x).y;
      // f(y) = sum_i c_i sin(y_i) + weight log |det|
      std::vector<double> gy(y.size()), gx(x.size());
      for (std::size_t i = 0; i < y.size(); ++i) gy[i] = double(i + 1) * std::cos(y[i]);
      t.pull_back(x.data(), y.data(), gy.data(), weight, gx.data());
      const auto f = [&](const std::vector<double>& at) {
        const Image im = image(t, at);
        double sum = weight * im.log_jacobian;
        for (std::size_t i = 0; i < im.y.size(); ++i) sum += double(i + 1) * std::sin(im.y[i]);
        return sum;
      };
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(gx[i], difference(f, x, i), 1e-8) << i;
      }
    }
  }
}

TEST(Transforms, StayFiniteFarOut) {
  for (const Transform& t : transforms) {
    if (t.kind == TransformKind::positive || t.kind == TransformKind::ordered) continue;
    for (const double far : {-500.0, 500.0}) {
      const std::vector<double> x(idx(t.free()), far);
      const Image im = image(t, x);
      EXPECT_TRUE(std::isfinite(im.log_jacobian)) << name_of(t);
      std::vector<double> gy(im.y.size(), 1), gx(x.size());
      t.pull_back(x.data(), im.y.data(), gy.data(), 1, gx.data());
      for (const double g : gx) EXPECT_TRUE(std::isfinite(g)) << name_of(t);
    }
  }
}

}  // namespace
}  // namespace kiln::test::transforms_test
