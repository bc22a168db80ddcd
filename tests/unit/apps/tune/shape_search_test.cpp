// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The search of launch shapes in planted spaces, whose best shape is known.
#include "tune/shape_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tune/paired_times.hpp"

namespace kiln::test::shape_search_test {
namespace {

using cli::PairedTimes;
using cli::search_shapes;
using cli::TuneActions;
using cli::TuneTask;

const TuneDevice device{"Planted 1", "", "", {}};

TunableDescription planted(const char* name, std::vector<ShapeParameter> parameters) {
  TunableDescription of;
  of.name = name;
  of.kernel = "axpby";
  of.gpu = false;
  of.parameters = std::move(parameters);
  return of;
}

/// A search whose times are those of a function with noise.
class Planted {
 public:
  using Time = std::function<double(const LaunchShape&)>;

  Planted(const Tunable& tunable, Time time, double noise, unsigned seed = 1)
      : tunable_(tunable), time_(std::move(time)), noise_(noise), random_(seed) {
    task_.tunable = &tunable;
    task_.subject = {key_of(device), tunable.name(), tunable.hash(), 4};
    actions_.default_fault = [this] { return fault; };
    actions_.test = [this](const LaunchShape& shape, bool again) { return test(shape, again); };
    actions_.keep = [this](const TuneTrial& trial) { text += line_of(trial); };
    actions_.ended = [this] { return made >= end_after; };
  }

  std::optional<TuneOutcome> search(const std::string& before = {}) {
    return search_shapes(task_, read_tune_records(before), actions_);
  }

  std::string fault;
  std::int64_t made = 0, end_after = 1'000'000;
  std::string text;                         ///< of the file
  std::map<LaunchShape, TrialVerdict> bad;  ///< shapes that are not measured

 private:
  TuneTrial test(const LaunchShape& shape, bool) {
    ++made;
    TuneTrial trial;
    if (const auto found = bad.find(shape); found != bad.end()) {
      trial.verdict = found->second;
      return trial;
    }
    PairedTimes times;
    while (!times.enough()) {
      times.shape.push_back(time_(shape) * draw());
      times.standard.push_back(1e-3 * draw());
    }
    times.write_to(trial);
    return trial;
  }
  double draw() { return std::exp(noise_ * normal_(random_)); }

  const Tunable& tunable_;
  Time time_;
  double noise_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  TuneTask task_;
  TuneActions actions_;
};

const std::vector<std::int32_t> powers{1, 2, 4, 8, 16, 32};

// Best at threads 8 and words 4: 0.6 of the default.
double bowl(const LaunchShape& shape) {
  const double a = std::log2(shape[0]) - 3, b = std::log2(shape[1]) - 2;
  return 1e-3 * (0.6 + 0.1 * a * a + 0.05 * b * b);
}

TEST(MedianInterval, HasTheRanksOfCoins) {
  std::vector<double> values;
  for (int i = 50; i > 0; --i) values.push_back(i);
  const TuneInterval fifty = cli::median_interval(values);
  EXPECT_EQ(fifty.low, 18) << "the table of the sign test: 17 of 50 heads or fewer have 1.6 %";
  EXPECT_EQ(fifty.median, 25.5);
  EXPECT_EQ(fifty.high, 33);
  const TuneInterval ten = cli::median_interval({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  EXPECT_EQ(cli::median_interval({3, 1, 2}).low, 1);
  EXPECT_THROW(cli::median_interval({}), std::invalid_argument);
}

TEST(MedianInterval, CoversTheMedianInNineteenOfTwenty) {
  std::mt19937 random(3);
  std::exponential_distribution<double> wait(1);
  int covered = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> values(30);
    for (double& one : values) one = wait(random);
    const TuneInterval one = cli::median_interval(values);
    covered += one.low <= std::log(2.0) && std::log(2.0) <= one.high ? 1 : 0;
  }
  EXPECT_GT(covered, 1880);
}

TEST(PairedTimes, EndWhenBothAreKnownToTwoPercent) {
  PairedTimes still;
  for (int i = 0; i < 9; ++i) {
    still.shape.push_back(1);
    still.standard.push_back(2);
    EXPECT_FALSE(still.enough());
  }
  still.shape.push_back(1);
  still.standard.push_back(2);
  EXPECT_TRUE(still.enough());
  PairedTimes wild = still;
  for (std::size_t i = 0; i < 10; ++i) wild.standard[i] = 2 + static_cast<double>(i);
  EXPECT_FALSE(wild.enough());
  TuneTrial trial;
  still.write_to(trial);
  EXPECT_EQ(trial.gain.median, 2);
  EXPECT_EQ(trial.samples, 10);
}

// A clock that slows down hits both, so the gain of pairs stays.
TEST(PairedTimes, ADriftingClockDoesNotMoveTheGain) {
  PairedTimes times;
  for (int i = 0; i < 50; ++i) {
    times.shape.push_back(1 + 0.02 * i);
    times.standard.push_back(1.1 * (1 + 0.02 * i));
  }
  TuneTrial trial;
  times.write_to(trial);
  EXPECT_NEAR(trial.gain.low, 1.1, 1e-9);
  EXPECT_NEAR(trial.gain.high, 1.1, 1e-9);
}

TEST(ShapeSearch, FindsThePlantedOptimum) {
  const Tunable tunable(planted("search_bowl", {{"threads", powers}, {"words", powers}}));
  Planted planted_space(tunable, bowl, 0.01);
  const auto outcome = planted_space.search();
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->chosen);
  EXPECT_EQ(text_of(*outcome->chosen), "threads=8 words=4");
  EXPECT_NEAR(outcome->gain.median, 1 / 0.6, 0.02);
  EXPECT_EQ(outcome->search, "exhaustive");
  EXPECT_EQ(outcome->tried, 36);
  EXPECT_EQ(outcome->space, 36);
}

TEST(ShapeSearch, ShapesThatAreWrongOrFailNeverWin) {
  const Tunable tunable(planted("search_bad", {{"threads", powers}, {"words", powers}}));
  Planted planted_space(tunable, bowl, 0.01);
  planted_space.bad = {{{8, 4}, TrialVerdict::wrong}, {{8, 8}, TrialVerdict::failed}};
  const auto outcome = planted_space.search();
  ASSERT_TRUE(outcome && outcome->chosen);
  EXPECT_EQ(text_of(*outcome->chosen), "threads=8 words=2");
  EXPECT_EQ(outcome->wrong, 1);
  EXPECT_EQ(outcome->failed, 1);
}

// The best of 180 shapes is above the default by luck in nearly every search, now and then beyond
// both intervals. The second measurement knows nothing of that luck.
TEST(ShapeSearch, NoiseAloneIsNoGain) {
  const std::vector<std::int32_t> five{1, 2, 3, 4, 5};
  const Tunable tunable(
      planted("search_noise", {{"threads", powers}, {"words", powers}, {"waves", five}}));
  int lucky = 0, again = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Planted planted_space(
        tunable, [](const LaunchShape&) { return 1e-3; }, 0.1, seed);
    const auto outcome = planted_space.search();
    ASSERT_TRUE(outcome);
    EXPECT_FALSE(outcome->chosen) << seed;
    lucky += outcome->gain.median > 1 ? 1 : 0;
    again += planted_space.made > 180 ? 1 : 0;
  }
  EXPECT_GT(lucky, 30) << "a test that sees nothing";
  EXPECT_GT(again, 0) << "nothing was beyond both intervals by luck";
}

TEST(ShapeSearch, TheDefaultIsNotTriedAndMustBeRight) {
  TunableDescription of = planted("search_default", {{"threads", powers}, {"words", powers}});
  of.default_shape = LaunchShape{8, 4};
  const Tunable tunable(of);
  Planted planted_space(
      tunable,
      [](const LaunchShape& s) {
        return 1e-3 * bowl(s) / bowl({8, 4});
      },
      0.01);
  const auto outcome = planted_space.search();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->chosen);
  EXPECT_EQ(outcome->tried, 35);
  EXPECT_EQ(outcome->default_text, "threads=8 words=4");
  planted_space.made = 0;
  planted_space.fault = "it is wrong";
  EXPECT_EQ(planted_space.search()->default_complaint, "it is wrong");
  EXPECT_EQ(planted_space.made, 0);
}

// The text of the file is cut anywhere, as a kill does; half lines are lost, and nothing else is
// done again.
TEST(ShapeSearch, ContinuesWhereAKillEndedIt) {
  const Tunable tunable(planted("search_killed", {{"threads", powers}, {"words", powers}}));
  Planted whole(tunable, bowl, 0.01);
  const auto outcome = whole.search();
  ASSERT_TRUE(outcome && outcome->chosen);
  ASSERT_EQ(whole.made, 37) << "and the best one again";
  std::mt19937 random(5);
  for (int i = 0; i < 50; ++i) {
    const std::string kept = whole.text.substr(0, random() % (whole.text.size() + 1));
    const auto trials = static_cast<std::int64_t>(read_tune_records(kept).trials.size());
    Planted rest(tunable, bowl, 0.01, 100u + static_cast<unsigned>(i));
    const auto again = rest.search(kept);
    ASSERT_TRUE(again && again->chosen);
    EXPECT_EQ(text_of(*again->chosen), "threads=8 words=4");
    EXPECT_EQ(again->tried, 36);
    EXPECT_EQ(rest.made, 37 - trials);
  }
}

TEST(ShapeSearch, AnEndedSearchHasNoOutcome) {
  const Tunable tunable(planted("search_ended", {{"threads", powers}, {"words", powers}}));
  for (const int after : {0, 1, 20, 36}) {
    Planted planted_space(tunable, bowl, 0.01);
    planted_space.end_after = after;
    EXPECT_FALSE(planted_space.search()) << after;
    EXPECT_EQ(planted_space.made, after);
  }
}

// Four parameters that depend on each other; the best shape is 0.5 of the default, the median one
// twice as slow.
double valley(const LaunchShape& shape) {
  const double a = std::log2(shape[0]) - 4, b = std::log2(shape[1]) - 2,
               c = std::log2(shape[2]) - 1;
  return 1e-3 * (0.5 + 0.08 * a * a + 0.1 * (b + a) * (b + a) + 0.15 * c * c +
                 (shape[3] == 2 ? 0.0 : 0.2));
}

TEST(ShapeSearch, ManyShapesAreSearchedByAModel) {
  const Tunable tunable(planted(
      "search_model", {{"a", powers}, {"b", powers}, {"c", {1, 2, 4, 8}}, {"d", {1, 2, 3, 4}}}));
  double best = 1;
  for (std::int64_t i = 0; i < tunable.combinations(); ++i) {
    best = std::min(best, valley(tunable.combination(i)));
  }
  Planted planted_space(tunable, valley, 0.01);
  planted_space.bad = {{{16, 4, 4, 2}, TrialVerdict::failed}};
  const auto outcome = planted_space.search();
  ASSERT_TRUE(outcome && outcome->chosen);
  EXPECT_EQ(outcome->search, "bayesian");
  EXPECT_EQ(outcome->space, 576);
  EXPECT_LE(outcome->tried, cli::max_bayesian_trials);
  EXPECT_LE(valley(*launch_shape(tunable, *outcome->chosen)), 1.05 * best)
      << text_of(*outcome->chosen);
  // It continues, too, and tries nothing twice.
  const std::string kept = planted_space.text.substr(0, planted_space.text.size() / 2);
  const auto trials = static_cast<std::int64_t>(read_tune_records(kept).trials.size());
  Planted rest(tunable, valley, 0.01);
  rest.bad = planted_space.bad;
  const auto again = rest.search(kept);
  ASSERT_TRUE(again);
  EXPECT_LE(rest.made, cli::max_bayesian_trials + 3 - trials);
}

}  // namespace
}  // namespace kiln::test::shape_search_test
