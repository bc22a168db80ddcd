// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kiln/memory/memory_map.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

namespace kiln::owner_plan_test {
namespace {

// Whole lines of memory, of every array of the owner.
TEST(OwnerPlan, LetsNoOwnerTakeMoreThanItsPlan) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"coloring:250,50,min,1", "simulated-annealing"},
      {"coloring:60,30,5,1", "simulated-annealing"},
      {"knapsack:250,2,1", "evolutionary"},
      {"zdt:1", "evolutionary"},
      {"torus:20x20,1", "simulated-annealing"},
      {"palubeckis:300,50,1", "parallel-tempering"},
      {"posterior:eight-schools", "hmc"}};
  for (const auto& [name, schedule_name] : all) {
    SCOPED_TRACE(name);
    const std::size_t colon = name.find(':');
    const Problem problem =
        builtin_registry().problem(name.substr(0, colon)).make(name.substr(colon + 1));
    const auto schedule = builtin_registry().schedule(schedule_name).make({});
    kiln::Run run(problem, *schedule, {.sweeps = 10},
                  {.device = "cpu", .replicas = schedule_name == "evolutionary" ? 0 : 32},
                  open_backend("cpu", 2));
    const MemoryMap map = run.advance().memory;
    for (const MemoryOwner owner : all_memory_owners()) {
      if (owner == MemoryOwner::copies) continue;  // one of several arrays, beside the plan
      EXPECT_LE(map.peak[owner], map.planned[owner]) << to_string(owner);
    }
    EXPECT_EQ(map.peak[MemoryOwner::problem], map.planned[MemoryOwner::problem]);
  }
}

}  // namespace
}  // namespace kiln::owner_plan_test
