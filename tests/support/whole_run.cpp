// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "whole_run.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "kiln/backend.hpp"

namespace kiln::test {
namespace {

struct Outcome {
  Archive archive;
  Result result;
};

int all_threads() {
  static const int threads = std::max(2, open_backend("cpu").backend->info().parallel_units);
  return threads;
}

Outcome run_whole(const Problem& problem, Schedule& schedule, const RunOptions& options,
                  const Budget& budget) {
  Run run(problem, schedule, budget, options, open_backend(options.device, options.threads));
  Outcome outcome;
  outcome.result = run.advance();
  run.save(outcome.archive);
  return outcome;
}

// As bits, so that a NaN equals itself.
std::map<std::string, std::vector<std::uint64_t>> numbers_of(const Result& result) {
  std::map<std::string, std::vector<std::uint64_t>> numbers;
  for (const auto& [name, value] : result.diagnostics) numbers["one " + name] = bits_of({value});
  for (const auto& [name, values] : result.series) numbers["all " + name] = bits_of(values);
  return numbers;
}

}  // namespace

void expect_same_numbers(const Result& one, const Result& other) {
  const auto of = [](const Result& result) {
    auto numbers = numbers_of(result);
    std::erase_if(numbers, [](const auto& entry) { return entry.first.ends_with("_s"); });
    return numbers;
  };
  EXPECT_EQ(of(one), of(other));
}

void expect_same_archives(const Archive& one, const Archive& other,
                          const std::set<std::string>& except) {
  for (const auto& [name, bytes] : other.sections()) EXPECT_TRUE(one.has(name)) << name;
  for (const auto& [name, bytes] : one.sections()) {
    EXPECT_TRUE(other.has(name)) << name;
    if (!other.has(name) || except.contains(name) || name.starts_with("clock.")) continue;
    EXPECT_TRUE(other.sections().at(name) == bytes) << name << " differs";
  }
}

Result expect_same_everywhere(Device device, const Problem& problem,
                              const std::function<std::unique_ptr<Schedule>()>& make,
                              RunOptions options, const Budget& budget,
                              const std::set<std::string>& except) {
  const std::unique_ptr<Schedule> own = make(), other = make();
  options.device = to_string(device);
  options.threads = 1;
  const Outcome here = run_whole(problem, *own, options, budget);
  options.device = to_string(Device::cpu);
  options.threads = all_threads();
  const Outcome there = run_whole(problem, *other, options, budget);

  expect_same_archives(here.archive, there.archive, except);
  EXPECT_EQ(here.result.solution, there.result.solution);
  EXPECT_EQ(here.result.objective, there.result.objective);
  EXPECT_EQ(here.result.best_replica, there.result.best_replica);
  EXPECT_EQ(here.result.stop, there.result.stop);
  EXPECT_EQ(here.result.work.sweeps, there.result.work.sweeps);
  EXPECT_EQ(here.result.work.ticks, there.result.work.ticks);
  EXPECT_EQ(here.result.work.accepted, there.result.work.accepted);
  EXPECT_EQ(numbers_of(here.result), numbers_of(there.result));
  EXPECT_EQ(here.result.advice, there.result.advice);
  EXPECT_EQ(here.result.parameters, there.result.parameters);
  EXPECT_TRUE(here.result.verified);
  EXPECT_TRUE(there.result.verified);
  return here.result;
}

}  // namespace kiln::test
