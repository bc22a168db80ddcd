// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/memory/memory_map.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "kiln/engine.hpp"
#include "kiln/memory/memory_account.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "models/small_models.hpp"
#include "schedule_example.hpp"

namespace kiln {
namespace {

Problem qubo() { return make_ising(test::random_ising(64, 6, 3), "spins"); }

RunOptions on_cpu() { return {.device = "cpu", .threads = 2, .replicas = 256}; }

Result anneal(Engine& engine, const Problem& problem, const Observers& observers = {}) {
  const auto schedule = builtin_registry().schedule("simulated-annealing").make({});
  return engine.run(problem, *schedule, {.sweeps = 50}, observers);
}

TEST(MemoryAccount, AddsUpByOwner) {
  MemoryAccount account;
  char a = 0, b = 0, c = 0;
  account.take(&a, 1000, MemoryOwner::batch);
  account.take(&b, 257, MemoryOwner::schedule);
  account.give(&a);
  account.take(&c, 256, MemoryOwner::schedule);
  account.take(&a, 100000, MemoryOwner::copies);
  account.give(&a);
  account.give(&a);  // was not taken
  account.take_pinned(64);
  account.give_pinned(64);
  const MemoryMap map = account.map();
  EXPECT_EQ(map.peak_bytes, 1024u + 512u) << "copies are no part of it";
  EXPECT_EQ(map.bytes, 512u + 256u);
  EXPECT_EQ(map.now[MemoryOwner::schedule], 768u);
  EXPECT_EQ(map.peak[MemoryOwner::schedule], 768u);
  EXPECT_EQ(map.peak[MemoryOwner::batch], 1024u);
  EXPECT_EQ(map.peak[MemoryOwner::copies], 100096u);
  EXPECT_EQ(account.at_peak()[MemoryOwner::batch], 1024u);
  EXPECT_EQ(account.at_peak()[MemoryOwner::schedule], 512u);
  EXPECT_EQ(map.pinned_bytes, 64u);
  EXPECT_EQ(map.arrays, 4u);
  ASSERT_EQ(map.largest.size(), 2u);
  EXPECT_EQ(map.largest[0].bytes, 512u);
}

// The states of 256 replicas of 64 spins, a bit each, now and at their best, and what a replica has
// besides: more than the bits, less than a byte for each.
TEST(MemoryMap, GivesEveryByteOfARunAnOwner) {
  Engine engine(on_cpu());
  const Result result = anneal(engine, qubo());
  const MemoryMap& map = result.memory;
  const std::uint64_t bits = 2 * 256 * 64 / 8;
  EXPECT_GT(map.now[MemoryOwner::batch], bits);
  EXPECT_LT(map.now[MemoryOwner::batch], bits + 256 * 64);
  EXPECT_EQ(map.now[MemoryOwner::problem], 0u) << "sweeps of the CPU read the model itself";
  EXPECT_GT(map.now[MemoryOwner::schedule], 0u);
  EXPECT_EQ(map.now.sum(), map.bytes);
  EXPECT_LE(map.peak_bytes, map.planned_bytes);
  EXPECT_LE(map.planned_bytes, map.peak_bytes + map.peak_bytes / 100 + (2u << 20));
  EXPECT_LE(map.peak_bytes, map.arena.reserved_bytes);
  EXPECT_EQ(map.planned.sum() - map.planned[MemoryOwner::copies], map.planned_bytes);
}

TEST(EngineMemory, IsKeptForTheNextRun) {
  Engine engine(on_cpu());
  const Problem problem = qubo();
  EXPECT_EQ(engine.idle_bytes(), 0u);
  const Result first = anneal(engine, problem);
  EXPECT_GT(first.memory.arena.driver_calls, 0u);
  EXPECT_GT(engine.idle_bytes(), 0u);
  for (int run = 0; run < 20; ++run) {
    const Result next = anneal(engine, problem);
    EXPECT_EQ(next.memory.arena.driver_calls, 0u) << "run " << run;
    EXPECT_DOUBLE_EQ(next.memory.reuse(), 1);
    EXPECT_EQ(next.objective, first.objective);
    EXPECT_EQ(next.memory.peak_bytes, first.memory.peak_bytes);
  }
  engine.trim();
  EXPECT_EQ(engine.idle_bytes(), 0u);
  EXPECT_GT(anneal(engine, problem).memory.arena.driver_calls, 0u);
}

/// The CPU as a device whose ticks are not given up, and which counts how often it is asked for its
/// free memory.
class AskedDevice final : public Backend {
 public:
  DeviceInfo info() const override {
    ++asked;
    return as_device(cpu_->info());
  }
  DeviceInfo constants() const override { return as_device(cpu_->constants()); }
  std::unique_ptr<Queue> make_queue() override { return cpu_->make_queue(); }
  std::uint64_t idle_bytes() const override { return cpu_->idle_bytes(); }
  bool has_idle(std::uint64_t piece, std::uint64_t all) const override {
    return cpu_->has_idle(piece, all);
  }
  void trim() noexcept override { cpu_->trim(); }

  mutable int asked = 0;

 private:
  static DeviceInfo as_device(DeviceInfo info) {
    info.name = "device";
    info.gpu = true;
    return info;
  }
  std::shared_ptr<Backend> cpu_ = open_backend("cpu", 2).backend;
};

TEST(EngineMemory, IsAskedForOnceAndAgainForALargerRun) {
  const auto device = std::make_shared<AskedDevice>();
  const auto asked_by = [&](std::int32_t variables) {
    const int before = device->asked;
    const auto schedule = builtin_registry().schedule("simulated-annealing").make({});
    const Problem problem = make_ising(test::random_ising(variables, 6, 3), "spins");
    kiln::Run(problem, *schedule, {.sweeps = 50}, on_cpu(), {device, {}}).advance();
    return device->asked - before;
  };
  EXPECT_EQ(asked_by(64), 1);
  for (int run = 0; run < 5; ++run) EXPECT_EQ(asked_by(64), 0);
  EXPECT_EQ(asked_by(4000), 1);
  EXPECT_EQ(asked_by(4000), 0);
  EXPECT_EQ(asked_by(64), 0);
  device->trim();
  EXPECT_EQ(asked_by(64), 1);
}

TEST(EngineMemory, IsAnotherForARunAtTheSameTime) {
  Engine engine(on_cpu());
  const Problem problem = qubo();
  std::optional<Result> inner;
  const Result outer = anneal(engine, problem, {[&](const ReportPoint&) {
                                if (!inner) inner = anneal(engine, problem);
                                return Next::go_on;
                              }});
  ASSERT_TRUE(inner);
  EXPECT_GT(inner->memory.arena.driver_calls, 0u);
  EXPECT_EQ(inner->objective, outer.objective);
  EXPECT_EQ(inner->solution, outer.solution);
  const Result later = anneal(engine, problem);
  EXPECT_EQ(later.memory.arena.driver_calls, 0u);
}

TEST(EngineMemory, IsCleanAfterARunThatFailed) {
  Engine engine(on_cpu());
  const Problem problem = qubo();
  const Result whole = anneal(engine, problem);
  const std::uint64_t kept = engine.idle_bytes();
  const Observers thrower{
      [](const ReportPoint&) -> Next { throw std::runtime_error("the user's"); }};
  const Result failed = anneal(engine, problem, thrower);
  EXPECT_EQ(failed.stop, Stop::failed);
  EXPECT_THROW(std::rethrow_exception(failed.failure), std::runtime_error);
  EXPECT_EQ(engine.idle_bytes(), kept) << "all of its arrays are back";
  const Result next = anneal(engine, problem);
  EXPECT_EQ(next.memory.arena.driver_calls, 0u);
  EXPECT_EQ(next.solution, whole.solution);
}

TEST(EngineMemory, GrowsForALargerRunInOnePiece) {
  Engine engine(on_cpu());
  anneal(engine, qubo());
  const Problem large = make_ising(test::random_ising(4000, 6, 3), "large");
  const Result result = anneal(engine, large);
  EXPECT_GE(result.memory.arena.driver_calls, 1u);
  EXPECT_GE(result.memory.arena.reserved_bytes, result.memory.planned_bytes);
  EXPECT_LE(result.memory.arena.reserved_bytes,
            result.memory.planned_bytes + result.memory.planned[MemoryOwner::copies] + (1u << 20))
      << "the small slab of the run before it is gone";
}

/// Sets KILN_MEMORY as long as it lives.
class Habit {
 public:
  explicit Habit(const char* text) {
    if (const char* const set = std::getenv("KILN_MEMORY")) former_ = set;
    setenv("KILN_MEMORY", text, 1);
  }
  ~Habit() { setenv("KILN_MEMORY", former_.c_str(), 1); }
  Habit(const Habit&) = delete;
  Habit& operator=(const Habit&) = delete;

 private:
  std::string former_;
};

// Code that reads what it never wrote gives other bits where memory is full of NaN.
TEST(EngineMemory, LeavesNothingToBeReadByTheNextRun) {
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    const Problem problem = test::example_of(*entry, registry);
    const auto run_with = [&](const char* habit) {
      const Habit set(habit);
      Engine engine(RunOptions{.device = "cpu", .threads = 2});
      const auto schedule = entry->make({});
      return engine.run(problem, *schedule, {.sweeps = entry->few_evaluations ? 12 : 23});
    };
    const Result plain = run_with("");
    for (const char* habit : {"fill=0xff", "fill=0xa5", "direct"}) {
      const Result filled = run_with(habit);
      EXPECT_EQ(filled.solution, plain.solution) << entry->name << ", " << habit;
      EXPECT_EQ(filled.objective, plain.objective) << entry->name << ", " << habit;
      EXPECT_EQ(filled.work.accepted, plain.work.accepted) << entry->name << ", " << habit;
      EXPECT_EQ(filled.diagnostics, plain.diagnostics) << entry->name << ", " << habit;
    }
  }
}

}  // namespace
}  // namespace kiln
