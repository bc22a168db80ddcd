// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/statistics/draw_conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/device/normal.hpp"
#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/statistics/draw_judge.hpp"
#include "kiln/statistics/sample.hpp"
#include "kiln/statistics/sample_summary.hpp"

#include "series.hpp"

namespace kiln::draw_conditions_test {
namespace {

using test::ar1_chains;
using test::good_sample;
using Values = std::vector<double>;

JudgedConditions judged(const std::string& conditions, const Sample& sample) {
  return judge(DrawConditions::parse(conditions), sample, summarize(sample));
}

bool met(const std::string& conditions, const Sample& sample) {
  return judged(conditions, sample).met();
}

// As the schedule hands it out, one quantity after the other.
DrawVerdict look(DrawJudge& judge, const DrawConditions& conditions, const Sample& sample) {
  const auto column = [&](std::size_t quantity) {
    if (quantity == sample.names.size()) return sample.log_density;
    Values values;
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

/// One quantity and a log density, both AR(1).
Sample slow_sample(double phi, std::int64_t chains, std::int64_t draws, std::uint64_t seed = 1) {
  Sample sample = good_sample({"x"}, chains, draws);
  sample.values = ar1_chains(phi, chains, draws, seed);
  sample.log_density = ar1_chains(phi, chains, draws, seed + 1000);
  return sample;
}

struct Wrong {
  const char* text;
  const char* message;
  const char* expected;
};

TEST(DrawConditions, AreReadAndShown) {
  const DrawConditions read = DrawConditions::parse(" ess >= 400 , rhat<=1.01,divergences <=0");
  ASSERT_EQ(read.all.size(), 3u);
  EXPECT_EQ(read.all[0], (DrawCondition{DrawStatistic::ess, 400}));
  EXPECT_EQ(read.all[1], (DrawCondition{DrawStatistic::rhat, 1.01}));
  EXPECT_EQ(read.all[2], (DrawCondition{DrawStatistic::divergences, 0}));
  EXPECT_EQ(read.text(), "ess>=400,rhat<=1.01,divergences<=0");
  EXPECT_EQ(DrawConditions::parse(read.text()), read);
  EXPECT_EQ(DrawConditions::parse("ess_bulk>=1e3,ess_tail>=2.5").text(),
            "ess_bulk>=1000,ess_tail>=2.5");
}

TEST(DrawConditions, SayWhereTheirTextIsWrong) {
  for (const Wrong& wrong : {
           Wrong{"", "position 1: the end is no statistic of draws", "ess, ess_bulk"},
           Wrong{"ess>=400,", "position 10: the end is no statistic", "divergences"},
           Wrong{"esss>=400", "position 1: 'esss' is no statistic", "rhat"},
           Wrong{"ess", "position 4: ess is followed by the end, not by >=", "ess>=400"},
           Wrong{"ess>400", "position 4: ess is followed by '>', not by >=", "ess>=400"},
           Wrong{"rhat>=1.01", "position 5: rhat is followed by '>=', not by <=", "rhat<=1.01"},
           Wrong{"ess>=many", "position 6: 'many' is no number", "a number"},
           Wrong{"ess>=400 rhat<=1.01", "position 10: 'rhat' follows a condition", "a comma"},
           Wrong{"ess>=400,ess>=500", "position 10: a second condition on ess", "one condition"},
           Wrong{"ess>=0", "position 6: no draws can meet", "greater than 0"},
           Wrong{"ess>=0x10", "position 6: '0x10' is no number", "a number"},
           Wrong{"rhat<=1.01,ess>=4k", "position 17: '4k' is no number", "a number"},
           Wrong{"rhat<=nan", "position 7: 'nan' is no number", "a number"},
           Wrong{"divergences<=0x0", "position 14: '0x0' is no number", "a number"},
           Wrong{"ess>=inf", "position 6: no draws can meet", "greater than 0"},
           Wrong{"ess>=1,rhat<=0.9", "position 14: no draws can meet", "1 or more"},
           Wrong{"divergences<=-1", "position 14: no draws can meet", "0 or more"},
       }) {
    try {
      DrawConditions::parse(wrong.text);
      ADD_FAILURE() << wrong.text;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.code(), "budget.until");
      EXPECT_EQ(error.message().find(wrong.message), 0u) << error.message();
      EXPECT_NE(error.expected().find(wrong.expected), std::string::npos) << error.expected();
    }
  }
  DrawConditions made;
  made.all.push_back({DrawStatistic::rhat, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_THROW(check(made), InvalidArgument);
  EXPECT_NO_THROW(check({}));
}

// Independent draws count one each; of AR(1) with phi = 1/2 three are worth one. The estimates
// scatter by some per cent: the bounds are 15 % off, and either formula without its tau, or without
// its chains, would be off by a factor.
TEST(DrawConditions, HoldForSeriesOfKnownLength) {
  const Sample independent = slow_sample(0, 4, 2000), slow = slow_sample(0.5, 4, 2000);
  EXPECT_TRUE(met("ess_bulk>=6800", independent));
  EXPECT_FALSE(met("ess_bulk>=9200", independent));
  EXPECT_TRUE(met("ess_bulk>=2267", slow));
  EXPECT_FALSE(met("ess_bulk>=3067", slow));
  EXPECT_TRUE(met("ess>=2267", slow)) << "tails forget sooner";
  EXPECT_TRUE(met("rhat<=1.01,divergences<=0", slow));
}

TEST(DrawConditions, AreAboutTheWorstQuantity) {
  Sample sample = good_sample({"a", "b"}, 4, 500);
  const Values slow = ar1_chains(0.8, 4, 500, 9);
  for (std::size_t i = 0; i < slow.size(); ++i) sample.values[2 * i + 1] = slow[i];
  const JudgedConditions all = judged("ess>=1000,rhat<=1.1", sample);
  EXPECT_EQ(all.all[0].quantity, "b");
  EXPECT_FALSE(all.all[0].met);
  EXPECT_EQ(all.all[1].quantity, "b");
  EXPECT_TRUE(all.all[1].met);
  EXPECT_EQ(all.chains, 4);
  EXPECT_EQ(all.draws, 500);
  const SampleSummary summary = summarize(sample);
  EXPECT_EQ(all.all[0].value, std::min(summary.min_bulk()->ess_bulk, summary.min_tail()->ess_tail));
  EXPECT_EQ(all.all[1].value, summary.worst_r_hat()->r_hat);
}

// Each chain agrees with itself. An R-hat of one chain alone would let this pass.
TEST(DrawConditions, CompareAllChains) {
  Sample sample = slow_sample(0, 4, 400);
  for (std::size_t i = 3 * 400; i < 4 * 400; ++i) sample.values[i] += 1;
  Sample first = slow_sample(0, 1, 400);
  EXPECT_TRUE(met("rhat<=1.05", first));
  EXPECT_FALSE(met("rhat<=1.05", sample));
  EXPECT_FALSE(met("ess>=800", sample));
}

TEST(DrawConditions, UseNestedRHatFrom256ChainsOn) {
  Sample sample = slow_sample(0, 256, 20);
  sample.super_chains = 16;
  const JudgedCondition nested = judged("rhat<=1.01", sample).all.front();
  EXPECT_TRUE(nested.nested);
  EXPECT_TRUE(nested.met);
  EXPECT_EQ(nested.value, summarize(sample).worst_nested_r_hat()->nested_r_hat);
  EXPECT_FALSE(met("rhat<=1.0001", sample)) << "320 effective draws of a group scatter by more";

  sample.all_chains = 255;
  EXPECT_FALSE(judged("rhat<=1.01", sample).all.front().nested);
  sample.all_chains = 256;
  sample.super_chains = 0;
  EXPECT_FALSE(judged("rhat<=1.01", sample).all.front().nested);

  // Groups that have not left their starts, though each chain has settled.
  sample.super_chains = 16;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    sample.values[i] += (i / 20) % 16 == 5 ? 1 : 0;
  }
  EXPECT_FALSE(met("rhat<=1.01", sample));
}

TEST(DrawConditions, AreNotMetByWhatIsNotKnown) {
  Sample sample = slow_sample(0, 4, 400);
  sample.values[7] = std::numeric_limits<double>::quiet_NaN();
  const JudgedConditions broken = judged("ess>=1,rhat<=100", sample);
  EXPECT_FALSE(broken.all[0].met);
  EXPECT_FALSE(broken.all[1].met);
  EXPECT_EQ(broken.all[0].quantity, "x");

  std::ranges::fill(sample.values, 3.0);  // of a constant nothing is to be learnt
  EXPECT_TRUE(met("ess>=1000,rhat<=1.01", sample));
  std::ranges::fill(sample.log_density, 3.0);  // chains that do not move
  EXPECT_FALSE(met("ess>=1", sample));
  EXPECT_FALSE(met("rhat<=100", sample));

  EXPECT_FALSE(met("ess>=1", slow_sample(0, 4, 3))) << "too short for any";
}

TEST(DrawConditions, CountDivergences) {
  Sample sample = slow_sample(0, 4, 400);
  sample.divergences = 3;
  EXPECT_FALSE(met("divergences<=2", sample));
  EXPECT_TRUE(met("divergences<=3", sample));
}

// Formulas written down as they stand in the source, without a thought of their cost.
namespace naive {

using Chains = std::vector<Values>;

Chains halves(const Values& values, std::size_t chains, std::size_t draws) {
  Chains split;
  for (std::size_t c = 0; c < chains; ++c) {
    for (const std::size_t begin : {std::size_t{0}, draws - draws / 2}) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(c * draws + begin);
      split.emplace_back(at, at + static_cast<std::ptrdiff_t>(draws / 2));
    }
  }
  return split;
}

Chains scores(const Chains& chains) {
  Values all;
  for (const Values& chain : chains) all.insert(all.end(), chain.begin(), chain.end());
  Chains ranked = chains;
  for (Values& chain : ranked) {
    for (double& value : chain) {
      const double below =
          static_cast<double>(std::ranges::count_if(all, [&](double x) { return x < value; }));
      const double equal = static_cast<double>(std::ranges::count(all, value));
      const double rank = below + (equal + 1) / 2;
      value = normal_quantile((rank - 0.375) / (static_cast<double>(all.size()) + 0.25));
    }
  }
  return ranked;
}

double mean(const Values& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double variance(const Values& x) {
  double sum = 0;
  for (const double value : x) sum += (value - mean(x)) * (value - mean(x));
  return sum / static_cast<double>(x.size() - 1);
}

struct Parts {
  double within = 0, estimate = 0;
};

Parts parts(const Chains& chains) {
  Values means, variances;
  for (const Values& chain : chains) {
    means.push_back(mean(chain));
    variances.push_back(variance(chain));
  }
  const double n = static_cast<double>(chains.front().size()), within = mean(variances);
  return {within, (n - 1) / n * within + variance(means)};
}

double r_hat(const Chains& chains) {
  const Parts of = parts(chains);
  return std::sqrt(of.estimate / of.within);
}

double effective_draws(const Chains& chains) {
  const Parts of = parts(chains);
  const std::size_t n = chains.front().size();
  const auto correlation = [&](std::size_t lag) {
    double sum = 0;
    for (const Values& chain : chains) {
      const double centre = mean(chain);
      for (std::size_t t = 0; t + lag < n; ++t) {
        sum += (chain[t] - centre) * (chain[t + lag] - centre);
      }
    }
    return 1 - (of.within - sum / static_cast<double>(n * chains.size())) / of.estimate;
  };
  double pair = 1 + correlation(1), sum = pair;
  for (std::size_t lag = 2; lag + 1 < n; lag += 2) {
    const double next = correlation(lag) + correlation(lag + 1);
    if (next <= 0) {
      sum += std::max(0.0, correlation(lag)) / 2;
      break;
    }
    pair = std::min(pair, next);
    sum += pair;
  }
  const double all = static_cast<double>(n * chains.size());
  return std::min(all / (2 * sum - 1), all * std::log10(all));
}

}  // namespace naive

TEST(DrawConditions, HaveTheValuesOfANaiveReference) {
  for (const double phi : {0.0, 0.6, 0.9, -0.4}) {
    const Sample sample = slow_sample(phi, 3, 200, 4);
    const naive::Chains split = naive::halves(sample.values, 3, 200);
    Sample alone = sample;
    alone.log_density.assign(alone.log_density.size(), 0);  // leaves the quantity
    const JudgedConditions found = judged("ess_bulk>=1,rhat<=9", alone);
    EXPECT_NEAR(found.all[0].value / naive::effective_draws(naive::scores(split)), 1, 1e-9) << phi;

    Values sorted = sample.values;
    std::ranges::sort(sorted);
    const double median = (sorted[299] + sorted[300]) / 2;
    naive::Chains folded = split;
    for (Values& chain : folded) {
      for (double& value : chain) value = std::abs(value - median);
    }
    const double worse =
        std::max(naive::r_hat(naive::scores(split)), naive::r_hat(naive::scores(folded)));
    EXPECT_NEAR(found.all[1].value, worse, 1e-9) << phi;
  }
}

// The same answer as the summary of all quantities, whatever failed at the looks before. A look at
// one quantity, or at one chain, gives another answer for some of these.
TEST(DrawJudge, AgreesWithTheSummary) {
  const DrawConditions conditions = DrawConditions::parse("ess>=150,rhat<=1.03,divergences<=1");
  DrawJudge judge;
  int yes = 0, no = 0;
  std::mt19937_64 words(11);
  for (std::uint64_t trial = 0; trial < 120; ++trial) {
    const auto draws = static_cast<std::int64_t>(60 + words() % 120);
    Sample sample = good_sample({"a", "b", "c"}, 4, draws);
    const Values fresh = ar1_chains(0.3, 12, draws, trial + 1);
    const std::size_t odd = words() % 6;  // a quantity, the log density, or none
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t d = 0; d < static_cast<std::size_t>(draws); ++d) {
        const std::size_t at = c * static_cast<std::size_t>(draws) + d;
        for (std::size_t q = 0; q < 3; ++q) {
          sample.values[3 * at + q] = fresh[q * 4 * static_cast<std::size_t>(draws) + at];
          if (q == odd && c == 2) sample.values[3 * at + q] += 0.7;
        }
        if (odd == 3 && c == 1) sample.log_density[at] += 0.7;
      }
    }
    sample.divergences = static_cast<std::int64_t>(words() % 8 == 0 ? 2 : 1);
    const bool expected = kiln::judge(conditions, sample, summarize(sample)).met();
    EXPECT_EQ(look(judge, conditions, sample).met, expected) << trial;
    ++(expected ? yes : no);
  }
  EXPECT_GT(yes, 15);
  EXPECT_GT(no, 15);
}

// The next look begins with the quantity that failed, on however many threads this one was found.
TEST(DrawJudge, AsksWhatFailedFirstAlone) {
  const DrawConditions conditions = DrawConditions::parse("rhat<=1.05");
  Sample sample = good_sample({"a", "b", "c", "d"}, 4, 200);
  sample.values = ar1_chains(0.3, 16, 200, 3);
  sample.log_density = ar1_chains(0.3, 4, 200, 4);
  for (std::size_t d = 0; d < 200; ++d) sample.values[4 * d + 2] += 3;  // "c" of the first chain
  for (const int threads : {1, 3}) {
    const HostThreads limit(threads);
    DrawJudge judge;
    EXPECT_FALSE(look(judge, conditions, sample).met);
    std::vector<std::size_t> asked;
    const auto column = [&](std::size_t quantity) {
      asked.push_back(quantity);
      Values values;
      for (std::size_t i = 0; i < 800; ++i) values.push_back(sample.values[4 * i + quantity]);
      return values;
    };
    EXPECT_FALSE(judge.look(conditions, {4, 200, 4, 0, 0, 4, column}).met);
    EXPECT_EQ(asked, std::vector<std::size_t>{2}) << threads << " threads";
  }
}

TEST(DrawJudge, TellsHowManyDrawsWouldDo) {
  const Sample sample = slow_sample(0, 4, 500);
  const auto growth = [&](const char* conditions, const Sample& of) {
    DrawJudge judge;
    return look(judge, DrawConditions::parse(conditions), of).growth;
  };
  EXPECT_NEAR(growth("ess_bulk>=6000", sample), 3, 0.5);
  EXPECT_EQ(growth("rhat<=1", sample), 1) << "R-hat says nothing of the number of draws";
  EXPECT_EQ(growth("ess>=10", sample), 1);
  Sample broken = sample;
  broken.values[4] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(growth("ess>=10", broken)));
}

}  // namespace
}  // namespace kiln::draw_conditions_test
