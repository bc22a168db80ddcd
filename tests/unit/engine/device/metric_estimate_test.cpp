// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/metric_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kiln/device/symmetric_eigen.hpp"

#include "backends/backends.hpp"

namespace kiln::metric_estimate_test {
namespace {

using test::idx;

std::vector<double> random_symmetric(int n, std::uint64_t seed) {
  test::TestRandom random(seed);
  std::vector<double> a(idx(n * n));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) a[idx(i * n + j)] = a[idx(j * n + i)] = random.unit() - 0.5;
  }
  return a;
}

TEST(SymmetricEigen, GivesTheMatrixBackWithOrthonormalVectors) {
  for (const int n : {1, 2, 3, 17, 40}) {
    const std::vector<double> a = random_symmetric(n, static_cast<std::uint64_t>(n));
    std::vector<double> work = a, values(idx(n)), vectors(idx(n * n)), back(idx(n * n)),
                        product(idx(n * n));
    dense::symmetric_eigen(SingleTeam{}, n, work.data(), values.data(), vectors.data());
    dense::from_spectrum(
        SingleTeam{}, n, values.data(), vectors.data(), [](double x) { return x; }, back.data());
    dense::from_spectrum(
        SingleTeam{}, n, values.data(), vectors.data(), [](double) { return 1.0; }, product.data());
    for (int e = 0; e < n * n; ++e) {
      EXPECT_NEAR(back[idx(e)], a[idx(e)], 1e-13 * n) << n;
      EXPECT_NEAR(product[idx(e)], e / n == e % n ? 1.0 : 0.0, 1e-13 * n) << n;
    }
  }
}

// Moments of a normal law with precision matrix P: Cov(x) = P^-1, and gradients P x have Cov = P.
struct Moments {
  Moments(int n, const std::vector<double>& covariance, const std::vector<double>& precision,
          double count)
      : d(n), sum(idx(n), 0.0), centre(idx(n), 0.0) {
    for (const double c : covariance) square[0].push_back(count * c);
    for (const double p : precision) square[1].push_back(count * p);
    view.dimension = n;
    view.cross = true;
    for (int which = 0; which < 2; ++which) {
      view.centre[which] = {centre.data(), n};
      view.sum[which] = {sum.data(), n};
      view.square[which] = {square[which].data(), n * n};
    }
  }
  int d;
  std::vector<double> sum, centre, square[2];
  PoolMoments view;
};

struct Store {
  Store(int d, int rank)
      : scale(idx(d), 1.0),
        factor(idx(d * rank)),
        stretch(idx(rank)),
        used(1),
        memory(idx(dense_scratch(d))) {
    view = {d,
            rank,
            {scale.data(), d},
            {factor.data(), d * rank},
            {stretch.data(), rank},
            {used.data(), 1}};
  }
  /// S S^T of the metric.
  std::vector<double> inverse_mass() const {
    const Metric metric = view.view().of_pool(0);
    const int d = view.dimension;
    std::vector<double> root(idx(d * d)), product(idx(d * d));
    for (int j = 0; j < d; ++j) {
      std::vector<double> unit(idx(d), 0.0), out(idx(d));
      unit[idx(j)] = 1;
      metric.apply(SingleTeam{}, d, unit.data(), out.data());
      for (int i = 0; i < d; ++i) root[idx(i * d + j)] = out[idx(i)];
    }
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        for (int k = 0; k < d; ++k) {
          product[idx(i * d + j)] += root[idx(i * d + k)] * root[idx(j * d + k)];
        }
      }
    }
    return product;
  }
  std::vector<double> scale, factor, stretch;
  std::vector<std::int32_t> used;
  std::vector<double> memory;
  MetricStore view;
};

// Three dimensions of spreads 1, 10 and 0.1, the first two with correlation 0.95.
const std::vector<double> covariance = {1, 9.5, 0, 9.5, 100, 0, 0, 0, 0.01};
const double rest = 1 - 0.95 * 0.95;
const std::vector<double> precision = {
    1 / rest, -0.095 / rest, 0, -0.095 / rest, 0.01 / rest, 0, 0, 0, 100};

TEST(MetricEstimate, IsTheCovarianceOfANormalLaw) {
  const Moments moments(3, covariance, precision, 1e9);
  Store store(3, 3);
  estimate_metric(SingleTeam{}, 0, moments.view, 1e9, 0.0, store.view, store.memory.data());
  EXPECT_EQ(store.used[0], 3);
  const std::vector<double> mass = store.inverse_mass();
  for (int e = 0; e < 9; ++e) {
    EXPECT_NEAR(mass[idx(e)], covariance[idx(e)], 1e-6 * std::max(1.0, covariance[idx(e)])) << e;
  }
}

TEST(MetricEstimate, KeepsOnlyTheDirectionsThatMatter) {
  const Moments moments(3, covariance, precision, 1e9);
  Store store(3, 3);
  estimate_metric(SingleTeam{}, 0, moments.view, 1e9, 1.0, store.view, store.memory.data());
  EXPECT_EQ(store.used[0], 2) << "the sum and the difference of the first two";
  Store narrow(3, 1);
  estimate_metric(SingleTeam{}, 0, moments.view, 1e9, 1.0, narrow.view, narrow.memory.data());
  EXPECT_EQ(narrow.used[0], 1);
}

TEST(MetricEstimate, LeavesCorrelationsOutWithFewObservations) {
  const Moments moments(3, covariance, precision, 5);
  Store store(3, 3);
  estimate_metric(SingleTeam{}, 0, moments.view, 5, 0.0, store.view, store.memory.data());
  EXPECT_EQ(store.used[0], 0);
  EXPECT_GT(store.scale[1], 5 * store.scale[0]);
}

TEST(MetricEstimate, KeepsTheScaleOfACoordinateThatDoesNotMove) {
  std::vector<double> still = covariance, flat = precision;
  still[8] = 0;
  flat[8] = 0;
  const Moments moments(3, still, flat, 1e6);
  Store store(3, 0);
  store.scale[2] = 7;
  estimate_metric(SingleTeam{}, 0, moments.view, 1e6, 0.0, store.view, store.memory.data());
  EXPECT_EQ(store.scale[2], 7);
}

}  // namespace
}  // namespace kiln::metric_estimate_test
