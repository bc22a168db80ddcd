// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/checkpoint.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/registry.hpp"

#include "temporary_folder.hpp"
#include "whole_run.hpp"

namespace kiln::test {

using Texts = std::map<std::string, std::string>;

/// Something that a schedule must refuse, and what the message must say.
struct Refused {
  Texts options;
  std::vector<std::string> fragments;
};
struct Unsuitable {
  Problem problem;
  std::vector<std::string> fragments;  ///< the ability and the name of the objective
};

/// The tests that every schedule passes, on the CPU backend. `Traits` has
/// - static ScheduleEntry entry(): the schedule as it is registered;
/// - static Problem problem(): a small one that suits it, hard enough that seeds differ;
/// - static std::vector<Refused> refused(): combinations of options with all their complaints;
/// - static std::vector<Unsuitable> unsuitable(): problems that it must refuse;
/// - static std::vector<Texts> variants(): options that are worth all the tests, {} among them;
/// - static constexpr std::int64_t sweeps: of half a run, a multiple of every tick;
/// - static constexpr bool host_paced = true, where it decides on the host (Needs): its ticks copy
///   and wait, and it accepts no moves. May be left out;
/// - static constexpr bool moves = false, where it draws new states instead. May be left out.
///
///     INSTANTIATE_TYPED_TEST_SUITE_P(MySchedule, ScheduleSuite, MyTraits);
template <class Traits>
class ScheduleSuite : public testing::Test {
 protected:
  static RunOptions options(std::uint64_t seed, int threads = 1) {
    RunOptions options;
    options.device = "cpu";
    options.threads = threads;
    options.replicas = 48;
    options.seed = seed;
    return options;
  }
  static constexpr bool host_paced() {
    if constexpr (requires { Traits::host_paced; }) return Traits::host_paced;
    return false;
  }
  static constexpr bool accepts_moves() {
    if constexpr (requires { Traits::moves; }) return Traits::moves;
    return !host_paced();
  }
  static Budget half() { return {.sweeps = Traits::sweeps}; }
  static Budget whole() { return {.sweeps = 2 * Traits::sweeps}; }

  static Result run(const Texts& texts, const RunOptions& options) {
    const std::unique_ptr<Schedule> schedule = Traits::entry().make(texts);
    return Engine(options).run(Traits::problem(), *schedule, whole());
  }

  static void expect_same(const Result& a, const Result& b) {
    EXPECT_EQ(a.objective, b.objective);
    EXPECT_EQ(a.energy, b.energy);
    EXPECT_EQ(a.solution, b.solution);
    EXPECT_EQ(a.best_replica, b.best_replica);
    EXPECT_EQ(a.stop, b.stop);
    EXPECT_EQ(a.work.sweeps, b.work.sweeps);
    EXPECT_EQ(a.work.replicas, b.work.replicas);
    EXPECT_EQ(a.work.attempts, b.work.attempts);
    EXPECT_EQ(a.work.ticks, b.work.ticks);
    EXPECT_EQ(a.work.accepted, b.work.accepted);
    EXPECT_EQ(a.work.not_finite, b.work.not_finite);
    EXPECT_EQ(a.parameters, b.parameters);
  }

  /// One run does the first half and is kept, another one gets what was kept and does the second
  /// half: together they are an uninterrupted run, in every replica and not only in the best.
  template <class Keep, class Restore>
  static void expect_continues(const Keep& keep, const Restore& restore) {
    const Problem problem = Traits::problem();
    for (const Texts& texts : Traits::variants()) {
      SCOPED_TRACE(name_of(texts));
      const OpenedBackend cpu = open_backend("cpu", 1);
      const auto a = Traits::entry().make(texts), b = Traits::entry().make(texts),
                 c = Traits::entry().make(texts);
      kiln::Run uninterrupted(problem, *a, whole(), options(5), cpu);
      const Result expected = uninterrupted.advance();
      {
        kiln::Run first(problem, *b, whole(), options(5), cpu);
        EXPECT_EQ(first.advance_to(half()).work.sweeps, Traits::sweeps);
        keep(first);
      }
      kiln::Run second(problem, *c, whole(), options(5), cpu);
      restore(second);
      const Result continued = second.advance();

      expect_same(continued, expected);
      expect_same_numbers(continued, expected);
      Archive one, other;
      uninterrupted.save(one);
      second.save(other);
      expect_same_archives(one, other);
    }
  }

  // Some sweep limits below the whole, rising.
  static std::set<std::int64_t> cuts(std::mt19937& random) {
    std::set<std::int64_t> limits;
    for (int i = 0; i < 5; ++i) {
      limits.insert(1 + static_cast<std::int64_t>(random() % (2 * Traits::sweeps - 1)));
    }
    return limits;
  }

  static std::string name_of(const Texts& texts) {
    std::string name = "options {";
    for (const auto& [key, value] : texts) name += " " + key + "=" + value;
    return name + " }";
  }

  static void expect_refused(const Refused& refused) {
    try {
      Traits::entry().make(refused.options);
      ADD_FAILURE() << name_of(refused.options) << " was accepted";
    } catch (const InvalidArgument& error) {
      for (const std::string& fragment : refused.fragments) {
        EXPECT_NE(error.message().find(fragment), std::string::npos)
            << error.message() << "\n  does not say: " << fragment;
      }
    }
  }
};
TYPED_TEST_SUITE_P(ScheduleSuite);

TYPED_TEST_P(ScheduleSuite, RejectsBadOptionsWithAllComplaints) {
  Refused nonsense;
  nonsense.options["no-such-option"] = "1";
  nonsense.fragments.push_back("'no-such-option' is not a parameter of ");
  for (const FieldInfo& field : TypeParam::entry().fields) {
    nonsense.options[field.name] = "nonsense";
    nonsense.fragments.push_back(field.name + ": 'nonsense' is not ");
  }
  this->expect_refused(nonsense);
  for (const Refused& refused : TypeParam::refused()) this->expect_refused(refused);
}

TYPED_TEST_P(ScheduleSuite, ShowsItsParametersAsItReadsThem) {
  for (const Texts& texts : TypeParam::variants()) {
    const Texts shown = TypeParam::entry().make(texts)->parameters();
    EXPECT_EQ(TypeParam::entry().make(shown)->parameters(), shown) << this->name_of(texts);
    for (const FieldInfo& field : TypeParam::entry().fields)
      EXPECT_EQ(shown.contains(field.name), exists_in(shown, field)) << field.name;
  }
}

TYPED_TEST_P(ScheduleSuite, IsDeterministicBySeed) {
  for (const Texts& texts : TypeParam::variants()) {
    SCOPED_TRACE(this->name_of(texts));
    const Result first = this->run(texts, this->options(1));

    this->expect_same(first, this->run(texts, this->options(1)));

    const Result other = this->run(texts, this->options(2));
    if (!this->accepts_moves()) {
      EXPECT_NE(first.solution, other.solution) << "another seed takes another path";
    } else {
      EXPECT_NE(first.work.accepted, other.work.accepted) << "another seed takes another path";
    }
    EXPECT_TRUE(first.verified);
    EXPECT_TRUE(other.verified);
    EXPECT_EQ(first.work.sweeps, 2 * TypeParam::sweeps);
  }
}

TYPED_TEST_P(ScheduleSuite, DoesNotDependOnThreads) {
  for (const Texts& texts : TypeParam::variants()) {
    SCOPED_TRACE(this->name_of(texts));
    this->expect_same(this->run(texts, this->options(3, 1)), this->run(texts, this->options(3, 2)));
  }
}

TYPED_TEST_P(ScheduleSuite, AnObjectServesOneRunAfterTheOther) {
  const std::unique_ptr<Schedule> schedule = TypeParam::entry().make({});
  const Problem problem = TypeParam::problem();
  Engine engine(this->options(4));
  const Result first = engine.run(problem, *schedule, this->whole());
  this->expect_same(first, engine.run(problem, *schedule, this->whole()));
}

TYPED_TEST_P(ScheduleSuite, ResumeEqualsUninterrupted) {
  Archive archive;
  this->expect_continues([&](kiln::Run& first) { first.save(archive); },
                         [&](kiln::Run& second) { second.load(archive); });
}

TYPED_TEST_P(ScheduleSuite, ContinuesFromACheckpoint) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "checkpoint.kiln";
  this->expect_continues([&](kiln::Run& first) { write_checkpoint(file, first); },
                         [&](kiln::Run& second) { Checkpoint(file).restore(second); });
}

// Sweep limits in the middle of ticks, interruptions with a descent behind them, and archives.
TYPED_TEST_P(ScheduleSuite, CutsAnywhereEqualUninterrupted) {
  const Problem problem = TypeParam::problem();
  std::mt19937 random(11);
  for (const Texts& texts : TypeParam::variants()) {
    SCOPED_TRACE(this->name_of(texts));
    const RunOptions options = this->options(8);
    const OpenedBackend cpu = open_backend("cpu", 1);
    auto whole = TypeParam::entry().make(texts), schedule = TypeParam::entry().make(texts);
    kiln::Run uninterrupted(problem, *whole, this->whole(), options, cpu);
    const Result expected = uninterrupted.advance();

    auto run = std::make_unique<kiln::Run>(problem, *schedule, this->whole(), options, cpu);
    for (const std::int64_t limit : this->cuts(random)) {
      EXPECT_GE(run->advance_to({.sweeps = limit}).work.sweeps, limit);
      if (limit % 2 == 0) {
        std::stop_source stop;
        stop.request_stop();
        run->advance({}, stop.get_token());
      }
      if (limit % 3 == 0) continue;
      Archive archive;
      run->save(archive);
      run.reset();
      schedule = TypeParam::entry().make(texts);
      run = std::make_unique<kiln::Run>(problem, *schedule, this->whole(), options, cpu);
      run->load(archive);
    }
    this->expect_same(run->advance(), expected);

    Archive one, other;
    uninterrupted.save(one);
    run->save(other);
    // The gate is a copy of the limits that the last tick had.
    expect_same_archives(one, other, {"scratch.progress.gate"});
  }
}

TYPED_TEST_P(ScheduleSuite, EnqueuesTicksWithoutCopiesWaitsOrAllocations) {
  for (const Texts& texts : TypeParam::variants()) {
    const Counters ticks = this->run(texts, this->options(6)).work.in_ticks;
    EXPECT_GT(ticks.launches, 0u);
    if (this->host_paced()) continue;
    EXPECT_EQ(ticks.allocations, 0u);
    EXPECT_EQ(ticks.copies, 0u);
    EXPECT_EQ(ticks.synchronizations, 0u);
  }
}

TYPED_TEST_P(ScheduleSuite, RefusesUnsuitableProblems) {
  for (const Unsuitable& unsuitable : TypeParam::unsuitable()) {
    const std::unique_ptr<Schedule> schedule = TypeParam::entry().make({});
    try {
      Engine(this->options(7)).run(unsuitable.problem, *schedule, this->half());
      ADD_FAILURE() << unsuitable.problem.identity.name << " was accepted";
    } catch (const InvalidArgument& error) {
      for (const std::string& fragment : unsuitable.fragments) {
        EXPECT_NE(error.message().find(fragment), std::string::npos)
            << error.message() << "\n  does not say: " << fragment;
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(ScheduleSuite, RejectsBadOptionsWithAllComplaints,
                            ShowsItsParametersAsItReadsThem, IsDeterministicBySeed,
                            DoesNotDependOnThreads, AnObjectServesOneRunAfterTheOther,
                            ResumeEqualsUninterrupted, ContinuesFromACheckpoint,
                            CutsAnywhereEqualUninterrupted,
                            EnqueuesTicksWithoutCopiesWaitsOrAllocations,
                            RefusesUnsuitableProblems);

}  // namespace kiln::test
