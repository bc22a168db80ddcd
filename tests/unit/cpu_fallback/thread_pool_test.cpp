// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace kiln::cpu::thread_pool_test {
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

// A worker that two calls had at once would share its memory.
TEST_P(Threads, HaveNumbersOfTheirOwnWhileTheyWork) {
  ThreadPool pool(GetParam());
  for (const std::int64_t count : {1, 2, 3, 400}) {
    const int most = pool.workers(count);
    EXPECT_EQ(most, std::min<std::int64_t>(count, GetParam()));
    std::vector<std::atomic<int>> busy(static_cast<std::size_t>(most));
    std::atomic<int> wrong = 0, calls = 0;
    for (int loop = 0; loop < 50; ++loop) {
      pool.for_each_worker(count, [&](std::int64_t, int worker) {
        ++calls;
        if (worker < 0 || worker >= most) {
          ++wrong;
          return;
        }
        std::atomic<int>& mine = busy[static_cast<std::size_t>(worker)];
        wrong += mine.exchange(1);
        for (int i = 0; i < 200; ++i) wrong += mine == 1 ? 0 : 1;
        mine = 0;
      });
    }
    EXPECT_EQ(calls, 50 * count);
    EXPECT_EQ(wrong, 0) << count;
  }
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

// Sanitizers reserve more address space than any limit here.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_address_space = false;
#else
constexpr bool limits_address_space = true;
#endif

// 0: what a program does after a pool has got all threads that fit into its address space.
int works_beside_threads() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const rlimit limit{used + (std::uint64_t{300} << 20), RLIM_INFINITY};
  if (pages == 0 || setrlimit(RLIMIT_AS, &limit) != 0) return 2;
  ThreadPool pool(1000);
  if (pool.threads() == 1000) return 3;  // it was no limit
  const std::unique_ptr<void, decltype(&std::free)> room(std::malloc(std::size_t{64} << 20),
                                                         &std::free);
  return room ? 0 : 1;
}

TEST(ThreadPoolThatIsRefusedThreads, LeavesAddressSpaceToTheRest) {
  if (!limits_address_space) GTEST_SKIP() << "a sanitizer needs all of the address space";
  const pid_t child = fork();
  if (child == 0) _exit(works_beside_threads());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(ThreadPool, Threads, testing::Values(1, 2, 5),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace kiln::cpu::thread_pool_test
