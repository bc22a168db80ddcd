// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/host_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace kiln::host_threads_test {
namespace {

using Block = std::pair<std::int64_t, std::int64_t>;

std::vector<Block> blocks_of(std::int64_t n, std::int64_t size) {
  return of_each_block(
      n,
      [](std::int64_t begin, std::int64_t end) {
        return Block{begin, end};
      },
      size);
}

TEST(HostThreads, AreAtLeastOne) {
  EXPECT_GE(granted_processors(), 1);
  EXPECT_EQ(HostThreads::count(), granted_processors());
}

TEST(HostThreads, LimitLoopsWhileTheyLive) {
  const int before = HostThreads::count();
  {
    const HostThreads three(3);
    EXPECT_EQ(HostThreads::count(), 3);
    const HostThreads none(0), more(8);
    EXPECT_EQ(HostThreads::count(), 3) << "a limit is never raised";
    std::jthread other([&] { EXPECT_EQ(HostThreads::count(), before) << "of another thread"; });
  }
  EXPECT_EQ(HostThreads::count(), before);
  const HostThreads too_many(1 << 20);
  EXPECT_EQ(HostThreads::count(), max_threads());
}

TEST(HostThreads, RunEachCallOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> calls(1000);
    for_each_on_threads(threads, 1000, [&](std::int64_t i) {
      ++calls[static_cast<std::size_t>(i)];
      if (threads == 1) return;
      EXPECT_EQ(HostThreads::count(), 1) << "a loop inside stays on its thread";
    });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
    for_each_on_threads(threads, 0, [&](std::int64_t) { ADD_FAILURE(); });
  }
}

TEST(HostThreads, PassAnExceptionOn) {
  for (const int threads : {1, 4}) {
    const auto fails = [](std::int64_t i) {
      if (i == 7) throw std::runtime_error("seven");
    };
    EXPECT_THROW(for_each_on_threads(threads, 100, fails), std::runtime_error);
  }
}

TEST(HostThreads, CutBlocksThatDoNotDependOnThem) {
  EXPECT_TRUE(blocks_of(0, 10).empty());
  EXPECT_EQ(blocks_of(25, 10), (std::vector<Block>{{0, 10}, {10, 20}, {20, 25}}));
  for (const std::int64_t n : {1, 63, 64, 65, 1000}) {
    const std::vector<Block> all = blocks_of(n, 64);
    const HostThreads alone(1);
    EXPECT_EQ(blocks_of(n, 64), all);
    EXPECT_EQ(all.front().first, 0);
    EXPECT_EQ(all.back().second, n);
  }
}

TEST(HostThreads, NumberTheBlocks) {
  std::vector<std::int64_t> first(8, -1);
  for_each_block(
      30,
      [&](std::int64_t begin, std::int64_t, std::int64_t block) {
        first[static_cast<std::size_t>(block)] = begin;
      },
      4);
  EXPECT_EQ(first, (std::vector<std::int64_t>{0, 4, 8, 12, 16, 20, 24, 28}));
}

}  // namespace
}  // namespace kiln::host_threads_test
