// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Every decision of a no-U-turn transition has a word of its own. Chains that all begin in one
// place with one doubling go forwards or backwards by a fair draw, and take the new state with a
// probability p of its own: forwards and moved has p / 2. If both decisions read one word, that
// becomes max(0, p - 1/2), and p / 2 on the mean over both directions all the same: laws of x alone
// do not see it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kiln/device/normal.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

#include "backends/backends.hpp"
#include "densities/chains.hpp"
#include "densities/test_densities.hpp"

namespace kiln::test::nuts_draws_law_test {
namespace {

constexpr std::int64_t n_chains = 20000;
constexpr double start = 0.8, step = 1.3;  // of x^2 / 2

/// The end of one leapfrog from `start`, and the probability of taking it.
struct End {
  double x, probability;
};
End end_of(double z, double eps) {
  const double half = z - 0.5 * eps * start, x = start + eps * half;
  const double after = half - 0.5 * eps * x;
  const double error = 0.5 * (x * x + after * after) - 0.5 * (start * start + z * z);
  return {x, std::min(1.0, std::exp(-error))};
}

/// Of chains that moved forwards less those expected, in standard errors. `goes(z, chain)` gives
/// where a chain ended.
double excess_of_forward_moves(const std::vector<double>& momenta,
                               const std::function<double(double, std::size_t)>& goes) {
  double excess = 0, variance = 0;
  for (std::size_t c = 0; c < momenta.size(); ++c) {
    const End forwards = end_of(momenta[c], step);
    const double chance = forwards.probability / 2;
    excess += (std::abs(goes(momenta[c], c) - forwards.x) < 1e-9 ? 1.0 : 0.0) - chance;
    variance += chance * (1 - chance);
  }
  return excess / std::sqrt(variance);
}

ChainInputs in_one_place() {
  ChainInputs in;
  in.dimension = 1;
  in.replicas = n_chains;
  in.position.assign(n_chains, start);
  in.tuning[0].step_size = step;
  in.tuning[0].max_depth = 1;
  return in;
}

TEST(NutsDraws, DirectionAndJoiningAreIndependent) {
  const double one = 1;
  CorrelatedNormal density;
  density.n = 1;
  density.precision = &one;
  DeviceChains chains(*open_device(Device::cpu).queue, in_one_place());
  chains.transition_of<NutsTransition>(density);
  const std::vector<double> x = chains.outputs().position;

  // The momentum tells the directions apart; it is drawn by name.
  const DeviceNames names(*open_device(Device::cpu).queue, make_names(chains.slots(), 1, 1));
  std::vector<double> momenta;
  for (std::int64_t c = 0; c < n_chains; ++c) {
    DrawName name = names.view().at(c, 0, RngDomain::momentum);
    name.block = static_cast<std::uint8_t>(TransitionDraw::momentum);
    momenta.push_back(standard_normal(name, 0));
  }
  std::size_t told = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    for (const double at : {start, end_of(momenta[c], step).x, end_of(momenta[c], -step).x}) {
      told += std::abs(x[c] - at) < 1e-9 ? 1 : 0;
    }
  }
  ASSERT_EQ(told, x.size()) << "these are not the momenta of the chains";
  EXPECT_LT(std::abs(excess_of_forward_moves(momenta, [&](double, std::size_t c) { return x[c]; })),
            4);

  // The planted mistake: one word for both.
  TestRandom random(5);
  const auto one_word = [&](double z, std::size_t) {
    const double word = random.unit();
    const End end = end_of(z, word >= 0.5 ? step : -step);
    return word < end.probability ? end.x : start;
  };
  EXPECT_GT(std::abs(excess_of_forward_moves(momenta, one_word)), 10);
  const auto two_words = [&](double z, std::size_t) {
    const End end = end_of(z, random.unit() >= 0.5 ? step : -step);
    return random.unit() < end.probability ? end.x : start;
  };
  EXPECT_LT(std::abs(excess_of_forward_moves(momenta, two_words)), 4);
}

}  // namespace
}  // namespace kiln::test::nuts_draws_law_test
