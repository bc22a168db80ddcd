// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The law of chains of a small logistic regression, against its moments by quadrature.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kiln/objectives/generalized_linear.hpp"

#include "backends/backends.hpp"
#include "densities/chains.hpp"

namespace kiln::test::glm_law_test {
namespace {

constexpr std::int64_t chains = 4096;

GlmData small_data(GlmForces forces) {
  TestRandom random(17);
  GlmData data;
  data.rows = 30;
  data.columns = 2;
  data.prior_scale = {1.5};
  data.forces = forces;
  for (int r = 0; r < 30; ++r) {
    data.x.push_back(1);
    data.x.push_back(4 * random.unit() - 2);
    const double p = 1 / (1 + std::exp(-0.3 - data.x.back()));
    data.y.push_back(random.unit() < p ? 1 : 0);
  }
  return data;
}

/// Means, variances and covariance.
using Moments = std::array<double, 5>;

Moments moments_of(const std::vector<std::array<double, 3>>& weighted) {  // x0, x1, weight
  double total = 0;
  Moments m{};
  for (const auto& [a, b, w] : weighted) total += w, m[0] += w * a, m[1] += w * b;
  m[0] /= total, m[1] /= total;
  for (const auto& [a, b, w] : weighted) {
    m[2] += w * (a - m[0]) * (a - m[0]) / total;
    m[3] += w * (b - m[1]) * (b - m[1]) / total;
    m[4] += w * (a - m[0]) * (b - m[1]) / total;
  }
  return m;
}

// The posterior vanishes at the ends of the grid, where the trapezoidal rule is then exact to
// rounding.
Moments by_quadrature(const GlmData& data) {
  const auto source = make_generalized_linear(data);
  std::vector<std::array<double, 3>> grid;
  for (int i = -160; i <= 160; ++i) {
    for (int j = -160; j <= 160; ++j) {
      const std::array<double, 2> x{0.05 * i, 0.05 * j};
      grid.push_back({x[0], x[1], std::exp(-source->evaluate(x, {}).total() + 10)});
    }
  }
  return moments_of(grid);
}

Moments by_chains(Queue& queue, const GlmData& data) {
  ChainInputs in;
  in.dimension = 2;
  in.workspace = GeneralizedLinear::tile;
  in.replicas = chains;
  in.position = normal_positions(2, chains, 2, 9);
  in.tuning[0].step_size = 0.3;
  in.tuning[0].jitter = 0.3;
  in.tuning[0].leapfrogs = 6;
  const auto bound = make_generalized_linear(data)->bind(queue);
  DeviceChains state(queue, in);
  for (std::uint32_t t = 0; t < 40; ++t) {
    auto kernel = state.kernel<HmcTransition>();
    kernel.chains.step_offset = t;
    bound->run(kernel, queue);
  }
  const std::vector<double> x = state.outputs().position;
  std::vector<std::array<double, 3>> draws;
  for (std::size_t r = 0; r < idx(chains); ++r) draws.push_back({x[r], x[idx(chains) + r], 1});
  return moments_of(draws);
}

class GlmLaw : public DeviceTest {};
KILN_ON_EVERY_BACKEND(GlmLaw);

// The last states of 4096 chains are independent. 5 standard errors, and twice those of a normal
// law for second moments, whose tails are a little heavier here: below 1e-5 in all.
TEST_P(GlmLaw, HasTheMomentsOfThePosterior) {
  for (const GlmForces forces : {GlmForces::single, GlmForces::tf32}) {
    const GlmData data = small_data(forces);
    const Moments expected = by_quadrature(data), found = by_chains(queue(), data);
    const double n = static_cast<double>(chains);
    for (std::size_t i = 0; i < 2; ++i) {
      const double variance = expected[2 + i];
      EXPECT_NEAR(found[i], expected[i], 5 * std::sqrt(variance / n));
      EXPECT_NEAR(found[2 + i], variance, 10 * variance * std::sqrt(2 / n));
    }
    EXPECT_NEAR(found[4], expected[4], 10 * std::sqrt(expected[2] * expected[3] / n));
  }
}

}  // namespace
}  // namespace kiln::test::glm_law_test
