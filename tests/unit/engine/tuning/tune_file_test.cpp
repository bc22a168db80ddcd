// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of tuned shapes: what is used of it, and what is refused.
#include "kiln/tuning/tune_file.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"

namespace kiln::test::tune_file_test {
namespace {

TunableDescription description(const char* name) {
  TunableDescription of;
  of.name = name;
  of.kernel = "axpby";
  of.gpu = false;
  of.size = "items";
  of.parameters = {{"threads", {64, 128, 256}}, {"words", {1, 2}}};
  of.allows = [](const LaunchShape& shape, const ShapeLimits&) {
    return shape[0] * shape[1] < 500;
  };
  return of;
}

const TuneDevice here{"Planted 1", "580.1", "13.0", {}};

class TuneFile : public testing::Test {
 protected:
  TuneOutcome outcome(NamedShape shape, int bucket = 4) const {
    TuneOutcome one;
    one.subject = {key_of(here), tunable_.name(), tunable_.hash(), bucket};
    one.workload = "planted";
    one.default_text = "rule";
    one.chosen = std::move(shape);
    one.gain = {1.1, 1.2, 1.3};
    one.search = "exhaustive";
    return one;
  }
  UsableChoices usable(const std::string& text) const {
    return usable_choices(read_tune_records(text), here, {&tunable_});
  }
  const Tunable tunable_{description("planted_file")};
  const NamedShape good_{{"threads", 128}, {"words", 2}};
};

TEST(TuneBuckets, AreHalfDecades) {
  EXPECT_EQ(size_bucket(-5), 0);
  EXPECT_EQ(size_bucket(0), 0);
  for (const auto& [first, last, bucket] : {std::tuple<std::int64_t, std::int64_t, int>{1, 3, 0},
                                            {4, 9, 1},
                                            {10, 31, 2},
                                            {32, 99, 3},
                                            {100, 316, 4},
                                            {317, 999, 5},
                                            {1000, 3162, 6},
                                            {1'000'000, 3'162'277, 12}}) {
    EXPECT_EQ(size_bucket(first), bucket) << first;
    EXPECT_EQ(size_bucket(last), bucket) << last;
    EXPECT_EQ(bucket_text(bucket), std::to_string(first) + ".." + std::to_string(last));
  }
  EXPECT_EQ(size_bucket(std::numeric_limits<std::int64_t>::max()), 36);
  EXPECT_EQ(bucket_text(-1), "?");
}

TEST(Tunables, AreCombinationsWithinConstraints) {
  const Tunable one(description("planted_combinations"));
  EXPECT_EQ(one.combinations(), 6);
  EXPECT_EQ(one.combination(0), (LaunchShape{64, 1}));
  EXPECT_EQ(one.combination(5), (LaunchShape{256, 2}));
  EXPECT_EQ(one.refusal({128, 2}, {}), "");
  EXPECT_EQ(one.refusal({0, 2}, {}), "threads=0 is none of 64, 128, 256");
  EXPECT_EQ(one.refusal({4096, 1}, {}), "threads=4096 is none of 64, 128, 256");
  EXPECT_EQ(one.refusal({256, 2}, {}), "threads=256 words=2 is not possible on this device");
}

TEST(Tunables, DeclarationsAreChecked) {
  const Tunable first(description("planted_twice"));
  EXPECT_THROW(Tunable(description("planted_twice")), InvalidArgument);
  TunableDescription of = description("planted_default");
  of.default_shape = LaunchShape{32, 1};
  EXPECT_THROW(Tunable{of}, InvalidArgument);
  of.default_shape.reset();
  of.parameters.clear();
  EXPECT_THROW(Tunable{of}, InvalidArgument);
}

TEST(Tunables, HashesDependOnTheSpaceAndTheVersion) {
  std::string hash;
  {
    const Tunable one(description("planted_hash"));
    hash = one.hash();
    EXPECT_EQ(hash.size(), 16u);
  }
  {
    const Tunable same(description("planted_hash"));
    EXPECT_EQ(same.hash(), hash);
  }
  TunableDescription of = description("planted_hash");
  of.version = 2;
  {
    const Tunable other(of);
    EXPECT_NE(other.hash(), hash);
  }
  of.version = 1;
  of.parameters[0].values.push_back(512);
  const Tunable wider(of);
  EXPECT_NE(wider.hash(), hash);
}

TEST_F(TuneFile, AChoiceIsUsedForItsBucketAlone) {
  const UsableChoices found = usable(line_of(here) + line_of(outcome(good_)));
  EXPECT_EQ(found.complaint, "");
  ASSERT_EQ(found.choices.size(), 1u);
  const TunedShapes shapes(here, found.choices);
  ASSERT_NE(shapes.find(tunable_, 100), nullptr);
  EXPECT_EQ(*shapes.find(tunable_, 316), (LaunchShape{128, 2}));
  EXPECT_EQ(shapes.find(tunable_, 99), nullptr);
  EXPECT_EQ(shapes.find(tunable_, 317), nullptr);
  const Tunable later(description("planted_later"));
  EXPECT_EQ(shapes.find(later, 100), nullptr);
}

TEST_F(TuneFile, TheLastOutcomeCounts) {
  TuneOutcome none = outcome(good_);
  none.chosen.reset();
  EXPECT_EQ(usable(line_of(outcome(good_)) + line_of(none)).choices.size(), 0u);
  const auto both = usable(line_of(none) + line_of(outcome(good_)) +
                           line_of(outcome({{"threads", 64}, {"words", 1}}, 5)));
  EXPECT_EQ(both.choices.size(), 2u);
  EXPECT_EQ(both.complaint, "");
}

TEST_F(TuneFile, AHalfLineAtTheEndIsIgnored) {
  const std::string all = line_of(here) + line_of(outcome(good_));
  const std::string second = line_of(outcome({{"threads", 64}, {"words", 1}}));
  for (std::size_t cut = 0; cut < second.size(); cut += 7) {
    const TuneRecords records = read_tune_records(all + second.substr(0, cut));
    EXPECT_EQ(records.complete_bytes, all.size()) << cut;
    EXPECT_EQ(records.bad_lines, 0) << cut;
    EXPECT_EQ(usable_choices(records, here, {&tunable_}).choices.at(0).shape[0], 128) << cut;
  }
}

TEST_F(TuneFile, DamagedLinesAreLeftOutWithOneComplaint) {
  const std::string good = line_of(outcome(good_));
  const auto one = usable(line_of(here) + "\x01garbage\n" + good);
  EXPECT_EQ(one.choices.size(), 1u);
  EXPECT_EQ(one.complaint, "line 2 is no record");
  const auto two = usable("{}\n[1,2]\n{\"tune\":\"outcome\"}\n" + good);
  EXPECT_EQ(two.choices.size(), 1u);
  EXPECT_EQ(two.complaint, "3 lines are no records, the first is line 1");
}

TEST_F(TuneFile, EmptyLinesAreIgnored) {
  const auto found = usable("\n\r\n  \n" + line_of(here) + "\n" + line_of(outcome(good_)) + "\n\n");
  EXPECT_EQ(found.choices.size(), 1u);
  EXPECT_EQ(found.complaint, "");
  EXPECT_FALSE(is_tune_record(""));
}

TEST_F(TuneFile, AThousandBadLinesAreEnough) {
  std::string text;
  for (int i = 0; i < 999; ++i) text += "x\n";
  const std::string good = line_of(outcome(good_));
  EXPECT_EQ(usable(text + good).choices.size(), 1u);
  const TuneRecords records = read_tune_records(text + "x\n" + good);
  EXPECT_EQ(records.outcomes.size(), 0u);
  EXPECT_EQ(records.complete_bytes, text.size() + 2 + good.size());
  EXPECT_EQ(complaint_about_lines(records),
            "at least 1000 lines are no records, the first is line 1");
  EXPECT_EQ(read_tune_records(std::string(70'000, ' ') + good).bad_lines, 1) << "a long line";
}

TEST_F(TuneFile, ADamagedFileCostsNoTime) {
  for (const std::string line : {"\n", "x\n", "{}\n", "{\"tune\":\"outcome\"}\n", "["}) {
    std::string text;
    while (text.size() < (std::size_t{8} << 20)) text += line;
    text += "\n";
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(read_tune_records(text).outcomes.empty());
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    EXPECT_LT(spent.count(), 1.0) << line;
  }
}

TEST_F(TuneFile, NumbersOutOfRangeAreRefused) {
  const std::string good = line_of(outcome(good_));
  for (const auto& [was, is] :
       {std::pair<std::string, std::string>{"\"tried\":0", "\"tried\":1e300"},
        {"\"tried\":0", "\"tried\":-1"},
        {"\"tried\":0", "\"tried\":1.5"},
        {"\"tried\":0", "\"tried\":100000"},
        {"\"space\":0", "\"space\":18446744073709551615"},
        {"\"bucket\":4", "\"bucket\":4294967300"},
        {"\"bucket\":4", "\"bucket\":37"},
        {"[1.1,1.2,1.3]", "[1.1,1.2,1e300]"},
        {"[1.1,1.2,1.3]", "[1.3,1.2,1.1]"},
        {"[1.1,1.2,1.3]", "[-1,1.2,1.3]"}}) {
    std::string bad = good;
    ASSERT_NE(bad.find(was), bad.npos) << bad;
    bad.replace(bad.find(was), was.size(), is);
    EXPECT_EQ(read_tune_records(bad).bad_lines, 1) << bad;
  }
}

// Every byte of a good file is changed once: nothing but the shapes of the space is ever used.
TEST_F(TuneFile, NoChangeOfAByteGivesAShapeOutsideTheSpace) {
  const std::string good = line_of(here) + line_of(outcome(good_));
  int used = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char to : {'0', '9', '-', '"', '}', '\n', '\x80'}) {
      std::string bad = good;
      bad[at] = to;
      for (const TunedShapes::Choice& one : usable(bad).choices) {
        EXPECT_EQ(tunable_.refusal(one.shape, here.limits), "") << at << to;
        ++used;
      }
    }
  }
  EXPECT_GT(used, 100);
}

TEST_F(TuneFile, ShapesThatThisBuildDoesNotAllowAreRefused) {
  for (const auto& [shape, complaint] :
       {std::pair<NamedShape, const char*>{{{"threads", 0}, {"words", 2}},
                                           "threads=0 is none of 64, 128, 256"},
        {{{"threads", 4096}, {"words", 2}}, "threads=4096 is none of 64, 128, 256"},
        {{{"threads", 256}, {"words", 2}}, "threads=256 words=2 is not possible on this device"},
        {{{"blocks", 1}, {"words", 2}}, "blocks=1 words=2 are other parameters"},
        {{{"threads", 64}}, "threads=64 are other parameters"}}) {
    const UsableChoices found = usable(line_of(here) + line_of(outcome(shape)));
    EXPECT_EQ(found.choices.size(), 0u);
    EXPECT_EQ(found.complaint, std::string("line 2: planted_file: ") + complaint);
  }
}

TEST_F(TuneFile, FilesOfAnotherDeviceDriverToolkitOrBuildAreNotUsed) {
  const auto complaint_of = [&](const TuneDevice& there) {
    TuneOutcome one = outcome(good_);
    one.subject.key = key_of(there);
    const UsableChoices found = usable(line_of(there) + line_of(one));
    EXPECT_EQ(found.choices.size(), 0u);
    return found.complaint;
  };
  TuneDevice there = here;
  there.driver = "570.9";
  EXPECT_EQ(complaint_of(there), "it was made with driver 570.9, and here is driver 580.1");
  there = here;
  there.toolkit = "";
  EXPECT_EQ(complaint_of(there), "it was made with toolkit none, and here is toolkit 13.0");
  there = here;
  there.name = "Planted 2";
  EXPECT_EQ(complaint_of(there), "it was made with device Planted 2, and here is device Planted 1");
  TuneOutcome older = outcome(good_);
  older.subject.hash = "0123456789abcdef";
  const UsableChoices found = usable(line_of(here) + line_of(older));
  EXPECT_EQ(found.choices.size(), 0u);
  EXPECT_EQ(found.complaint, "the shapes of planted_file were tuned for another build of Kiln");
  // Beside records of this build, those of others are history.
  EXPECT_EQ(usable(line_of(here) + line_of(older) + line_of(outcome(good_))).complaint, "");
}

TEST_F(TuneFile, RecordsSurviveTheirLines) {
  TuneTrial trial;
  trial.subject = outcome(good_).subject;
  trial.shape = good_;
  trial.seconds = {1e-6, 2e-6, 3e-6};
  trial.default_seconds = {2e-6, 3e-6, 4e-6};
  trial.gain = {1.25, 1.5, 1.75};
  trial.samples = 50;
  trial.again = true;
  TuneTrial wrong = trial;
  wrong.verdict = TrialVerdict::wrong;
  wrong.complaint = "3 of 4 words differ\nfrom \xff the default";
  const TuneRecords records =
      read_tune_records(line_of(here) + line_of(trial) + line_of(wrong) + line_of(outcome(good_)));
  EXPECT_EQ(records.bad_lines, 0);
  ASSERT_EQ(records.trials.size(), 2u);
  EXPECT_EQ(records.trials[0].subject, trial.subject);
  EXPECT_EQ(records.trials[0].shape, good_);
  EXPECT_EQ(records.trials[0].gain.high, 1.75);
  EXPECT_EQ(records.trials[0].samples, 50);
  EXPECT_TRUE(records.trials[0].again);
  EXPECT_EQ(records.trials[1].verdict, TrialVerdict::wrong);
  ASSERT_NE(records.outcome_of(trial.subject), nullptr);
  EXPECT_EQ(records.outcome_of(trial.subject)->line, 4);
  EXPECT_EQ(records.header_of(key_of(here))->driver, "580.1");
}

TEST_F(TuneFile, ATrialCountsLaunchesAndHidesOtherChoices) {
  const Tunable other(description("planted_other"));
  const TunedShapes shapes(here, {{&tunable_, 4, {128, 2}}, {&other, 4, {64, 1}}});
  {
    const ShapeTrial trial(shapes, &tunable_, 4, LaunchShape{256, 1});
    EXPECT_EQ(*shapes.find(tunable_, 100), (LaunchShape{256, 1}));
    EXPECT_EQ(shapes.find(tunable_, 50), nullptr) << "of another bucket";
    EXPECT_EQ(shapes.find(other, 100), nullptr) << "the default";
    shapes.decline(other);
    shapes.decline(tunable_);
    EXPECT_EQ(trial.launches(), 2);
    EXPECT_EQ(trial.declined(), 1);
    EXPECT_EQ(trial.buckets(), (std::set<int>{3, 4}));
    {
      const ShapeTrial standard(shapes, nullptr);
      EXPECT_EQ(shapes.find(tunable_, 100), nullptr);
    }
    EXPECT_EQ(*shapes.find(tunable_, 100), (LaunchShape{256, 1}));
  }
  EXPECT_EQ(*shapes.find(tunable_, 100), (LaunchShape{128, 2}));
  EXPECT_EQ(*shapes.find(other, 100), (LaunchShape{64, 1}));
}

}  // namespace
}  // namespace kiln::test::tune_file_test
