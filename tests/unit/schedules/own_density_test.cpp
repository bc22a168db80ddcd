// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What somebody meets who samples a density of their own: laws in closed form, and gradients that
// are wrong in the ways in which people get them wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::own_density_test {
namespace {

using test::complaint;

const std::vector<double> centre{1, -2, 0.5}, spread{1, 3, 0.2};

enum class Mistake { none, sign, twice, one_term, energy };

/// Independent normals, with a mistake in the gradient.
Problem normals(Mistake mistake) {
  return make_problem(make_density_objective(
      "normals", 3, [mistake](std::span<const double> x, std::span<double> gradient) {
        double energy = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double z = (x[i] - centre[i]) / spread[i];
          energy += 0.5 * z * z;
          if (gradient.empty()) continue;
          gradient[i] = z / spread[i];
          if (mistake == Mistake::sign) gradient[i] = -gradient[i];
          if (mistake == Mistake::twice) gradient[i] *= 2;
          if (mistake == Mistake::one_term && i == 1) gradient[i] = 0;
        }
        if (mistake == Mistake::energy && !gradient.empty()) energy *= 2;
        return energy;
      }));
}

Result run(const Problem& problem, const HmcOptions& options, std::int64_t chains = 4) {
  Hmc schedule(options);
  return Engine({.device = "cpu", .replicas = chains, .seed = 1}).run(problem, schedule);
}

bool doubts_gradient(const Result& result) {
  for (const std::string& advice : result.advice) {
    if (advice.find("check_gradient() shows the details") != std::string::npos) return true;
  }
  return false;
}

TEST(OwnDensity, IsSampledWhereDrawsAreAskedFor) {
  for (const HmcOptions& options :
       {HmcOptions{.draws = 2000}, HmcOptions{.warmup = 500}, HmcOptions{.super_chains = 2}}) {
    const Result result = run(normals(Mistake::none), options);
    EXPECT_EQ(result.parameters.at("mode"), "sample");
    const SampleSummary& summary = result.summary();
    ASSERT_EQ(summary.quantities.size(), 3u);
    EXPECT_EQ(result.draws().all_draws, options.draws > 0 ? 2000 : 1000);
    for (std::size_t i = 0; i < 3; ++i) {
      const QuantitySummary& q = summary.quantities[i];
      EXPECT_NEAR(q.mean, centre[i], 5 * q.mcse_mean) << q.name;
      EXPECT_NEAR(q.sd / spread[i], 1, 0.1) << q.name;
    }
    EXPECT_FALSE(doubts_gradient(result)) << result.advice.front();
  }
}

TEST(OwnDensity, IsAnnealedOtherwiseAndSaysThatThereAreNoDraws) {
  const Result result = run(normals(Mistake::none), {});
  EXPECT_EQ(result.parameters.at("mode"), "anneal");
  EXPECT_LT(result.objective, 1e-6);
  EXPECT_EQ(complaint([&] { result.summary(); }),
            "result.no_draws: a run of schedule 'hmc' with mode=anneal keeps no draws");
  EXPECT_EQ(complaint([&] { result.draws(); }),
            "result.no_draws: a run of schedule 'hmc' with mode=anneal keeps no draws");
  try {
    result.summary();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(error.fix().find("make_posterior()"), std::string::npos);
  }
  SimulatedAnnealing annealing;
  const Result annealed = Engine({.device = "cpu", .replicas = 4})
                              .run(normals(Mistake::none), annealing, {.sweeps = 10});
  EXPECT_EQ(complaint([&] { annealed.summary(); }),
            "result.no_draws: a run of schedule 'simulated-annealing' keeps no draws");
}

TEST(OwnDensity, RefusesOptionsThatItsModeDoesNotUse) {
  const auto anneal = [](HmcOptions options) {
    options.mode = "anneal";
    return complaint([&] { Hmc schedule(options); });
  };
  EXPECT_NE(anneal({.draws = 10}).find("draws needs mode=sample"), std::string::npos);
  EXPECT_NE(anneal({.warmup = 0}).find("warmup needs mode=sample"), std::string::npos);
  const auto both = complaint([] { run(normals(Mistake::none), {.draws = 10, .beta_max = 2}); });
  EXPECT_NE(both.find("beta_max needs mode=anneal"), std::string::npos) << both;
}

// Trees of a wrong gradient would be deep.
const HmcOptions short_chains{.draws = 200, .warmup = 200, .max_depth = 6};

TEST(OwnDensity, DoubtsAGradientThatIsWrong) {
  for (const Mistake mistake :
       {Mistake::sign, Mistake::twice, Mistake::one_term, Mistake::energy}) {
    for (const std::int64_t chains : {4, 128}) {
      const Result result = run(normals(mistake), short_chains, chains);
      EXPECT_TRUE(doubts_gradient(result))
          << static_cast<int>(mistake) << ", " << chains << " chains";
    }
  }
  const Result zero = run(normals(Mistake::one_term), short_chains);
  bool told = false;
  for (const std::string& advice : zero.advice) {
    told = told || advice.find("at coordinate 1 (counted from 0)") != std::string::npos;
  }
  EXPECT_TRUE(told) << "the coordinate that is wrong is named";
}

// So many dimensions that a check costs more than a hundredth of so short a run.
TEST(OwnDensity, IsCheckedWhereChainsAreInTrouble) {
  const auto wide = [](double sign) {
    return make_problem(make_density_objective(
        "wide", 60, [sign](std::span<const double> x, std::span<double> gradient) {
          double energy = 0;
          for (std::size_t i = 0; i < x.size(); ++i) {
            energy += 0.5 * x[i] * x[i];
            if (!gradient.empty()) gradient[i] = sign * x[i];
          }
          return energy;
        }));
  };
  const HmcOptions options{.draws = 20, .warmup = 40, .max_depth = 5};
  EXPECT_TRUE(doubts_gradient(run(wide(-1), options)));
  EXPECT_FALSE(doubts_gradient(run(wide(1), options)));
}

TEST(OwnDensity, IsDoubtedWhereItIsAnnealedToo) {
  EXPECT_TRUE(doubts_gradient(run(normals(Mistake::sign), {})));
  EXPECT_TRUE(doubts_gradient(run(normals(Mistake::one_term), {})));
  EXPECT_FALSE(doubts_gradient(run(normals(Mistake::none), {})));
}

TEST(Engine, OfNoOptionsIsThatOfTheDefaults) {
  const Engine plain, braced({});
  EXPECT_EQ(braced.options().seed, plain.options().seed);
  EXPECT_EQ(braced.options().device, "auto");
  EXPECT_EQ(Engine({.seed = 7}).options().seed, 7u);
}

}  // namespace
}  // namespace kiln::own_density_test
