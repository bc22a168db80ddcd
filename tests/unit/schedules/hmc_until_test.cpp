// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Draws that end their run: looks at the same draws in every repeat.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/plan.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/hmc.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "densities/sampling_fixtures.hpp"
#include "hmc/draw_watch.hpp"
#include "schedule_fixtures.hpp"

namespace kiln::hmc_until_test {
namespace {

Problem schools() { return test::posterior_of("eight schools", EightSchools{}, true); }

HmcOptions chains_of(std::int64_t draws, std::int64_t thin = 0) {
  HmcOptions o;
  o.sampler = "nuts";
  o.warmup = 150;
  o.draws = draws;
  o.thin = thin;
  return o;
}

RunOptions options(std::int64_t chains, int threads = 1) {
  RunOptions run;
  run.device = "cpu";
  run.replicas = chains;
  run.threads = threads;
  return run;
}

Budget until(const std::string& conditions) {
  Budget budget;
  budget.until = DrawConditions::parse(conditions);
  return budget;
}

Result draw(const HmcOptions& o, const Budget& budget, std::int64_t chains = 4, int threads = 1) {
  Hmc schedule(o);
  return Engine(options(chains, threads)).run(schools(), schedule, budget);
}

/// The first draws of a sample.
Sample prefix(const Sample& whole, std::int64_t draws) {
  Sample part = whole;
  part.draws = draws;
  const auto cut = [&](auto& values, std::size_t width) {
    const auto all = values;
    values.clear();
    for (std::int64_t c = 0; c < whole.chains; ++c) {
      const auto begin = all.begin() + c * whole.draws * static_cast<std::int64_t>(width);
      values.insert(values.end(), begin, begin + draws * static_cast<std::int64_t>(width));
    }
  };
  cut(part.values, part.names.size());
  for (auto* const values : {&part.log_density, &part.hamiltonian, &part.acceptance}) {
    cut(*values, 1);
  }
  cut(part.leapfrogs, 1);
  cut(part.depth, 1);
  cut(part.divergent, 1);
  return part;
}

DrawVerdict look(DrawJudge& judge, const DrawConditions& conditions, const Sample& sample) {
  const auto column = [&](std::size_t quantity) {
    if (quantity == sample.names.size()) return sample.log_density;
    std::vector<double> values;
    for (std::int64_t c = 0; c < sample.chains; ++c) {
      for (std::int64_t d = 0; d < sample.draws; ++d) {
        values.push_back(sample.value(c, d, quantity));
      }
    }
    return values;
  };
  return judge.look(conditions,
                    {sample.chains, sample.draws, sample.all_chains, sample.super_chains,
                     sample.divergences, sample.names.size(), column});
}

// The conditions are tried on the draws of a run that ignored them, by the summary of these draws:
// the first look at which they hold is where the run with conditions must have ended. A look by the
// clock, at one chain or at one quantity, ends elsewhere.
TEST(HmcUntil, EndsAtTheFirstLookThatMeetsTheConditions) {
  const HmcOptions o = chains_of(1000);
  const Result whole = draw(o, {});
  std::set<std::int64_t> ends;
  for (const char* text : {"ess>=150", "ess>=400,rhat<=1.02", "ess_tail>=900", "rhat<=1.01"}) {
    const Budget budget = until(text);
    const auto holds = [&](std::int64_t draws) {
      const Sample part = prefix(*whole.sample, draws);
      return judge(budget.until, part, summarize(part)).met();
    };
    std::int64_t first = 100, expected = 100, looks = 1;
    while (!holds(first)) first += 100;
    DrawJudge judge;
    for (; !holds(expected); ++looks) {
      const DrawVerdict verdict = look(judge, budget.until, prefix(*whole.sample, expected));
      EXPECT_FALSE(verdict.met);
      expected = hmc::draws_at_next_look(expected, verdict.growth);
      ASSERT_LE(expected, 1000) << text;
    }
    EXPECT_GE(expected, first);
    EXPECT_LE(expected, 2 * first) << text;

    const Result result = draw(o, budget);
    EXPECT_EQ(result.stop, Stop::converged) << text;
    EXPECT_FALSE(result.misses_until());
    EXPECT_EQ(result.sample->draws, expected) << text;
    EXPECT_EQ(result.work.sweeps, 150 + expected);
    EXPECT_EQ(result.until.looks, expected == 1000 ? looks - 1 : looks) << "the end is no look";
    EXPECT_EQ(result.sample->values, prefix(*whole.sample, expected).values) << text;
    EXPECT_EQ(result.sample->log_density, prefix(*whole.sample, expected).log_density);
    ends.insert(expected);
  }
  EXPECT_GT(ends.size(), 2u) << "the conditions should end at different looks";
}

TEST(HmcUntil, DoesNotDependOnTheThreads) {
  const Budget budget = until("ess>=400,rhat<=1.02");
  const Result one = draw(chains_of(1000), budget);
  for (const int threads : {2, 8}) {
    const Result other = draw(chains_of(1000), budget, 4, threads);
    EXPECT_EQ(other.work.sweeps, one.work.sweeps);
    EXPECT_EQ(other.sample->values, one.sample->values);
  }
}

TEST(HmcUntil, SaysThatTheDrawsCameFirst) {
  const Result result = draw(chains_of(150), until("ess>=580,rhat<=1.2"));
  EXPECT_EQ(result.stop, Stop::sweep_limit);
  EXPECT_TRUE(result.misses_until());
  EXPECT_EQ(result.sample->draws, 150);
  EXPECT_EQ(result.until.draws, 150);
  EXPECT_EQ(result.until.looks, 1);
  ASSERT_EQ(result.until.all.size(), 2u);
  EXPECT_FALSE(result.until.all[0].met);
  EXPECT_EQ(result.until.all[0].value,
            std::min(result.summary().min_bulk()->ess_bulk, result.summary().min_tail()->ess_tail));
  EXPECT_NE(result.to_json().find("\"until\":{\"met\":false"), std::string::npos);
}

// No look is due at draw 150, but the answer meets the conditions.
TEST(HmcUntil, JudgesTheLastDraws) {
  const Result result = draw(chains_of(150), until("ess>=5"));
  EXPECT_EQ(result.sample->draws, 100);
  const Result later = draw(chains_of(99), until("ess>=5"));
  EXPECT_EQ(later.stop, Stop::converged);
  EXPECT_EQ(later.sample->draws, 99);
  EXPECT_EQ(later.until.looks, 0);
  EXPECT_TRUE(later.until.met());
}

TEST(HmcUntil, LooksAtKeptDraws) {
  const Result result = draw(chains_of(1000, 3), until("ess>=5"));
  EXPECT_EQ(result.sample->draws, 100);
  EXPECT_EQ(result.sample->thin, 3);
  EXPECT_EQ(result.work.sweeps, 150 + 300);
}

TEST(HmcUntil, UsesNestedRHatOfManyChains) {
  HmcOptions o = chains_of(300);
  o.sampler = "chees";
  const Result result = draw(o, until("rhat<=1.01"), 256, 2);
  ASSERT_EQ(result.until.all.size(), 1u);
  EXPECT_TRUE(result.until.all[0].nested);
  EXPECT_TRUE(result.until.met());
  EXPECT_EQ(result.until.all[0].value, result.summary().worst_nested_r_hat()->nested_r_hat);
  EXPECT_EQ(result.sample->draws, 100);
}

/// Of the first `chains` chains: sqrt(1 + B / W), chain c of the group c modulo `groups`.
double nested_by_formula(const Sample& sample, std::int64_t chains, std::int64_t groups,
                         std::size_t quantity) {
  const auto variance = [](const std::vector<double>& x) {
    double mean = 0, sum = 0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x) sum += (value - mean) * (value - mean);
    return sum / static_cast<double>(x.size() - 1);
  };
  const auto mean = [](const std::vector<double>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  };
  std::vector<double> means_of_groups, within;
  for (std::int64_t k = 0; k < groups; ++k) {
    std::vector<double> means, variances;
    for (std::int64_t c = k; c < chains; c += groups) {
      std::vector<double> draws;
      for (std::int64_t d = 0; d < sample.draws; ++d) draws.push_back(sample.value(c, d, quantity));
      means.push_back(mean(draws));
      variances.push_back(variance(draws));
    }
    means_of_groups.push_back(mean(means));
    within.push_back(variance(means) + mean(variances));
  }
  return std::sqrt(1 + variance(means_of_groups) / mean(within));
}

// 100 kept chains are six of each of 16 super-chains, and four more that are left out.
TEST(HmcUntil, NestedRHatIsOfAsManyKeptChainsOfEachSuperChain) {
  HmcOptions o = chains_of(300);
  o.sampler = "chees";
  o.keep = 100;
  const Result result = draw(o, until("rhat<=1.05"), 256, 2);
  const Sample& sample = *result.sample;
  ASSERT_EQ(sample.chains, 100);
  ASSERT_EQ(sample.super_chains, 16);
  ASSERT_EQ(result.until.all.size(), 1u);
  EXPECT_TRUE(result.until.all[0].nested);
  const SampleSummary& summary = result.summary();
  for (std::size_t i = 0; i < sample.names.size(); ++i) {
    const double wanted = nested_by_formula(sample, 96, 16, i);
    EXPECT_NEAR(summary.quantities[i].nested_r_hat, wanted, 1e-12) << sample.names[i];
    EXPECT_GT(std::abs(nested_by_formula(sample, 80, 16, i) - wanted), 1e-9) << "too lax";
  }
  EXPECT_EQ(result.until.all[0].value, summary.worst_nested_r_hat()->nested_r_hat);
  EXPECT_EQ(sample.draws, 100) << "met at the first look";

  o.keep = 15;  // not one of each
  const Result few = draw(o, until("rhat<=1.05"), 256, 2);
  EXPECT_EQ(few.sample->super_chains, 16);
  EXPECT_FALSE(few.until.all[0].nested);
  EXPECT_EQ(few.until.all[0].value, few.summary().worst_r_hat()->r_hat);
  EXPECT_EQ(few.summary().worst_nested_r_hat(), nullptr);
}

TEST(HmcUntil, RefusesWhatNoRunCanMeet) {
  const Problem problem = schools();
  const auto complaint = [&](const HmcOptions& o, const Budget& budget) -> std::string {
    try {
      Hmc schedule(o);
      plan_run(problem, schedule, budget, options(4), open_backend("cpu", 1));
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.code(), "budget.until");
      return error.message() + "; " + error.expected();
    }
    return "";
  };
  // 400 log10(400) = 1040.8
  EXPECT_EQ(complaint(chains_of(100), until("rhat<=1.01,ess>=1041")),
            "no run of 4 kept chains x 100 kept draws can meet ess>=1041; it has at most 1041 "
            "effective draws");
  EXPECT_EQ(complaint(chains_of(100), until("ess>=1040")), "");
  EXPECT_NE(complaint(chains_of(3), until("rhat<=1.5")), "");
  HmcOptions anneal;
  anneal.mode = "anneal";
  EXPECT_NE(complaint(anneal, until("ess>=5")).find("'hmc' keeps no draws"), std::string::npos);
  SimulatedAnnealing search;
  const Problem cut = test::sparse_cut();
  EXPECT_THROW(plan_run(cut, search, until("ess>=5"), options(32), open_backend("cpu", 1)),
               InvalidArgument);
}

// Saved at the draws of a look, before the look: it is made up for.
TEST(HmcUntil, ResumesToTheSameDraw) {
  const Problem problem = schools();
  const Budget budget = until("ess>=400,rhat<=1.02");
  const Result at_once = draw(chains_of(1000), budget);
  const std::int64_t end = at_once.work.sweeps;
  for (const std::int64_t cut : {std::int64_t{90}, end - 100, end - 1, end}) {
    Hmc first(chains_of(1000)), second(chains_of(1000));
    kiln::Run begun(problem, first, budget, options(4), open_backend("cpu", 1));
    begun.advance_to({.sweeps = cut});
    Archive archive(begun.queue());
    begun.save(archive);
    kiln::Run resumed(problem, second, budget, options(4), open_backend("cpu", 1));
    resumed.load(archive);
    const Result result = resumed.advance();
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_EQ(result.work.sweeps, end) << cut;
    EXPECT_EQ(result.until.looks, at_once.until.looks);
    EXPECT_EQ(result.sample->values, at_once.sample->values);
    EXPECT_EQ(resumed.advance().work.sweeps, end) << "nothing is left to do";
  }
}

TEST(HmcUntil, StopsAtTheFirstOfSeveralLimits) {
  Budget budget = until("ess>=3000");
  budget.work_limit = 5000;
  EXPECT_EQ(draw(chains_of(1000), budget).stop, Stop::work_limit);
  budget.work_limit = std::int64_t{1} << 50;
  budget.time_limit_s = 1e-3;
  const Result result = draw(chains_of(1000), budget);
  EXPECT_EQ(result.stop, Stop::time_limit);
  EXPECT_TRUE(result.misses_until());
}

TEST(HmcUntil, SpacesLooksByDraws) {
  EXPECT_EQ(hmc::draws_at_next_look(100, 1), 200);
  EXPECT_EQ(hmc::draws_at_next_look(1000, 1), 1100);
  EXPECT_EQ(hmc::draws_at_next_look(2900, 1), 3100) << "a tenth, in hundreds";
  EXPECT_EQ(hmc::draws_at_next_look(1000, 1.5), 1300) << "1350, in hundreds";
  EXPECT_EQ(hmc::draws_at_next_look(100, 3), 200) << "no later than twice the draws";
  EXPECT_EQ(hmc::draws_at_next_look(1000, 1e300), 2000);
}

}  // namespace
}  // namespace kiln::hmc_until_test
