// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A checkpoint of a sampling run, continued by a run of more draws.
#include <gtest/gtest.h>

#include <string>

#include "kiln/checkpoint.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/hmc.hpp"
#include "kiln/statistics/extends_draws.hpp"

#include "densities/sampling_fixtures.hpp"
#include "temporary_folder.hpp"

namespace kiln::test::hmc_more_draws_test {
namespace {

/// A run of eight schools with some draws.
struct Sampling {
  explicit Sampling(std::int64_t draws, HmcOptions options = {}, std::int64_t chains = 6)
      : schedule(with(draws, std::move(options))),
        run(problem, schedule, {}, options_of(chains), open_backend("cpu", 1)) {}
  static HmcOptions with(std::int64_t draws, HmcOptions options) {
    options.draws = draws;
    options.warmup = 60;
    return options;
  }
  static RunOptions options_of(std::int64_t chains) {
    RunOptions options;
    options.device = "cpu";
    options.threads = 1;
    options.replicas = chains * 1;
    return options;
  }
  Problem problem = posterior_of("eight schools", EightSchools{}, true);
  Hmc schedule;
  kiln::Run run;
};

class MoreDraws : public testing::Test {
 protected:
  /// "resume.draws: ..." or "accepted".
  std::string refusal(Sampling&& longer) const {
    try {
      Checkpoint(file_).restore(longer.run);
    } catch (const Error& error) {
      return error.code() + ": " + error.message();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "checkpoint.kiln";
};

void expect_equal(const Sample& a, const Sample& b) {
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.log_density, b.log_density);
  EXPECT_EQ(a.hamiltonian, b.hamiltonian);
  EXPECT_EQ(a.leapfrogs, b.leapfrogs);
  EXPECT_EQ(a.divergent, b.divergent);
  EXPECT_EQ(a.hamiltonian_squares, b.hamiltonian_squares);
  EXPECT_EQ(a.gradients, b.gradients);
  // Bit for bit: the halves of the moments lie elsewhere in a longer run.
  EXPECT_EQ(a.coordinate_mean, b.coordinate_mean);
  EXPECT_EQ(a.coordinate_variance, b.coordinate_variance);
  EXPECT_EQ(a.chain_mean_variance, b.chain_mean_variance);
}

TEST_F(MoreDraws, AreThoseOfARunThatWasPlannedForThem) {
  const Result expected = Sampling(90).run.advance();
  for (const std::int64_t made : {0, 33, 50}) {  // of the 50 that the first run is planned for
    Sampling first(50), longer(90);
    first.run.advance_to({.sweeps = 60 + std::max<std::int64_t>(made, 1)});
    if (made == 50) first.run.advance();
    write_checkpoint(file_, first.run, {});

    Checkpoint(file_).restore(longer.run);

    expect_equal(*longer.run.advance().sample, *expected.sample);
  }
}

TEST_F(MoreDraws, OfALadder) {
  HmcOptions ladder;
  ladder.rungs = 4;
  const auto chains = 8;  // two ladders of four rungs
  const Result expected = Sampling(40, ladder, chains).run.advance();
  Sampling first(20, ladder, chains), longer(40, ladder, chains);
  first.run.advance();
  write_checkpoint(file_, first.run, {});
  Checkpoint(file_).restore(longer.run);
  expect_equal(*longer.run.advance().sample, *expected.sample);
}

TEST_F(MoreDraws, NeedAllThatWereMade) {
  Sampling first(50);
  first.run.advance();
  write_checkpoint(file_, first.run, {});
  EXPECT_EQ(refusal(Sampling(50)), "accepted");
  EXPECT_EQ(refusal(Sampling(80)), "accepted");
  EXPECT_EQ(refusal(Sampling(40)).substr(0, 23), "checkpoint.other_run: /");

  HmcOptions some;
  some.keep = 2;
  Sampling kept(50, some);
  kept.run.advance();
  write_checkpoint(file_, kept.run, {});
  EXPECT_EQ(refusal(Sampling(80, some)),
            "resume.draws: a run of 80 draws keeps every draw of 2 of 6 chains, and more draws can "
            "follow only where every draw of every chain is kept");
  HmcOptions few;
  few.thin = 2;
  Sampling thinned(50, few);
  write_checkpoint(file_, thinned.run, {});
  EXPECT_EQ(refusal(Sampling(80, few)).substr(0, 72),
            "resume.draws: a run of 80 draws keeps draw 1 of 2 of 6 of 6 chains, and ");

  // Beyond those that were kept.
  Sampling beyond(50);
  beyond.run.advance_to({.sweeps = 60 + 55});
  write_checkpoint(file_, beyond.run, {});
  EXPECT_EQ(refusal(Sampling(80)), "resume.draws: the saved run has 55 draws, and this run 80");
}

// A time limit ends nothing later than the draws do.
TEST_F(MoreDraws, ATimeLimitEndsWithTheDraws) {
  Sampling limited(30);
  const Result result = limited.run.advance_to({.time_limit_s = 100});
  EXPECT_EQ(result.stop, Stop::converged);
  EXPECT_EQ(result.sample->all_draws, 30);
}

}  // namespace
}  // namespace kiln::test::hmc_more_draws_test
