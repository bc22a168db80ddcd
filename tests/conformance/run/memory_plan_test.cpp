// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a plan says of memory, what the arena gave, and what the driver has left.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/plan.hpp"
#include "kiln/registry.hpp"

#include "backends/backends.hpp"

namespace kiln::memory_plan_test {
namespace {

using test::Device;
using Texts = std::map<std::string, std::string>;

struct Size {
  const char* problem;
  std::int64_t replicas;  // 0: the default
  std::int64_t sweeps;
  Texts texts = {};
};

// Small, middle and large ones of every schedule: few and many replicas, few and many variables.
const std::map<std::string, std::vector<Size>>& sizes() {
  static const std::map<std::string, std::vector<Size>> all{
      {"simulated-annealing",
       {{"torus:8x8,1", 64, 33}, {"torus:100x100,1", 2048, 17}, {"palubeckis:2000,10,1", 512, 9}}},
      {"simulated-bifurcation",
       {{"torus:8x8,1", 64, 33}, {"sk:1000,1", 64, 20}, {"palubeckis:2000,10,1", 512, 9}}},
      {"parallel-tempering",
       {{"torus:8x8,1", 32, 40, {{"rungs", "16"}}},
        {"torus:20x20,1", 1024, 40, {{"rungs", "32"}}},
        {"torus:60x60,1", 4096, 20, {{"rungs", "16"}, {"cluster_moves", "on"}}}}},
      {"replica-exchange",
       {{"torus:8x8,1", 32, 40, {{"rungs", "8"}}},
        {"torus:20x20,1", 1024, 40, {{"rungs", "14"}, {"walkers", "2"}}},
        {"torus:60x60,1", 8192, 20, {{"rungs", "8"}}}}},
      {"population-annealing",
       {{"torus:8x8,1", 100, 200}, {"torus:20x20,1", 2000, 200}, {"torus:20x20,1", 60000, 100}}},
      {"tabu-coloring",
       {{"coloring:40,30,10,1", 16, 30},
        {"coloring:150,40,30,3", 64, 30},
        {"coloring:300,20,min,3", 512, 20}}},
      {"hmc",
       {{"posterior:eight-schools", 32, 100, {{"warmup", "60"}, {"draws", "40"}}},
        {"posterior:eight-schools", 1024, 300, {{"warmup", "100"}, {"draws", "200"}}},
        {"posterior:eight-schools", 4096, 600, {{"warmup", "100"}, {"draws", "500"}}}}},
      {"random-search",
       {{"torus:8x8,1", 64, 33}, {"torus:100x100,1", 2048, 17}, {"function:ackley-20", 30000, 9}}},
      {"evolutionary", {{"zdt:1", 0, 20}, {"zdt:4", 0, 10, {{"islands", "30"}}}, {"dtlz:2", 0, 5}}},
      {"amosa", {{"zdt:1", 0, 20}, {"zdt:4", 0, 10, {{"islands", "30"}}}, {"dtlz:2", 0, 5}}},
      {"bayesian-optimization",
       {{"function:branin", 0, 6},
        {"function:rastrigin-6", 0, 20, {{"batch", "4"}}},
        {"function:branin", 0, 12, {{"studies", "4"}, {"batch", "8"}}}}},
      {"bayesian-front",
       {{"zdt:1,4", 0, 6},
        {"zdt:1,4", 0, 12, {{"batch", "4"}}},
        {"zdt:1,4", 0, 12, {{"batch", "4"}, {"studies", "2"}}}}}};
  return all;
}

bool shares_device() { return std::getenv("GTEST_TOTAL_SHARDS") != nullptr; }

double difference(std::uint64_t a, std::uint64_t b) {
  return static_cast<double>(a) - static_cast<double>(b);
}

class MemoryPlan : public test::DeviceTest {
 protected:
  static Problem problem_of(const std::string& name) {
    const std::size_t colon = name.find(':');
    return builtin_registry().problem(name.substr(0, colon)).make(name.substr(colon + 1));
  }
};

TEST_P(MemoryPlan, HasEverySchedule) {
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    ASSERT_TRUE(sizes().contains(entry->name)) << entry->name;
    EXPECT_EQ(sizes().at(entry->name).size(), 3u) << entry->name;
  }
}

// The gate: within 1 % and 2 MiB. The driver's free memory is the witness of what the arena holds.
TEST_P(MemoryPlan, IsWhatARunTakes) {
  constexpr double share = 0.01, slack = 0x1p21;
  const bool on_gpu = GetParam() == Device::cuda;
  for (const auto& [name, list] : sizes()) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Size& size = list[i];
      SCOPED_TRACE(name + " " + size.problem + " " + std::to_string(i));
      const Problem problem = problem_of(size.problem);
      RunOptions options{.device = to_string(GetParam()), .threads = 2, .replicas = size.replicas};
      options.report_interval_s = 0;
      Engine engine(options);
      const Budget budget{.sweeps = size.sweeps};
      const auto make = [&] { return builtin_registry().schedule(name).make(size.texts); };
      engine.run(problem, *make(), budget);  // loads kernels, which take memory of the driver
      const auto planning = make();
      const RunPlan plan = plan_run(problem, *planning, budget, options, engine.backend());
      const std::uint64_t before = engine.backend().backend->info().memory_free;
      std::uint64_t least = before;
      const auto schedule = make();
      const Result result = engine.run(problem, *schedule, budget, {[&](const ReportPoint&) {
                                         const auto now = engine.backend().backend->info();
                                         least = std::min(least, now.memory_free);
                                         return Next::go_on;
                                       }});
      const MemoryMap& map = result.memory;
      EXPECT_EQ(map.planned_bytes, plan.bytes_needed());
      EXPECT_LE(map.peak_bytes, map.planned_bytes);
      const auto peak = static_cast<double>(map.peak_bytes);
      EXPECT_LE(difference(map.planned_bytes, map.peak_bytes), share * peak + slack)
          << map.planned_bytes << " planned, " << map.peak_bytes << " taken";
      EXPECT_LE(map.peak[MemoryOwner::copies], plan.copy_bytes + (1u << 16));
      // On the CPU the clock says whether a tick is worth a copy to go back to.
      const bool same_copies = on_gpu || map.peak[MemoryOwner::copies] == 0;
      EXPECT_TRUE(map.arena.driver_calls == 0 || !same_copies) << map.arena.driver_calls;
      EXPECT_GE(map.arena.reserved_bytes, map.peak_bytes);
      // Bayesian searches have two arenas, and tests beside this one take memory, too.
      if (!on_gpu || name.starts_with("bayesian") || shares_device()) continue;
      EXPECT_NEAR(difference(before, least), static_cast<double>(map.arena.reserved_bytes), 0x1p23);
    }
  }
}

KILN_ON_EVERY_BACKEND(MemoryPlan);

}  // namespace
}  // namespace kiln::memory_plan_test
