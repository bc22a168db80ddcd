// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/all.hpp"

// That of the backend: the tests have a header of this name, too.
#include "../src/cpu_queue.hpp"

namespace kiln::cpu_queue_test {
namespace {

std::unique_ptr<Queue> make_queue(int threads = 1) {
  return open_backend("cpu", threads).backend->make_queue();
}

TEST(CpuQueue, CountsWhatItDoes) {
  const auto queue = make_queue();
  EXPECT_STREQ(queue->backend_name(), "cpu");
  EXPECT_FALSE(queue->can_capture());
  EXPECT_EQ(queue->native_handle(), nullptr);
  const Counters before = queue->counters();

  DeviceArray<double> array(*queue, std::vector<double>{1, 2, 3});  // one allocation, one copy
  RunControl control;
  queue->launch(AdvanceTick{&control, 1});
  queue->launch(AdvanceTick{&control, 1});
  EXPECT_EQ(array.download(), (std::vector<double>{1, 2, 3}));  // one copy, one wait
  array.zero();
  queue->wait();

  const Counters done = queue->counters() - before;
  EXPECT_EQ(done.allocations, 1u);
  EXPECT_EQ(done.copies, 2u);
  EXPECT_EQ(done.launches, 2u);
  EXPECT_EQ(done.synchronizations, 2u);
  EXPECT_EQ(done.graph_launches, 0u);
  EXPECT_EQ(array.download(), (std::vector<double>{0, 0, 0}));
}

TEST(CpuQueue, AllocatesAlignedMemory) {
  const auto queue = make_queue();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{255}, std::size_t{4097}}) {
    void* memory = queue->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
    queue->deallocate(memory, bytes);
  }
}

TEST(CpuQueue, AnEmptyArrayTakesNoMemory) {
  const auto queue = make_queue();
  DeviceArray<double> array(*queue, 0);
  array.zero();
  EXPECT_TRUE(array.download().empty());
  EXPECT_EQ(queue->counters().allocations, 0u);
}

TEST(CpuQueue, ArraysMoveWithTheirMemory) {
  const auto queue = make_queue();
  DeviceArray<int> first(*queue, std::vector<int>{4, 5});
  DeviceArray<int> second(std::move(first));
  first = DeviceArray<int>(*queue, std::vector<int>{6});
  EXPECT_EQ(second.download(), (std::vector<int>{4, 5}));
  EXPECT_EQ(first.download(), std::vector<int>{6});
}

TEST(CpuQueue, GivesSummariesInTheOrderOfPosting) {
  const auto queue = make_queue();
  for (const double mean : {1.0, 2.0}) {
    *queue->summary_target() = RunSummary{};
    queue->summary_target()->mean_energy = mean;
    queue->post_summary();
  }
  EXPECT_EQ(queue->wait_summary().mean_energy, 1.0);
  EXPECT_EQ(queue->wait_summary().mean_energy, 2.0);
  EXPECT_THROW(queue->wait_summary(), InvalidArgument);
}

TEST(CpuQueue, RefusesToCapture) {
  const auto queue = make_queue();
  EXPECT_THROW(queue->begin_capture(), InvalidArgument);
  EXPECT_THROW(queue->end_capture(), InvalidArgument);
}

TEST(CpuQueue, RunsHostTasksOnItsThreads) {
  const auto queue = make_queue(2);
  std::vector<int> calls(100, 0);
  queue->for_each_on_host(100, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(calls, std::vector<int>(100, 1));
}

TEST(CpuQueue, GivesTasksMemoryOfTheirOwnAndKeepsIt) {
  const auto queue = make_queue(2);
  auto& own = static_cast<cpu::CpuQueue&>(*queue);
  constexpr std::size_t words = 100;
  std::atomic<int> shared = 0, crooked = 0;
  const auto use = [&](std::int64_t tasks) {
    cpu::for_each_with_scratch(
        *queue, tasks, words * sizeof(std::int64_t), [&](std::int64_t task, std::byte* memory) {
          crooked += reinterpret_cast<std::uintptr_t>(memory) % 64 == 0 ? 0 : 1;
          auto* const mine = reinterpret_cast<std::int64_t*>(memory);
          for (int again = 0; again < 20; ++again) {
            std::fill_n(mine, words, task);
            shared += std::count(mine, mine + words, task) == words ? 0 : 1;
          }
        });
  };
  use(1);
  EXPECT_EQ(own.peak_bytes(), 832u) << "what one thread takes, in whole cache lines";
  use(500);
  EXPECT_EQ(own.peak_bytes(), 2 * 832u);
  const std::byte* const place = own.scratch(1);
  use(500);
  EXPECT_EQ(own.scratch(1), place) << "a launch as large allocates nothing";
  EXPECT_EQ(own.peak_bytes(), 2 * 832u);
  EXPECT_EQ(shared, 0);
  EXPECT_EQ(crooked, 0);
}

TEST(CpuBackend, SaysWhatItIs) {
  const DeviceInfo info = open_backend("cpu", 2).backend->info();
  EXPECT_EQ(info.name, "cpu");
  EXPECT_EQ(info.parallel_units, 2);
  EXPECT_TRUE(info.description.starts_with("2 threads, ")) << info.description;
  EXPECT_TRUE(open_backend("cpu", 1).backend->info().description.starts_with("1 thread, "));
  EXPECT_GE(open_backend("cpu").backend->info().parallel_units, 1);
}

TEST(CpuBackend, RefusesThreadCountsThatCannotBe) {
  EXPECT_THROW(open_backend("cpu", -1), InvalidArgument);
  EXPECT_THROW(open_backend("cpu", 5000), InvalidArgument);
}

TEST(OpenBackend, SuggestsTheNearestName) {
  for (const auto& [name, nearest] :
       {std::pair{"cpuu", "cpu"}, std::pair{"gpu", "cuda"}, std::pair{"cudo", "cuda"}}) {
    try {
      open_backend(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.message(),
                "unknown device '" + std::string(name) + "'; the nearest is '" + nearest + "'");
    }
  }
  EXPECT_THROW(open_backend("cuda:x"), InvalidArgument);
  EXPECT_THROW(open_backend("cuda:-1"), InvalidArgument);
  EXPECT_THROW(open_backend(""), InvalidArgument);
}

}  // namespace
}  // namespace kiln::cpu_queue_test
