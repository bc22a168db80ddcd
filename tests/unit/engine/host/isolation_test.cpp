// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The library is a guest in the process: engines in several threads do not disturb each other, and
// a run leaves no trace in what the threads share.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/objective.hpp"
#include "kiln/registry.hpp"

namespace kiln::isolation_test {
namespace {

/// A run by names, which takes a fraction of a second.
struct Job {
  std::string family, instance, schedule;
  std::int64_t sweeps = 0;
  std::map<std::string, std::string> parameters = {};
};

const std::vector<Job> jobs{
    {"torus", "12x10,3", "simulated-annealing", 300},
    {"palubeckis", "60,50,7", "parallel-tempering", 200},
    {"torus", "8x8,5", "population-annealing", 200},
    {"posterior", "eight-schools", "hmc", 60, {{"draws", "40"}, {"warmup", "20"}}},
    {"zdt", "1", "evolutionary", 10},
    {"coloring", "queen5,5", "tabu-coloring", 100},
    {"function", "rastrigin-5", "simulated-annealing", 100},
};

Result run(const Job& job) {
  const Registry registry = builtin_registry();
  const Problem problem = registry.problem(job.family).make(job.instance);
  const std::unique_ptr<Schedule> schedule = registry.schedule(job.schedule).make(job.parameters);
  Engine engine({.device = "cpu", .threads = 2, .seed = 5});
  return engine.run(problem, *schedule, {.sweeps = job.sweeps});
}

void expect_equal(const Result& a, const Result& b, const std::string& name) {
  EXPECT_EQ(a.solution, b.solution) << name;
  EXPECT_EQ(a.objective, b.objective) << name;
  EXPECT_EQ(a.stop, b.stop) << name;
  EXPECT_EQ(a.work.sweeps, b.work.sweeps) << name;
  EXPECT_EQ(a.work.accepted, b.work.accepted) << name;
  EXPECT_EQ(a.incumbents_found, b.incumbents_found) << name;
  EXPECT_EQ(a.series, b.series) << name;
}

TEST(Isolation, EnginesInTwoThreadsWithOtherSchedulesDoNotDisturbEachOther) {
  std::vector<Result> alone;
  for (const Job& job : jobs) alone.push_back(run(job));
  // Each with the next one, which starts while it runs.
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::size_t j = (i + 1) % jobs.size();
    std::array<Result, 2> together;
    {
      std::jthread one([&] { together[0] = run(jobs[i]); });
      std::jthread two([&] { together[1] = run(jobs[j]); });
    }
    expect_equal(together[0], alone[i], jobs[i].schedule + " beside " + jobs[j].schedule);
    expect_equal(together[1], alone[j], jobs[j].schedule + " beside " + jobs[i].schedule);
  }
  EXPECT_NE(alone[0].solution, alone[2].solution) << "the comparison sees differences";
}

/// What a call writes to standard output and standard error, through any stream of the process.
std::string printed_by(const std::function<void()>& call) {
  std::FILE* const file = std::tmpfile();
  EXPECT_NE(file, nullptr);
  std::fflush(nullptr);
  std::array<int, 2> kept{};
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    kept[static_cast<std::size_t>(stream - STDOUT_FILENO)] = ::dup(stream);
    ::dup2(::fileno(file), stream);
  }
  call();
  std::fflush(nullptr);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    const int former = kept[static_cast<std::size_t>(stream - STDOUT_FILENO)];
    ::dup2(former, stream);
    ::close(former);
  }
  std::string text;
  std::rewind(file);
  for (int c = 0; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

void run_all_and_fail() {
  for (const Job& job : jobs) run(job);
  EXPECT_THROW(run({"torus", "no torus", "simulated-annealing", 1}), InvalidArgument);
  const Problem nan = make_problem(make_host_objective(
      "throws", Space::reals(2, -1, 1),
      [](std::span<const double>) -> double { throw std::runtime_error("no value"); }));
  const auto schedule = builtin_registry().schedule("simulated-annealing").make({});
  EXPECT_THROW(Engine({.device = "cpu"}).run(nan, *schedule, {.sweeps = 8}), ObjectiveError);
  open_backend("auto", 1);
}

TEST(Isolation, TheLibraryPrintsNothing) {
  EXPECT_EQ(printed_by([] {
              std::fputs("out ", stdout);
              EXPECT_EQ(::write(STDERR_FILENO, "err ", 4), 4);
            }),
            "err out ");
  EXPECT_EQ(printed_by(run_all_and_fail), "");
}

/// The action of each signal, and the signals that this thread blocks.
struct Signals {
  std::map<int, std::pair<std::uintptr_t, int>> actions;
  std::vector<bool> blocked;
  friend bool operator==(const Signals&, const Signals&) = default;

  static Signals now() {
    Signals all;
    sigset_t mask;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action = {};
      if (::sigaction(signal, nullptr, &action) != 0) continue;
      std::uintptr_t handler = 0;
      static_assert(sizeof handler == sizeof action.sa_handler);
      std::memcpy(&handler, &action.sa_handler, sizeof handler);
      all.actions[signal] = {handler, action.sa_flags};
      all.blocked.push_back(::sigismember(&mask, signal) == 1);
    }
    return all;
  }
};

TEST(Isolation, TheLibraryInstallsNoSignalHandler) {
  const Signals before = Signals::now();
  EXPECT_GT(before.actions.size(), 30U);
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  run_all_and_fail();
  EXPECT_TRUE(Signals::now() == before);
  EXPECT_EQ(std::setlocale(LC_ALL, nullptr), locale);
  // A handler that comes would be seen.
  const auto former = std::signal(SIGUSR2, [](int) {});
  EXPECT_FALSE(Signals::now() == before);
  std::signal(SIGUSR2, former);
  EXPECT_TRUE(Signals::now().actions.size() == before.actions.size());
}

}  // namespace
}  // namespace kiln::isolation_test
