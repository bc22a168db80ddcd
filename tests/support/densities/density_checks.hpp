// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <span>
#include <vector>

#include "kiln/device/density.hpp"
#include "kiln/objectives/catalog_density.hpp"
#include "kiln/objectives/gradient_check.hpp"

#include "backends/thread_team.hpp"

// What every density must do, and laws as text books write them, to compare with.
namespace kiln::test {

using Coordinates = std::vector<double>;

/// Points in a cube around 0 that are the same on every machine.
inline std::vector<Coordinates> points_around_zero(int dimension, double half_width, int count) {
  std::uint64_t state = 88172645463325252ULL;
  std::vector<Coordinates> points;
  for (int k = 0; k < count; ++k) {
    Coordinates x(static_cast<std::size_t>(dimension));
    for (double& xi : x) {
      state ^= state << 13;  // xorshift64
      state ^= state >> 7;
      state ^= state << 17;
      xi = half_width * (2 * static_cast<double>(state >> 11) * 0x1p-53 - 1);
    }
    points.push_back(std::move(x));
  }
  return points;
}

/// Gradients of any weighted sum of both parts are differences of the energies, and a gradient that
/// is asked for alone has the same bits.
template <class Density>
void expect_gradients(const Density& density, const std::vector<Coordinates>& points,
                      double tolerance = 1e-6) {
  std::vector<double> work(static_cast<std::size_t>(density.workspace()));
  for (const PartWeights weights : {PartWeights{1, 1}, PartWeights{0.7, 0.2}, PartWeights{1, 0}}) {
    const auto at = [&](std::span<const double> x, std::span<double> gradient) {
      return DensityPoint{x.data(), weights, gradient.empty() ? nullptr : gradient.data(),
                          work.data()};
    };
    const auto function = [&](std::span<const double> x, std::span<double> gradient) {
      const DensityPoint point = at(x, gradient);
      return weights(gradient.empty() ? density.template evaluate<Want::energy>(SingleTeam{}, point)
                                      : density.template evaluate<Want::both>(SingleTeam{}, point));
    };
    for (const Coordinates& x : points) {
      const GradientCheck check = check_gradient(function, x);
      EXPECT_TRUE(check.agrees(tolerance)) << check.text(tolerance);
      EXPECT_LT(check.resolution, tolerance) << "the differences are too coarse to judge it";
      Coordinates both(x.size()), alone(x.size());
      function(x, both);
      density.template evaluate<Want::gradient>(SingleTeam{}, at(x, alone));
      EXPECT_EQ(both, alone);
    }
  }
}

/// Teams of several threads find what one thread finds.
template <class Density>
void expect_teams_agree(const Density& density, const Coordinates& x) {
  const PartWeights weights{0.9, 0.6};
  std::vector<double> work(static_cast<std::size_t>(density.workspace()));
  Coordinates expected(x.size());
  const EnergyParts one = density.template evaluate<Want::both>(
      SingleTeam{}, {x.data(), weights, expected.data(), work.data()});
  for (const int threads : {2, 3, 8}) {
    Coordinates gradient(x.size(), -1e300);
    std::vector<EnergyParts> energies(static_cast<std::size_t>(threads));
    with_team(threads, [&](const ThreadTeam& team) {
      energies[static_cast<std::size_t>(team.rank())] = density.template evaluate<Want::both>(
          team, {x.data(), weights, gradient.data(), work.data()});
    });
    for (const EnergyParts& e : energies) {
      EXPECT_NEAR(e.base, one.base, 1e-12 * std::max(1.0, std::abs(one.base)));
      EXPECT_NEAR(e.term, one.term, 1e-12 * std::max(1.0, std::abs(one.term)));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(gradient[i], expected[i], 1e-9 * std::max(1.0, std::abs(expected[i])))
          << "coordinate " << i << " of " << threads << " threads";
    }
  }
}

/// Energies differ from point to point as minus this log density, whose constant is not known.
inline void expect_log_density(const DensitySource& source, const std::vector<Coordinates>& points,
                               const std::function<double(std::span<const double>)>& log_density) {
  const double offset = source.evaluate(points.front(), {}).total() + log_density(points.front());
  for (const Coordinates& x : points) {
    const double energy = source.evaluate(x, {}).total();
    EXPECT_NEAR(energy, offset - log_density(x), 1e-9 * std::max(1.0, std::abs(energy)));
  }
}

inline double normal_lpdf(double x, double mean, double sd) {
  const double z = (x - mean) / sd;
  return -z * z / 2 - std::log(sd * std::sqrt(2 * std::numbers::pi));
}
inline double cauchy_lpdf(double x, double location, double scale) {
  const double z = (x - location) / scale;
  return -std::log(std::numbers::pi * scale * (1 + z * z));
}
inline double gamma_lpdf(double x, double shape, double rate) {
  return shape * std::log(rate) - std::lgamma(shape) + (shape - 1) * std::log(x) - rate * x;
}
inline double exponential_lpdf(double x, double rate) { return std::log(rate) - rate * x; }
inline double beta_lpdf(double x, double a, double b) {
  return (a - 1) * std::log(x) + (b - 1) * std::log(1 - x);
}
inline double lognormal_lpdf(double x, double mean, double sd) {
  return normal_lpdf(std::log(x), mean, sd) - std::log(x);
}
inline double bernoulli_logit_lpmf(bool y, double odds) {
  const double p = 1 / (1 + std::exp(-odds));
  return std::log(y ? p : 1 - p);
}
inline double poisson_lpmf(double k, double mean) {
  return k * std::log(mean) - mean - std::lgamma(k + 1);
}

}  // namespace kiln::test
