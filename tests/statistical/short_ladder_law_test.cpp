// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Ladders whose replicas have not yet travelled say so: log Z of an 8 x 8 spin glass on a torus
// against its transfer matrix, in runs too short for it and long enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/registry.hpp"

#include "backends/cpu_options.hpp"

namespace kiln::test::short_ladder_law_test {
namespace {

constexpr std::int32_t side = 8;
constexpr std::int32_t row_states = 1 << side;

// Couplings of 1 and -1; E = sum J s s over the edges to the right and below.
struct Torus {
  std::int32_t right(std::int32_t y, std::int32_t x) const { return sign(2 * (y * side + x)); }
  std::int32_t below(std::int32_t y, std::int32_t x) const { return sign(2 * (y * side + x) + 1); }

  static std::int32_t sign(std::int32_t edge) {  // a hash: half of them are 1
    return std::popcount(static_cast<std::uint32_t>(edge + 1) * 2654435761u) % 2 == 0 ? 1 : -1;
  }

  Ising model() const {
    Ising model;
    model.n = side * side;
    model.fields.assign(static_cast<std::size_t>(model.n), 0.0);
    const auto couple = [&](std::int32_t a, std::int32_t b, std::int32_t j) {
      model.couplings.push_back({std::min(a, b), std::max(a, b), static_cast<double>(j)});
    };
    for (std::int32_t y = 0; y < side; ++y) {
      for (std::int32_t x = 0; x < side; ++x) {
        couple(y * side + x, y * side + (x + 1) % side, right(y, x));
        couple(y * side + x, (y + 1) % side * side + x, below(y, x));
      }
    }
    return model;
  }

  // exp(-beta E) of the edges within row y in state `upper` and of those to row `lower` below.
  double weight(double beta, std::int32_t y, std::int32_t upper, std::int32_t lower) const {
    const auto spin = [](std::int32_t row, std::int32_t x) { return (row >> x & 1) * 2 - 1; };
    std::int32_t energy = 0;
    for (std::int32_t x = 0; x < side; ++x) {
      energy += right(y, x) * spin(upper, x) * spin(upper, (x + 1) % side);
      energy += below(y, x) * spin(upper, x) * spin(lower, x);
    }
    return std::exp(-beta * energy);
  }

  // The trace of the product of the rows' transfer matrices, each row_states x row_states.
  double log_z(double beta) const {
    constexpr std::size_t n = row_states;
    std::vector<double> product(n * n), next(n * n);
    for (std::size_t a = 0; a < n; ++a) product[a * n + a] = 1;
    double log_scale = 0;
    for (std::int32_t y = 0; y < side; ++y) {
      std::ranges::fill(next, 0.0);
      for (std::int32_t k = 0; k < row_states; ++k) {
        std::vector<double> row;
        for (std::int32_t b = 0; b < row_states; ++b) row.push_back(weight(beta, y, k, b));
        for (std::size_t a = 0; a < n; ++a) {
          const double factor = product[a * n + static_cast<std::size_t>(k)];
          for (std::size_t b = 0; b < n; ++b) next[a * n + b] += factor * row[b];
        }
      }
      const double scale = *std::ranges::max_element(next);
      for (double& w : next) w /= scale;
      product.swap(next);
      log_scale += std::log(scale);
    }
    double trace = 0;
    for (std::size_t a = 0; a < n; ++a) trace += product[a * n + a];
    return log_scale + std::log(trace);
  }
};

struct Found {
  double squares = 0;  // mean of ((estimate - exact) / error)^2
  int told = 0;        // runs whose advice doubts the error
};

constexpr int runs = 40;

Found found_after(const Torus& torus, double exact, std::int64_t sweeps) {
  const Problem problem = make_ising(torus.model(), "torus");
  Found found;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    const auto schedule = builtin_registry()
                              .schedule("parallel-tempering")
                              .make({{"rungs", "8"},
                                     {"ladder", "geometric"},
                                     {"beta_min", "0.5"},
                                     {"beta_max", "3.5"},
                                     {"burn_in", "0"},
                                     {"cluster_moves", "off"}});
    const Result result = Engine(options(128, seed)).run(problem, *schedule, {.sweeps = sweeps});
    const auto& numbers = result.diagnostics;
    const double z = (numbers.at("log_z_difference") - exact) / numbers.at("log_z_error");
    found.squares += z * z / runs;
    int doubts = 0;
    for (const std::string& advice : result.advice) {
      if (advice.find("log Z can be off by more than its error") != std::string::npos ||
          advice.find("No replica went from the hottest rung") != std::string::npos) {
        ++doubts;
      }
    }
    EXPECT_LE(doubts, 1);
    found.told += doubts;
  }
  return found;
}

TEST(ShortLadderLaw, ALogZThatIsOffIsDoubtedAndOneThatHoldsIsNot) {
  const Torus torus;
  // Enumeration of no interaction: 2^64 states.
  ASSERT_NEAR(torus.log_z(0), 64 * std::log(2.0), 1e-9);
  const double exact = torus.log_z(3.5) - torus.log_z(0.5);
  const Found brief = found_after(torus, exact, 20), lasting = found_after(torus, exact, 1500);
  RecordProperty("brief", std::to_string(brief.squares));
  RecordProperty("lasting", std::to_string(lasting.squares));
  EXPECT_GT(brief.squares, 2.25) << "nothing to be doubted";
  EXPECT_EQ(brief.told, runs);
  EXPECT_LT(lasting.squares, 1.6);
  EXPECT_EQ(lasting.told, 0);
}

}  // namespace
}  // namespace kiln::test::short_ladder_law_test
