// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Checkpoints whose sums are right and whose content is not. KILN_MUTATIONS is their number.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <random>
#include <string>

#include "kiln/kernels/sweeps/temperature_update.hpp"

#include "../../fuzz/fuzz_checkpoint.hpp"

namespace kiln::test {

void PrintTo(const CheckpointedRun& run, std::ostream* out) {
  *out << run.problem << " by " << run.schedule;
}

namespace {

class CheckpointMutationTest : public testing::TestWithParam<CheckpointedRun> {};

// The file of the documented layout, written by other code than the program's, is the run's own.
TEST_P(CheckpointMutationTest, AcceptsTheStateItself) {
  const CheckpointMutation run(GetParam());
  EXPECT_EQ(run.outcome(checkpoint_file(run.content(), {})), "accepted");
}

TEST_P(CheckpointMutationTest, IsRefusedOrEndsInAnAnswer) {
  const char* const wanted = std::getenv("KILN_MUTATIONS");
  const long all = wanted == nullptr ? 600 : std::strtol(wanted, nullptr, 10);
  const long each = all / static_cast<long>(checkpointed_runs().size()) + 1;
  const CheckpointMutation run(GetParam());
  std::mt19937_64 random(17);
  long refused = 0;
  for (long i = 0; i < each; ++i) refused += run.outcome(run.mutated(random)) == "accepted" ? 0 : 1;
  EXPECT_GT(refused, each / 4);
}

INSTANTIATE_TEST_SUITE_P(Schedules, CheckpointMutationTest, testing::ValuesIn(checkpointed_runs()));

/// One element of one array of a run, and what is said of it.
struct Unsound {
  std::size_t run;
  std::string section;
  std::size_t place;
  std::string bytes;
  std::string refusal;
};

void PrintTo(const Unsound& one, std::ostream* out) { *out << one.section << " " << one.place; }

template <class T>
std::string bytes_of(T value) {
  std::string bytes;
  put(bytes, value);
  return bytes;
}

class UnsoundCheckpointTest : public testing::TestWithParam<Unsound> {};

TEST_P(UnsoundCheckpointTest, IsRefused) {
  const CheckpointMutation run(checkpointed_runs().at(GetParam().run));
  CheckpointContent content = run.content();
  const auto found = std::ranges::find(content, "run/" + GetParam().section,
                                       &CheckpointContent::value_type::first);
  ASSERT_NE(found, content.end());
  ASSERT_LE(GetParam().place + GetParam().bytes.size(), found->second.size());
  found->second.replace(GetParam().place, GetParam().bytes.size(), GetParam().bytes);
  EXPECT_EQ(run.outcome(checkpoint_file(content, {})).substr(0, GetParam().refusal.size()),
            GetParam().refusal);
}

std::string other(const std::string& what) {
  return "checkpoint.other_run: the " + what + " of the checkpoint are none of this run";
}

INSTANTIATE_TEST_SUITE_P(
    Values, UnsoundCheckpointTest,
    testing::Values(
        Unsound{6, "batch.block0.state", 0, bytes_of(std::int8_t{100}), other("states")},
        Unsound{6, "batch.block0.best", 5, bytes_of(std::int8_t{3}), other("best states")},
        Unsound{1, "batch.rung_of", 4, bytes_of(std::int32_t{64}), other("'rung_of'")},
        Unsound{1, "batch.rung_of", 4, bytes_of(std::int32_t{-1}), other("'rung_of'")},
        Unsound{0, "batch.replica_of", 8, bytes_of(std::int32_t{0}), other("'replica_of'")},
        Unsound{0, "run.control", 8, bytes_of(std::uint64_t{1} << 40),
                other("counts of ticks and steps")},
        Unsound{0, "run.telemetry", 16, bytes_of(std::uint64_t{1} << 40),
                other("epochs of telemetry")},
        Unsound{0, "run.telemetry", 48, bytes_of(std::uint64_t{1} << 40),
                other("epochs of telemetry")},  // notes that were taken out
        Unsound{0, "run.control", 72, bytes_of(std::uint64_t{1} << 40),
                other("epochs of telemetry")},  // notes
        Unsound{0, "run.incumbents_found", 0, bytes_of(std::numeric_limits<std::int64_t>::max()),
                other("epochs of telemetry")},
        Unsound{0, "run.incumbents_found", 0, bytes_of(std::int64_t{0}),
                other("epochs of telemetry")},
        Unsound{0, "run.incumbents", 16, bytes_of(std::int64_t{1} << 40),
                other("epochs of telemetry")},  // sweeps of the first
        Unsound{0, "run.incumbents", 24, bytes_of(std::int64_t{-2}),
                other("epochs of telemetry")},  // its replica
        Unsound{1, "scratch.slot_of", 0, bytes_of(std::int32_t{1000000}), other("'slot_of'")},
        Unsound{3, "scratch.history", 0, bytes_of(std::int64_t{513}), other("'history'")},
        Unsound{7, "scratch.color", 0, bytes_of(std::int32_t{5}), other("'color'")},
        Unsound{11, "scratch.parents", 0, bytes_of(std::int32_t{1 << 20}), other("'parents'")},
        Unsound{11, "scratch.parents", 120, bytes_of(std::int32_t{17}), other("'parents'")},
        Unsound{5, "scratch.range", 8, bytes_of(-1.0), other("'range'")},
        Unsound{13, "scratch.annealing.member", 0, bytes_of(std::int32_t{1 << 20}),
                other("'annealing.member'")},
        Unsound{10, "bayesian.studies", 8, bytes_of(1e12), "archive.value: "},
        Unsound{10, "bayesian.history", 0, bytes_of(7.0), "archive.value: "},
        Unsound{0, "scratch.cooling", offsetof(Cooling, stretches), bytes_of(std::uint8_t{255}),
                other("'cooling'")},
        Unsound{9, "scratch.hmc.retreat", 0, bytes_of(std::numeric_limits<std::int32_t>::min()),
                other("'hmc.retreat'")},
        Unsound{9, "scratch.draws.divergences", 0, bytes_of(std::uint64_t{1} << 63),
                other("'draws.divergences'")},
        Unsound{14, "surrogate.batches", 0, bytes_of(std::numeric_limits<std::int64_t>::max()),
                "archive.value: "}));

}  // namespace
}  // namespace kiln::test
