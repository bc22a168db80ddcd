// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The processes that this one asks /proc for end when they like, also between opening and reading.
#include "run/process_table.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace kiln::cli {
namespace {

// A process that runs until it is killed.
class Child {
 public:
  Child() : process_(::fork()) {
    if (process_ == 0) {
      for (;;) ::pause();
    }
  }
  ~Child() { reap(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int process() const { return process_; }
  void kill() { ::kill(process_, SIGKILL); }
  void reap() {
    if (process_ <= 0) return;
    kill();
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_;
};

TEST(ProcessTable, TellsTheGroupOfAProcessAndWhetherItIsAZombie) {
  Child child;

  EXPECT_EQ(status_of(child.process()).group, ::getpgrp());
  EXPECT_FALSE(status_of(child.process()).zombie);

  child.kill();
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.process()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(status_of(child.process()).zombie);
}

TEST(ProcessTable, FindsChildrenOfAnyThread) {
  Child child;

  EXPECT_EQ(std::ranges::count(children_of_this(), child.process()), 1);
  EXPECT_EQ(std::ranges::count(all_processes(), child.process()), 1);
}

TEST(ProcessTable, SaysNothingOfAProcessThatHasEnded) {
  Child child;
  const int process = child.process();
  child.reap();

  EXPECT_EQ(status_of(process).group, 0);
  EXPECT_FALSE(status_of(process).zombie);
  EXPECT_FALSE(has_in_environment(process, "PATH="));
}

// Reading a file of /proc fails once its process has ended, although opening it did not.
TEST(ProcessTable, BearsProcessesThatEndWhileTheyAreReadOf) {
  std::atomic<int> latest = 0;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const int process = latest;
      if (process == 0) continue;
      EXPECT_NO_THROW(static_cast<void>(status_of(process)));
      EXPECT_NO_THROW(static_cast<void>(has_in_environment(process, "KILN_NO_SUCH=")));
    }
  });

  for (int i = 0; i < 2000; ++i) {
    Child child;
    latest = child.process();
    for (int turns = 0; turns < i % 50; ++turns) std::this_thread::yield();
  }

  done = true;
  reader.join();
}

}  // namespace
}  // namespace kiln::cli
