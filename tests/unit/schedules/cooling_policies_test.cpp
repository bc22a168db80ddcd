// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Coolings of simulated annealing: one type for each, and the spelling of the version before.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "schedule_fixtures.hpp"
#include "schedule_suite.hpp"

namespace kiln::test::cooling_policies_test {
namespace {

TEST(CoolingPolicy, IsAVariantWithNames) {
  CoolingPolicy cooling;
  EXPECT_EQ(cooling.name(), "automatic");
  cooling = PidCooling{.gain = 0.2};
  EXPECT_EQ(cooling.name(), "pid");
  EXPECT_EQ(std::get<PidCooling>(cooling).gain, 0.2);
  EXPECT_FALSE(std::holds_alternative<ListCooling>(cooling));
  EXPECT_EQ(cooling, CoolingPolicy(PidCooling{.gain = 0.2}));
  EXPECT_NE(cooling, CoolingPolicy(PidCooling{}));
  EXPECT_NE(cooling, CoolingPolicy(AdaptiveCooling{.gain = 0.2}));
}

ScheduleEntry annealing() { return builtin_registry().schedule("simulated-annealing"); }

TEST(CoolingPolicy, IsSetByTexts) {
  const auto shown =
      annealing().make({{"pid.gain", "0.2"}, {"cooling", "pid"}, {"beta_max", "3"}})->parameters();
  EXPECT_EQ(shown.at("cooling"), "pid");
  EXPECT_EQ(shown.at("pid.gain"), "0.2");
  EXPECT_EQ(shown.at("pid.integral"), "0.01");
  EXPECT_FALSE(shown.contains("adaptive.gain"));
  EXPECT_EQ(complaint([] {
              annealing().make({{"cooling", "linear"}, {"pid.gain", "0.2"}});
            }),
            "config.option: 'pid.gain' is a parameter of cooling=pid, and cooling is linear; give "
            "cooling=pid or leave 'pid.gain' out");
}

// The texts of the version before and those of this one give one schedule.
TEST(CoolingPolicy, TakesTheFormerNamesOfItsOptions) {
  const auto same = [](const Texts& former, const Texts& now) {
    EXPECT_EQ(annealing().make(former)->parameters(), annealing().make(now)->parameters());
  };
  same({{"cooling", "exponential"}, {"cooling_factor", "0.9"}},
       {{"cooling", "exponential"}, {"exponential.factor", "0.9"}});
  same({{"cooling", "logarithmic"}, {"cooling_rate", "2"}},
       {{"cooling", "logarithmic"}, {"logarithmic.rate", "2"}});
  same({{"cooling", "list"}, {"betas", "1,2"}}, {{"cooling", "list"}, {"list.betas", "1,2"}});
  same({{"cooling", "adaptive"}, {"gain", "1"}, {"window", "4"}, {"acceptance_begin", "0.5"}},
       {{"cooling", "adaptive"},
        {"adaptive.gain", "1"},
        {"adaptive.window", "4"},
        {"adaptive.acceptance_begin", "0.5"}});
  same({{"cooling", "pid"},
        {"pid_proportional", "1"},
        {"pid_integral", "2"},
        {"pid_derivative", "3"},
        {"window", "4"},
        {"acceptance_end", "0.01"}},
       {{"cooling", "pid"},
        {"pid.gain", "1"},
        {"pid.integral", "2"},
        {"pid.derivative", "3"},
        {"pid.window", "4"},
        {"pid.acceptance_end", "0.01"}});
}

// As in the version before: a record of a run may hold every option.
TEST(CoolingPolicy, IgnoresFormerNamesThatBelongToOtherCoolings) {
  const Texts all{{"cooling", "linear"},
                  {"cooling_factor", "0.9"},
                  {"cooling_rate", "2"},
                  {"betas", ""},
                  {"gain", "1"},
                  {"window", "4"},
                  {"acceptance_begin", "0.5"},
                  {"pid_integral", "2"},
                  {"pid_derivative", "3"},
                  {"pid_proportional", "0.25"},
                  {"acceptance_end", "0.1"}};
  EXPECT_EQ(annealing().make(all)->parameters(),
            annealing().make({{"cooling", "linear"}})->parameters());
  EXPECT_EQ(complaint([] {
              annealing().make({{"betas", "1,2"}});
            }),
            "config.option: 'betas', now 'list.betas', is a parameter of cooling=list, and cooling "
            "is automatic; give "
            "cooling=list or leave 'betas' out");
}

TEST(CoolingPolicy, TellsFormerNamesThatWereUsed) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(annealing().former_names_in({{"cooling", "pid"}, {"pid_integral", "1"}}),
            (Pairs{{"pid_integral", "pid.integral"}}));
  EXPECT_EQ(annealing().former_names_in({{"cooling", "adaptive"}, {"window", "4"}}),
            (Pairs{{"window", "adaptive.window"}}));
}

// Ranges whose quotient is no double. The noise of planes kept states from one sweep to the next.
TEST(CoolingPolicy, SpansTheRangeOfDoubles) {
  const Problem problem = sparse_cut();
  for (const char* noise : {"independent", "shared"}) {
    for (const CoolingPolicy& cooling :
         {CoolingPolicy(GeometricCooling{}), CoolingPolicy(LinearCooling{}),
          CoolingPolicy(ExponentialCooling{})}) {
      for (const std::int64_t sweeps : {2, 64}) {
        SimulatedAnnealing schedule({.cooling = cooling,
                                     .beta_min = 1e-300,
                                     .beta_max = 1e300,
                                     .anneal_sweeps = sweeps,
                                     .noise = noise});
        kiln::Run run(problem, schedule, Budget{.sweeps = 3 * sweeps}, options(64),
                      open_backend("cpu", 1));
        const Result result = run.advance();
        EXPECT_TRUE(result.verified) << cooling.name() << " " << noise << " " << sweeps;
      }
    }
  }
}

// 96 replicas in three groups whose ranges lie at equal factors: the geometric middle by hand.
TEST(CoolingPolicy, SpreadsTheRangesOfGroupsOverAllDoubles) {
  const Problem problem = sparse_cut();
  SimulatedAnnealing schedule(
      {.beta_min = 1e-300, .beta_max = 1e11, .beta_min_last = 1e10, .groups = 3});
  kiln::Run run(problem, schedule, Budget{.sweeps = 16}, options(96), open_backend("cpu", 1));
  const Result result = run.advance();
  const std::vector<double>& hot = result.series.at("group_beta_min");
  EXPECT_EQ(hot[0], 1e-300);
  EXPECT_NEAR(std::log10(hot[1]), -145, 1e-10);
  EXPECT_EQ(hot[2], 1e10);
  EXPECT_EQ(result.series.at("group_beta_max"), (std::vector<double>{1e11, 1e11, 1e11}));
}

// What programs for the version before say: it compiles, with warnings that are not for here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

Texts parameters_of(const SimulatedAnnealingOptions& options) {
  return SimulatedAnnealing(options).parameters();
}

TEST(FormerCooling, IsANameWithFields) {
  SimulatedAnnealingOptions former;
  former.cooling = "adaptive";
  EXPECT_TRUE(former.cooling == "adaptive");
  EXPECT_FALSE(former.cooling == "pid");
  former.gain = 1;
  former.window = 4;
  former.acceptance_begin = 0.5;
  SimulatedAnnealingOptions now;
  now.cooling = AdaptiveCooling{.gain = 1, .acceptance_begin = 0.5, .window = 4};
  EXPECT_EQ(parameters_of(former), parameters_of(now));

  former.cooling = std::string("pid");
  former.pid_proportional = 1;
  former.pid_integral = 2;
  former.pid_derivative = 3;
  now.cooling =
      PidCooling{.gain = 1, .integral = 2, .derivative = 3, .acceptance_begin = 0.5, .window = 4};
  EXPECT_EQ(parameters_of(former), parameters_of(now)) << "the gain is not of this cooling";

  const SimulatedAnnealingOptions list{.cooling = "list", .betas = {1, 2}, .groups = 2};
  now = {.cooling = ListCooling{{1, 2}}, .groups = 2};
  EXPECT_EQ(parameters_of(list), parameters_of(now));
  EXPECT_EQ(parameters_of({.cooling = "exponential", .cooling_factor = 0.9}),
            parameters_of({.cooling = ExponentialCooling{0.9}}));
  EXPECT_EQ(parameters_of({.cooling = "logarithmic", .cooling_rate = 2}),
            parameters_of({.cooling = LogarithmicCooling{2}}));
}

TEST(FormerCooling, MustNotContradictThePolicy) {
  SimulatedAnnealingOptions options{.cooling_factor = 0.9};
  options.cooling = ExponentialCooling{0.9};
  EXPECT_EQ(parameters_of(options).at("exponential.factor"), "0.9") << "they agree";
  options.cooling_factor = 0.8;
  EXPECT_EQ(complaint([&] { parameters_of(options); }),
            "config.option: 'cooling_factor' is the former name of 'exponential.factor', and both "
            "are given");
  SimulatedAnnealingOptions betas;
  betas.betas = {1};
  EXPECT_EQ(complaint([&] { parameters_of(betas); }),
            "config.option: 'betas' is a member of ListCooling, and cooling is automatic; give "
            "cooling = ListCooling{betas}");
  EXPECT_EQ(complaint([] { SimulatedAnnealingOptions{.cooling = "liste"}; }),
            "config.option: cooling: 'liste' is not one of automatic, linear, geometric, "
            "exponential, list, logarithmic, adaptive, pid; the nearest is 'list'");
}

#pragma GCC diagnostic pop

}  // namespace
}  // namespace kiln::test::cooling_policies_test
