// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Estimates of information against closed forms, over many seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "kiln/information.hpp"

#include "information/gaussian_series.hpp"

namespace kiln::information_law_test {
namespace {

using test::coupled_pair;
using test::gaussian_pair;
using test::NormalDraws;

constexpr std::int64_t rows = 2000;
constexpr int seeds = 60;

struct Moments {
  double mean = 0, deviation = 0;
};

template <class Estimate>
Moments moments_of(Estimate&& estimate) {
  double sum = 0, squares = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const double value = estimate(static_cast<std::uint64_t>(1000 + seed));
    sum += value;
    squares += value * value;
  }
  const double mean = sum / seeds;
  return {mean, std::sqrt(squares / seeds - mean * mean)};
}

// The estimators are biased by up to 0.4 deviations at 2000 rows, and the standard error of the
// mean is 0.13 deviations. A missing psi term, n_x for n_x + 1, or bits for nats move the mean by
// more.
void expect_mean(const Moments& found, double expected, double deviation) {
  EXPECT_NEAR(found.mean, expected, 0.8 * deviation);
  EXPECT_NEAR(found.deviation, deviation, 0.4 * deviation);
}

TEST(InformationLaw, GaussianPairsHaveTheirMutualInformation) {
  // Deviations of one estimate: measured over 200 other seeds.
  const std::vector<std::pair<double, double>> cases{{0.3, 0.0162}, {0.6, 0.0190}, {0.9, 0.0236}};
  for (const auto& [rho, deviation] : cases) {
    for (const std::int32_t type : {1, 2}) {
      SCOPED_TRACE(rho);
      InformationOptions options;
      options.type = type;
      const Moments found = moments_of([&](std::uint64_t seed) {
        const auto [x, y] = gaussian_pair(rows, rho, seed);
        return mutual_information(x, y, options).value;
      });
      expect_mean(found, -0.5 * std::log(1 - rho * rho), deviation);
    }
  }
}

TEST(InformationLaw, TransferEntropyIsThatOfTheCoupledPair) {
  const Moments forward = moments_of([](std::uint64_t seed) {
    const auto [x, y] = coupled_pair(rows, seed);
    return transfer_entropy(x, y).value;
  });
  expect_mean(forward, 0.13464, 0.0170);
  const Moments back = moments_of([](std::uint64_t seed) {
    const auto [x, y] = coupled_pair(rows, seed);
    return transfer_entropy(y, x).value;
  });
  expect_mean(back, 0, 0.0117);
}

TEST(InformationLaw, AChainSaysNothingBeyondItsMiddle) {
  const auto chain = [](std::uint64_t seed, bool given) {
    NormalDraws draw(seed);
    std::vector<double> x = draw.row(rows), y, z;
    for (const double v : x) {
      y.push_back(0.8 * v + 0.6 * draw());
      z.push_back(0.8 * y.back() + 0.6 * draw());
    }
    return given ? conditional_mutual_information(x, z, y).value : mutual_information(x, z).value;
  };
  expect_mean(moments_of([&](std::uint64_t seed) { return chain(seed, true); }), 0, 0.0146);
  // Without the middle: correlation 0.64.
  const Moments alone = moments_of([&](std::uint64_t seed) { return chain(seed, false); });
  EXPECT_NEAR(alone.mean, -0.5 * std::log(1 - 0.64 * 0.64), 0.01);
}

// Kolmogorov and Smirnov: 1.95 is exceeded with probability 1e-3.
double distance_from_uniform(std::vector<double> p) {
  std::ranges::sort(p);
  double distance = 0;
  const auto n = static_cast<double>(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, p[i] - rank / n, (rank + 1) / n - p[i]});
  }
  return distance * std::sqrt(n);
}

TEST(InformationLaw, PValuesAreUniformUnderIndependence) {
  std::vector<double> of_mutual, of_flow, of_dependent;
  InformationOptions options;
  options.surrogates = 60;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    NormalDraws draw(7000 + seed);
    const std::vector<double> x = draw.row(200), y = draw.row(200);
    of_mutual.push_back(mutual_information(x, y, options).p_value);
    const auto [source, target] = coupled_pair(200, 8000 + seed);
    of_flow.push_back(transfer_entropy(target, source, options).p_value);
    of_dependent.push_back(transfer_entropy(source, target, options).p_value);
  }
  EXPECT_LT(distance_from_uniform(of_mutual), 1.95);
  EXPECT_LT(distance_from_uniform(of_flow), 1.95);
  EXPECT_GT(distance_from_uniform(of_dependent), 5);
}

TEST(InformationLaw, APlantedGraphIsFound) {
  const std::set<std::pair<std::int32_t, std::int32_t>> planted{{0, 1}, {1, 2}, {0, 3}, {3, 4},
                                                                {5, 4}, {5, 6}, {6, 7}, {2, 7}};
  for (const std::uint64_t seed : {1u, 2u}) {
    NormalDraws draw(seed);
    std::vector<Series> columns(8);
    std::vector<double> now(8);
    for (std::int64_t t = -100; t < 600; ++t) {
      std::vector<double> next;
      for (const double v : now) next.push_back(0.4 * v + draw());
      for (const auto& [from, to] : planted) {
        next[static_cast<std::size_t>(to)] += 0.5 * now[static_cast<std::size_t>(from)];
      }
      now = next;
      for (std::size_t c = 0; c < 8 && t >= 0; ++c) columns[c].values.push_back(now[c]);
    }
    InformationOptions options;
    options.measure = InformationMeasure::transfer_entropy;
    options.surrogates = 50;
    options.direct = true;
    const InformationMap map =
        estimate_information(columns, {}, options, *open_backend("cpu").backend);
    std::size_t found = 0, wrong = 0;
    for (const InformationLink& link : map.links) {
      if (link.significant) ++(planted.contains({link.source, link.target}) ? found : wrong);
    }
    EXPECT_EQ(found, planted.size()) << seed;
    EXPECT_LE(wrong, 2u) << seed;  // 5 % of 8 discoveries are expected to be false
  }
}

}  // namespace
}  // namespace kiln::information_law_test
