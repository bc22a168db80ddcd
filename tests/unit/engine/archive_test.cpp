// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/archive.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"

namespace kiln::archive_test {
namespace {

using test::complaint;

TEST(Archive, GivesBackWhatWasPut) {
  Archive archive;
  archive.put("reals", std::vector<double>{1.5, -2.5});
  archive.put("none", std::vector<std::int32_t>{});
  archive.put_value("one", std::uint64_t{7});

  EXPECT_EQ(archive.get<double>("reals"), (std::vector<double>{1.5, -2.5}));
  EXPECT_TRUE(archive.get<std::int32_t>("none").empty());
  EXPECT_EQ(archive.get_value<std::uint64_t>("one"), 7u);
  EXPECT_TRUE(archive.has("reals"));
  EXPECT_FALSE(archive.has("other"));
  EXPECT_EQ(archive.sections().size(), 3u);
}

TEST(Archive, ReplacesASectionOfTheSameName) {
  Archive archive;
  archive.put("x", std::vector<double>{1, 2, 3});
  archive.put("x", std::vector<double>{4});
  EXPECT_EQ(archive.get<double>("x"), std::vector<double>{4});
}

// Wherever the earlier one lies.
TEST(Archive, ReplacesASectionOnTheDeviceAndOneInHostMemory) {
  const auto queue = test::cpu_queue();
  DeviceArray<double> array(*queue, std::vector<double>{1, 2});
  Archive archive(*queue);
  archive.put("x", array);
  archive.put("x", std::vector<double>{3, 4});
  EXPECT_EQ(archive.get<double>("x"), (std::vector<double>{3, 4}));
  archive.restore("x", array);
  EXPECT_EQ(array.download(), (std::vector<double>{3, 4}));

  array.upload({5, 6});
  archive.put("x", array);
  EXPECT_EQ(archive.sections().count("x"), 0u);
  array.upload({0, 0});
  archive.restore("x", array);
  EXPECT_EQ(array.download(), (std::vector<double>{5, 6}));
}

TEST(Archive, RefusesWhatIsNotThere) {
  Archive archive;
  archive.put("x", std::vector<std::uint8_t>{1, 2, 3});
  EXPECT_EQ(complaint([&] { archive.get<double>("y"); }),
            "archive.missing: the archive has no section 'y'");
  EXPECT_EQ(complaint([&] { archive.get<std::uint16_t>("x"); }),
            "archive.size: section 'x' of the archive has the wrong size");
  EXPECT_EQ(complaint([&] { archive.get_value<std::uint8_t>("x"); }),
            "archive.size: section 'x' of the archive has the wrong size");
}

TEST(Archive, RestoresArraysOfTheSavedSizeOnly) {
  const auto queue = test::cpu_queue();
  Archive archive;
  archive.put("x", std::vector<double>{1, 2, 3});
  DeviceArray<double> fitting(*queue, 3), other(*queue, std::vector<double>{8, 9});

  archive.restore("x", fitting);

  EXPECT_EQ(fitting.download(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(complaint([&] { archive.restore("x", other); }),
            "archive.size: section 'x' of the archive has the wrong size");
  EXPECT_EQ(other.download(), (std::vector<double>{8, 9}));
}

TEST(Archive, KeepsDeviceArraysOnTheDevice) {
  const auto queue = test::cpu_queue();
  DeviceArray<double> array(*queue, std::vector<double>{1, 2, 3});
  DeviceArray<double> none, other(*queue, std::vector<double>{8, 9});
  Archive archive(*queue);
  const Counters before = queue->counters();
  archive.put("x", array);
  archive.put("none", none);
  archive.put("host", std::vector<int>{5});
  EXPECT_EQ((queue->counters() - before).copies, 0u) << "nothing passes the host";
  EXPECT_TRUE(archive.has("x"));
  EXPECT_EQ(archive.sections().count("x"), 0u);

  array.upload({7, 7, 7});
  archive.restore("x", array);
  archive.restore("none", none);
  EXPECT_EQ(array.download(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(archive.get<int>("host"), std::vector<int>{5});
  EXPECT_EQ(complaint([&] { archive.restore("x", other); }),
            "archive.size: section 'x' of the archive has the wrong size");
  EXPECT_EQ(complaint([&] { archive.restore("y", other); }),
            "archive.missing: the archive has no section 'y'");
}

// More than any machine has: the archive asks for it on the device first.
TEST(Archive, LeavesToTheHostWhatTheDeviceHasNoRoomFor) {
  const auto queue = test::cpu_queue();
  Archive archive(*queue);
  const double one = 1;
  EXPECT_FALSE(archive.keep("x", &one, std::size_t{1} << 60));
  EXPECT_FALSE(archive.has("x"));
  EXPECT_TRUE(archive.keep("x", &one, sizeof one));
}

RunOptions options(std::int64_t replicas) {
  return {.device = "cpu", .threads = 1, .replicas = replicas};
}

// The CPU, with as much free memory as a test says.
class NarrowCpu final : public Backend {
 public:
  DeviceInfo info() const override {
    DeviceInfo info = cpu_->info();
    info.memory_free = memory_free;
    return info;
  }
  std::unique_ptr<Queue> make_queue() override { return cpu_->make_queue(); }
  std::uint64_t memory_free = 0;  // 0: unknown

 private:
  std::shared_ptr<Backend> cpu_ = open_backend("cpu", 1).backend;
};

// A run of 64 replicas by planes, and an archive of one by words.
struct OtherNaming {
  explicit OtherNaming(std::shared_ptr<Backend> backend)
      : run(problem, schedule, {.sweeps = 64}, options(64), {std::move(backend), {}}) {
    SimulatedAnnealing other;
    RunOptions chosen = options(64);
    chosen.draw_naming = DrawNaming::words;
    kiln::Run(problem, other, {.sweeps = 64}, chosen, open_backend("cpu", 1)).save(by_words);
  }
  Problem problem = make_maxcut(test::random_graph(90, 1, 3), "sparse");
  SimulatedAnnealing schedule;
  Archive by_words;
  kiln::Run run;
};

TEST(ArchiveOfARun, IsRefusedFromWhatAdvanceCalls) {
  OtherNaming bench(open_backend("cpu", 1).backend);
  std::string refused;
  const Observers load{[&](const ReportPoint&) {
    refused = complaint([&] { bench.run.load(bench.by_words); });
    return Next::go_on;
  }};
  EXPECT_EQ(bench.run.advance_to({.sweeps = 16}, load).work.sweeps, 16);
  EXPECT_EQ(refused, "run.busy: load() was called by a function that advance() calls");
  EXPECT_EQ(bench.run.advance().work.sweeps, 64);
  EXPECT_NO_THROW(bench.run.load(bench.by_words)) << "between two calls";
}

// There is memory neither for the other naming nor for the former one.
TEST(ArchiveOfARun, LeavesALostRunThatSaysSo) {
  const auto narrow = std::make_shared<NarrowCpu>();
  OtherNaming bench(narrow);
  narrow->memory_free = 1000;
  EXPECT_ANY_THROW(bench.run.load(bench.by_words));
  narrow->memory_free = 0;
  const std::string lost =
      "run.broken: the run was lost: load() of a run of another draw naming failed";
  EXPECT_EQ(complaint([&] { bench.run.draw_naming(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.batch(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.queue(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.problem(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.budget(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.backend(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.seconds_at(0); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.core(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.advance(); }), lost);
  EXPECT_EQ(complaint([&] { bench.run.load(bench.by_words); }), lost);
}

}  // namespace
}  // namespace kiln::archive_test
