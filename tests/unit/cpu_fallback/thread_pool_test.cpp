// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace kiln::cpu {
namespace {

class Threads : public testing::TestWithParam<int> {};

TEST_P(Threads, CallEveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
    pool.for_each(count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const std::atomic<int>& n : calls) ASSERT_EQ(n, 1);
  }
}

TEST_P(Threads, ShareManyShortLoops) {
  ThreadPool pool(GetParam());
  std::atomic<std::int64_t> sum = 0;
  for (int loop = 0; loop < 2000; ++loop) pool.for_each(5, [&](std::int64_t i) { sum += i; });
  EXPECT_EQ(sum, 20000);
}

TEST_P(Threads, PassTheFirstExceptionOn) {
  ThreadPool pool(GetParam());
  std::atomic<int> calls = 0;
  EXPECT_THROW(pool.for_each(1000,
                             [&](std::int64_t i) {
                               ++calls;
                               if (i == 3) throw std::runtime_error("third");
                             }),
               std::runtime_error);
  EXPECT_GE(calls, 4);

  calls = 0;
  pool.for_each(10, [&](std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 10) << "the pool works on after an exception";
}

TEST_P(Threads, ServeTwoCallersInTurn) {
  ThreadPool pool(GetParam());
  std::atomic<std::int64_t> first = 0, second = 0;
  {
    const auto work = [&pool](std::atomic<std::int64_t>& sum) {
      for (int loop = 0; loop < 200; ++loop) pool.for_each(50, [&](std::int64_t i) { sum += i; });
    };
    std::jthread one([&] { work(first); });
    std::jthread two([&] { work(second); });
  }
  EXPECT_EQ(first, 200 * 1225);
  EXPECT_EQ(second, 200 * 1225);
}

// Two of those that could be made are left to the rest of the program.
TEST(ThreadPoolThatIsRefusedThreads, WorksWithFewer) {
  for (const int granted : {0, 1, 2, 5}) {
    int made = 0;
    const auto refuse = [&] {
      if (made++ == granted) {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      }
    };
    ThreadPool pool(8, refuse);
    EXPECT_EQ(pool.threads(), granted > 2 ? granted - 1 : 1) << granted;
    EXPECT_EQ(made, granted + 1);
    for (int loop = 0; loop < 100; ++loop) {
      std::atomic<int> calls = 0;
      pool.for_each(50, [&](std::int64_t) { ++calls; });
      ASSERT_EQ(calls, 50) << granted;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ThreadPool, Threads, testing::Values(1, 2, 5),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace kiln::cpu
