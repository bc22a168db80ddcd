// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/ar_forecast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Both backends compile the same body, in exact arithmetic and one order of sums.
KILN_CONFORMANCE_CASE(ArForecast, exact)

namespace kiln::test::ar_forecast_test {
namespace {

struct Inputs {
  std::int64_t series = 1, order = 1, horizon = 3;
  std::vector<double> last, coefficients, noise;  // as in the kernel
};

struct Outputs {
  std::vector<double> mean, variance, psi;
};

Outputs run(Queue& queue, const Inputs& in) {
  DeviceArray<double> last(queue, in.last), coefficients(queue, in.coefficients),
      noise(queue, in.noise);
  const std::int64_t size = in.horizon * in.series;
  const std::vector<double> unset(idx(size), -7.0);
  DeviceArray<double> mean(queue, unset), variance(queue, unset), psi(queue, unset);
  ArForecast kernel;
  kernel.last = {last.data(), in.order, in.series, in.series};
  kernel.coefficients = {coefficients.data(), in.order + 1, in.series, in.series};
  kernel.noise_variance = noise.view();
  kernel.mean = {mean.data(), in.horizon, in.series, in.series};
  kernel.variance = {variance.data(), in.horizon, in.series, in.series};
  kernel.psi = {psi.data(), in.horizon, in.series, in.series};
  queue.launch(kernel);
  return {mean.download(), variance.download(), psi.download()};
}

Inputs random_inputs(std::int64_t series, std::int64_t order, std::int64_t horizon) {
  TestRandom random(static_cast<std::uint64_t>(series * 1000 + order));
  Inputs in{series, order, horizon, {}, {}, {}};
  const auto draw = [&](std::int64_t n, double scale) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(scale * (2 * random.unit() - 1));
    return values;
  };
  in.last = draw(order * series, 5);
  in.coefficients = draw((order + 1) * series, 0.8 / static_cast<double>(order + 1));
  in.noise = draw(series, 1);
  for (double& x : in.noise) x = std::abs(x);
  return in;
}

class ArForecastKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ArForecastKernel);

TEST_P(ArForecastKernel, HasTheClosedFormOfOrderOne) {
  const double a = 0.5, c = 2, x = 7, s2 = 3;
  const Inputs in{1, 1, 40, {x}, {c, a}, {s2}};
  const Outputs out = run(queue(), in);
  EXPECT_DOUBLE_EQ(out.variance[2], 1.3125 * s2);
  for (int h = 1; h <= 40; ++h) {
    const double power = std::pow(a, h);
    EXPECT_NEAR(out.mean[idx(h - 1)], c * (1 - power) / (1 - a) + power * x, 1e-13) << h;
    EXPECT_NEAR(out.variance[idx(h - 1)], s2 * (1 - power * power) / (1 - a * a), 1e-13) << h;
    EXPECT_NEAR(out.psi[idx(h - 1)], std::pow(a, h - 1), 1e-15) << h;
  }
}

// Roots r and s of the characteristic equation: psi_j = (r^(j + 1) - s^(j + 1)) / (r - s).
TEST_P(ArForecastKernel, HasTheWeightsOfOrderTwo) {
  const double r = 0.9, s = -0.6;
  const Inputs in{1, 2, 30, {1.5, -2.5}, {0, r + s, -r * s}, {1}};
  const Outputs out = run(queue(), in);
  EXPECT_DOUBLE_EQ(out.mean[0], (r + s) * 1.5 - r * s * -2.5);
  double squares = 0;
  for (int j = 0; j < 30; ++j) {
    const double psi = (std::pow(r, j + 1) - std::pow(s, j + 1)) / (r - s);
    squares += psi * psi;
    EXPECT_NEAR(out.psi[idx(j)], psi, 1e-14) << j;
    EXPECT_NEAR(out.variance[idx(j)], squares, 1e-13) << j;
  }
}

// The forecast is the series itself without noise.
TEST_P(ArForecastKernel, ContinuesEachSeriesOfABatch) {
  const Inputs in = random_inputs(33, 5, 12);
  const Outputs out = run(queue(), in);
  for (std::int64_t s = 0; s < in.series; ++s) {
    std::vector<double> x;
    for (std::int64_t i = 4; i >= 0; --i) x.push_back(in.last[idx(i * in.series + s)]);
    for (std::int64_t h = 0; h < in.horizon; ++h) {
      double next = in.coefficients[idx(s)];
      for (std::int64_t i = 1; i <= 5; ++i) {
        next += in.coefficients[idx(i * in.series + s)] * x[x.size() - idx(i)];
      }
      x.push_back(next);
      EXPECT_NEAR(out.mean[idx(h * in.series + s)], next, 1e-13) << s << ", step " << h;
    }
  }
}

TEST_P(ArForecastKernel, OfOrderZeroIsItsConstant) {
  const Outputs out = run(queue(), {2, 0, 2, {}, {4, -5}, {1, 9}});
  EXPECT_EQ(out.mean, (std::vector<double>{4, -5, 4, -5}));
  EXPECT_EQ(out.variance, (std::vector<double>{1, 9, 1, 9}));
}

TEST_P(ArForecastKernel, MatchesCpu) {
  for (const std::int64_t series : {0, 1, 31, 32, 33, 255, 256, 257, 1000, 1025, 65537}) {
    for (const std::int64_t order : {1, 7}) {
      const Inputs in = random_inputs(series, order, series > 2000 ? 3 : 20);
      const Outputs here = run(queue(), in), there = run(cpu_queue(), in);
      EXPECT_EQ(bits_of(here.mean), bits_of(there.mean)) << series;
      EXPECT_EQ(bits_of(here.variance), bits_of(there.variance)) << series;
      EXPECT_EQ(bits_of(here.psi), bits_of(there.psi)) << series;
      EXPECT_EQ(std::ranges::count(here.mean, -7.0), 0) << series;
    }
  }
}

}  // namespace
}  // namespace kiln::test::ar_forecast_test
