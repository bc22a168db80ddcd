// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/checkpoint.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kiln/files/whole_file.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "full_disk.hpp"
#include "temporary_folder.hpp"
#include "whole_run.hpp"

namespace kiln::checkpoint_test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_to(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class CheckpointTest : public testing::Test {
 protected:
  static Problem grid(double weight = 1) {
    Graph graph{36, {}};
    for (std::int32_t i = 0; i < 36; ++i) {
      const double sign = i % 3 == 0 ? -weight : weight;
      if (i % 6 != 5) graph.edges.push_back({i, i + 1, sign});
      if (i < 30) graph.edges.push_back({i, i + 6, 1});
    }
    return make_maxcut(graph, "grid");
  }
  /// A run of a grid, by a schedule of its own.
  struct Annealing {
    explicit Annealing(Problem of = grid(), std::uint64_t seed = 1, std::int64_t replicas = 40,
                       SimulatedAnnealingOptions options = {})
        : problem(std::move(of)),
          schedule(options),
          run(problem, schedule, {.sweeps = 400}, options_of(seed, replicas),
              open_backend("cpu", 1)) {}
    static RunOptions options_of(std::uint64_t seed, std::int64_t replicas) {
      RunOptions options;
      options.device = "cpu";
      options.threads = 1;
      options.seed = seed;
      options.replicas = replicas;
      return options;
    }
    Problem problem;
    SimulatedAnnealing schedule;
    kiln::Run run;
  };
  /// So many blocks that a thread writes most of them.
  static Problem large_ring() {
    Graph ring{20000, {}};
    for (std::int32_t i = 0; i < 20000; ++i) ring.edges.push_back({i, (i + 1) % 20000, 1});
    return make_maxcut(ring, "ring");
  }
  /// What is refused when a run is to continue from file_: the code and the message.
  std::string refusal(Annealing&& other) const {
    try {
      Checkpoint(file_).restore(other.run);
    } catch (const CheckpointError& error) {
      return error.code() + ": " + error.message();
    }
    return "accepted";
  }

  test::TemporaryFolder own_;
  fs::path folder_ = own_.path(), file_ = folder_ / "checkpoint.kiln";
};

TEST_F(CheckpointTest, ContinuesInAnotherRun) {
  Annealing whole;
  const Result expected = whole.run.advance();
  Annealing first, second;
  first.run.advance_to({.sweeps = 160});

  const CheckpointSize size = write_checkpoint(file_, first.run, {{"color", "blue\n"}, {"", ""}});

  EXPECT_EQ(size.file_bytes, fs::file_size(file_));
  EXPECT_GT(size.state_bytes, 36u * 40 / 8);
  const Checkpoint saved(file_);
  EXPECT_EQ(saved.steps(), 160u);
  EXPECT_EQ(saved.field("seed"), "1");
  EXPECT_EQ(saved.field("problem"), "grid");
  EXPECT_EQ(saved.notes().at("color"), "blue\n");
  saved.restore(second.run);
  const Result result = second.run.advance();
  EXPECT_EQ(result.solution, expected.solution);
  EXPECT_EQ(result.work.accepted, expected.work.accepted);
  EXPECT_GE(result.time.run_s, saved.run_s());
  EXPECT_GT(saved.run_s(), 0);
  Archive one, other;
  whole.run.save(one);
  second.run.save(other);
  test::expect_same_archives(one, other);  // but for times of incumbents
}

// Once the device has stopped at a value, no tick follows in the run that continues either.
TEST_F(CheckpointTest, StopsWhereTheRunHadReachedItsTarget) {
  Annealing first, second;
  const Result reached = first.run.advance_to({.target = 20});
  write_checkpoint(file_, first.run);
  Checkpoint(file_).restore(second.run);

  const Result again = second.run.advance_to({.target = 20});

  EXPECT_EQ(reached.stop, Stop::target_reached);
  EXPECT_EQ(again.stop, Stop::target_reached);
  EXPECT_EQ(again.work.sweeps, reached.work.sweeps);
}

TEST_F(CheckpointTest, OfAnotherRunIsRefusedFieldByField) {
  Annealing first;
  write_checkpoint(file_, first.run);
  const std::string where = "checkpoint.other_run: " + file_.string() +
                            ": the run is another one than that of the checkpoint";
  EXPECT_EQ(refusal(Annealing(grid(), 2)), where + "\n  'seed' is 2 and was 1");
  EXPECT_EQ(refusal(Annealing(grid(), 1, 41)), where + "\n  'replicas' is 41 and was 40");
  SimulatedAnnealingOptions hot;
  hot.beta_min = 0.25;
  EXPECT_NE(refusal(Annealing(grid(), 1, 40, hot)).find("\n  '-p beta_min' is 0.25 and was "),
            std::string::npos);
  EXPECT_EQ(refusal(Annealing()), "accepted");

  // Names, sizes and options are equal, and weights are not.
  SimulatedAnnealingOptions fixed;
  fixed.beta_min = 0.25;
  fixed.beta_max = 2;
  Annealing light(grid(), 1, 40, fixed);
  write_checkpoint(file_, light.run);
  EXPECT_EQ(refusal(Annealing(grid(3), 1, 40, fixed)),
            "checkpoint.other_run: the energies of the states of the checkpoint are none of this "
            "run");
  EXPECT_EQ(refusal(Annealing(grid(), 1, 40, fixed)), "accepted");
}

TEST_F(CheckpointTest, CutAtAnyByteIsRefused) {
  Annealing first;
  first.run.advance_to({.sweeps = 80});
  write_checkpoint(file_, first.run, {{"note", "of the program"}});
  const std::string whole = content_of(file_);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_to(file_, whole.substr(0, size));
    EXPECT_THROW(Checkpoint{file_}, CheckpointError) << size;
  }
  write_to(file_, whole + '\0');
  EXPECT_THROW(Checkpoint{file_}, CheckpointError);
  write_to(file_, whole);
  EXPECT_NO_THROW(Checkpoint{file_});
}

TEST_F(CheckpointTest, WithAnyBitAlteredIsRefused) {
  Annealing first;
  first.run.advance_to({.sweeps = 80});
  write_checkpoint(file_, first.run, {{"note", "of the program"}});
  const std::string whole = content_of(file_);
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string altered = whole;
    altered[byte] = static_cast<char>(altered[byte] ^ (1 << (byte % 8)));
    write_to(file_, altered);
    EXPECT_THROW(Checkpoint{file_}, CheckpointError) << byte;
  }
}

// The sums of these are right: sizes that the bytes do not bear out cost no memory.
TEST_F(CheckpointTest, SaysTheByteThatIsWrong) {
  write_to(file_, "something else, and long enough");
  try {
    Checkpoint{file_};
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_EQ(error.message(), file_.string() + ": byte 0: this is no checkpoint of Kiln");
  }
  Annealing first;
  write_checkpoint(file_, first.run);
  std::string newer = content_of(file_);
  newer[8] = 7;
  write_to(file_, newer);
  try {
    Checkpoint{file_};
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_EQ(error.code(), "checkpoint.format");
    EXPECT_EQ(error.message(),
              file_.string() + ": byte 8: the format has version 7, and this Kiln reads version 1");
  }
  EXPECT_THROW(find_checkpoint(folder_ / "none"), IoError);
}

TEST_F(CheckpointTest, TheOneBeforeStepsInForADamagedOne) {
  Annealing first;
  first.run.advance_to({.sweeps = 80});
  write_checkpoint(file_, first.run);
  first.run.advance_to({.sweeps = 160});
  write_checkpoint(file_, first.run);
  EXPECT_EQ(find_checkpoint(file_).checkpoint.steps(), 160u);
  EXPECT_EQ(Checkpoint(previous_of(file_)).steps(), 80u);

  const std::string whole = content_of(file_);
  write_to(file_, whole.substr(0, whole.size() / 2));
  const FoundCheckpoint found = find_checkpoint(file_);
  EXPECT_EQ(found.checkpoint.steps(), 80u);
  EXPECT_NE(found.passed_over.find("the file ends here"), std::string::npos) << found.passed_over;

  write_to(previous_of(file_), "");
  EXPECT_THROW(find_checkpoint(file_), CheckpointError);
  fs::remove(file_);
  fs::remove(previous_of(file_));
  EXPECT_EQ(fs::is_empty(folder_), true) << "nothing else was left";
}

TEST_F(CheckpointTest, KeepsTheOldOneWhereTheDiskIsFull) {
  Annealing first;
  write_checkpoint(file_, first.run);
  const std::string before = content_of(file_);
  {
    const test::FullDisk full(before.size() / 2);
    EXPECT_THROW(write_checkpoint(file_, first.run), IoError);
  }
  EXPECT_EQ(content_of(file_), before);
  EXPECT_FALSE(fs::exists(previous_of(file_)));
}

TEST_F(CheckpointTest, OfAStateOfManyBlocks) {
  Annealing first(large_ring(), 1, 2000), second(large_ring(), 1, 2000);
  first.run.advance_to({.sweeps = 8});
  const CheckpointSize size = write_checkpoint(file_, first.run);
  EXPECT_GT(size.state_bytes, 9u << 20);
  EXPECT_EQ(size.file_bytes, fs::file_size(file_));
  EXPECT_LT(size.file_bytes, size.state_bytes + size.state_bytes / 1000) << "noise does not grow";

  Checkpoint(file_).restore(second.run);

  Archive one, other;
  first.run.save(one);
  second.run.save(other);
  EXPECT_EQ(one.sections(), other.sections());
}

TEST_F(CheckpointTest, OfEqualSpinsIsSmall) {
  Problem ring = large_ring();
  ring.start.states = {State{std::vector<std::int8_t>(20000, 1)}};
  Annealing first(std::move(ring), 1, 2000);
  const CheckpointSize size = write_checkpoint(file_, first.run);
  EXPECT_GT(size.state_bytes, 9u << 20);
  EXPECT_LT(size.file_bytes, size.state_bytes / 20);
}

TEST_F(CheckpointTest, PendingHasTheStateOfItsBeginAndTheNotesOfItsEnd) {
  Annealing first(large_ring(), 1, 2000), second(large_ring(), 1, 2000);
  first.run.advance_to({.sweeps = 8});
  Archive saved;
  first.run.save(saved);
  PendingCheckpoint pending(file_, first.run);
  first.run.advance_to({.sweeps = 24});
  EXPECT_TRUE(fs::is_empty(folder_));

  pending.put_in_place({{"finished", "sweep_limit"}});

  const Checkpoint checkpoint(file_);
  EXPECT_EQ(checkpoint.notes().at("finished"), "sweep_limit");
  EXPECT_EQ(checkpoint.steps(), 8u);
  checkpoint.restore(second.run);
  Archive restored;
  second.run.save(restored);
  EXPECT_EQ(restored.sections(), saved.sections());
}

TEST_F(CheckpointTest, PendingThatIsDroppedLeavesTheOldOne) {
  Annealing first(large_ring(), 1, 2000);
  write_checkpoint(file_, first.run);
  first.run.advance_to({.sweeps = 8});
  { const PendingCheckpoint dropped(file_, first.run); }
  EXPECT_EQ(Checkpoint(file_).steps(), 0u);
  fs::remove(file_);
  EXPECT_TRUE(fs::is_empty(folder_));
}

// What fails in the thread is told by the caller's next call, and nothing of it stays.
TEST_F(CheckpointTest, OfManyBlocksIsNotWrittenOnAFullDisk) {
  Annealing first(large_ring(), 1, 2000);
  first.run.advance_to({.sweeps = 8});
  const auto write = [&](rlim_t bytes) {
    const test::FullDisk full(bytes);
    write_checkpoint(file_, first.run);
  };
  for (const rlim_t mebibytes : {rlim_t{2}, rlim_t{6}, rlim_t{8}}) {
    EXPECT_THROW(write(mebibytes << 20), IoError) << mebibytes << " MiB";
    EXPECT_TRUE(fs::is_empty(folder_)) << mebibytes << " MiB";
  }
  write(rlim_t{64} << 20);
  EXPECT_EQ(Checkpoint(file_).steps(), 8u);
}

}  // namespace
}  // namespace kiln::checkpoint_test
