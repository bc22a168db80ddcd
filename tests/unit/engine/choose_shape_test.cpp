// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Default replicas and layouts by device: what was measured on an H200, and how it scales.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "kiln/backend.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/objective.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise_family.hpp"
#include "kiln/registry.hpp"
#include "kiln/work_shape.hpp"

namespace kiln::choose_shape_test {
namespace {

constexpr DeviceShape cpu{.parallel_units = 8};
constexpr DeviceShape h200{.gpu = true, .parallel_units = 132, .max_dense_sites = 16384};

DeviceShape gpu_of(int multiprocessors) {
  DeviceShape shape = h200;
  shape.parallel_units = multiprocessors;
  return shape;
}

Problem problem_of(const std::string& name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  return builtin_registry()
      .problem(name.substr(0, colon))
      .make(name.substr(std::min(colon + 1, name.size())));
}

/// Replicas, and bytes of device memory for 64 of them.
struct Row {
  const char* problem;
  std::int64_t on_cpu, on_h200;
  std::uint64_t bytes_on_cpu, bytes_on_h200;
};

// Written down from the version before the choices were the engine's, in which each kind of problem
// had its own function of "CPU" or "CUDA"; bytes of pairwise and Potts models on the CPU since it
// reads their plans in place, on a GPU since it has rows for counting in slices and stages (16
// bytes a variable, 4 a class and 4), of searches by tabu since arrays count in whole lines of 256
// bytes. A default that changes changes what a seed finds.
constexpr Row known[] = {
    {"gset:G1", 128, 33792, 0, 615736},
    {"gset:G22", 128, 33792, 0, 752860},
    {"gset:G81", 128, 4224, 0, 3278972},
    {"torus:8x8,1", 128, 33792, 0, 10492},
    {"torus:44x45,1", 128, 33792, 0, 324420},
    {"torus:45x45,1", 128, 29568, 0, 331700},
    {"torus:100x100,1", 128, 4224, 0, 1641148},
    {"torus:200x300,1", 128, 4224, 0, 8882944},
    {"sk:16,1", 128, 2112, 0, 8832},
    {"sk:128,1", 128, 2112, 0, 228704},
    {"sk:1000,1", 128, 2112, 0, 11649936},
    {"palubeckis:200,10,1", 128, 33792, 0, 156288},
    {"palubeckis:500,6,1", 128, 33792, 0, 526560},
    {"palubeckis:500,7,1", 128, 33792, 0, 593392},
    {"random:400,12,1", 128, 33792, 0, 308108},
    {"random:400,13,1", 128, 2112, 0, 518608},
    {"random:400,20,1", 128, 2112, 0, 630496},
    {"potts:30x20,4,1", 128, 16896, 0, 33600},
    {"potts:50x60,2,1", 128, 8448, 0, 168000},
    {"potts:100x100,5,1", 128, 4224, 0, 560000},
    {"coloring:queen8,9", 128, 16896, 0, 16224},
    {"coloring:queen8,min", 8, 1056, 6656, 6656},
    {"coloring:200,50,128,1", 8, 1056, 81408, 81408},
    {"coloring:300,20,60000,1", 6, 55, 74496, 74496},
    {"coloring:2500,50,9000,1", 5, 44, 12515328, 12515328},
    {"function:rastrigin-10", 128, 128, 12800, 23040},
    {"posterior:eight-schools", 128, 128, 12800, 12800},
    {"zdt:1", 128, 128, 0, 0},
};

void check(const Objective& objective, const Row& row) {
  const WorkShape work = objective.work_shape();
  EXPECT_EQ(choose_shape(work, cpu).replicas, row.on_cpu) << row.problem;
  EXPECT_EQ(choose_shape(work, h200).replicas, row.on_h200) << row.problem;
  EXPECT_EQ(objective.device_bytes(cpu, 64), row.bytes_on_cpu) << row.problem;
  EXPECT_EQ(objective.device_bytes(h200, 64), row.bytes_on_h200) << row.problem;
}

TEST(ChooseShape, OfModelsIsWhatWasMeasured) {
  for (const Row& row : known) check(*problem_of(row.problem).objective, row);
}

// NUTS keeps 370 doubles of a chain of 10 coordinates.
TEST(ChooseShape, OfChainsCountsWhatTheirTransitionsTake) {
  for (const char* name : {"function:rastrigin-10", "posterior:eight-schools"}) {
    const Problem problem = problem_of(name);
    const Objective& objective = *problem.objective;
    const auto* const scratch = objective.as<TransitionScratch>();
    ASSERT_NE(scratch, nullptr);
    EXPECT_EQ(objective.device_bytes(h200, 64) + scratch->transition_bytes(ChainWork::nuts, 64),
              64 * 8 * (2 * 10 + 5 + 370))
        << name;
  }
}

// A GPU also has the rows for counting: 16 bytes for each site in A and in B, and 16 for each group
// of four terms, of which a site has one or two, for the signs of its couplings: 731 and 18,788
// groups.
TEST(ChooseShape, OfFamiliesFillsTheDevice) {
  for (const Row& row :
       {Row{"20 x 20", 128, 33792, 50624, 50624 + 400 * 32 + 731 * 16},
        Row{"100 x 100", 128, 33792, 1241024, 1241024 + 10000 * 32 + 18788 * 16}}) {
    const std::int32_t side = std::string(row.problem) == "20 x 20" ? 20 : 100;
    PairwiseFamily family;
    family.base.couplings = problems::torus_pm1(side, side, 1).edges;
    family.base.n = family.term.n = side * side;
    family.term.fields.assign(static_cast<std::size_t>(side * side), 1.0);
    check(*make_pairwise_family(std::move(family), row.problem).objective, row);
  }
}

TEST(ChooseShape, GrowsWithTheMultiprocessors) {
  const WorkShape sparse = problem_of("gset:G22").objective->work_shape();
  const WorkShape large = problem_of("torus:100x100,1").objective->work_shape();
  const WorkShape dense = problem_of("sk:128,1").objective->work_shape();
  const WorkShape potts = problem_of("potts:30x20,4,1").objective->work_shape();
  const WorkShape colors = problem_of("coloring:queen8,min").objective->work_shape();
  for (const int n : {1, 20, 66, 108, 132, 264}) {
    EXPECT_EQ(choose_shape(sparse, gpu_of(n)).replicas, 256 * n);
    EXPECT_EQ(choose_shape(large, gpu_of(n)).replicas, 32 * n) << "a word each at least";
    EXPECT_EQ(choose_shape(dense, gpu_of(n)).replicas, 16 * n);
    EXPECT_EQ(choose_shape(potts, gpu_of(n)).replicas, 128 * n);
    EXPECT_EQ(choose_shape(colors, gpu_of(n)).replicas, 8 * n);
  }
  DeviceShape threads = cpu;
  for (const int n : {1, 2, 64}) {
    threads.parallel_units = n;
    EXPECT_EQ(choose_shape(sparse, threads).replicas, 128) << "answers do not depend on threads";
    EXPECT_EQ(choose_shape(colors, threads).replicas, 8);
  }
}

// Runs whose sweeps decide 32 replicas together: full vectors, and fewer replicas of large models.
// All replicas share a pass over the couplings, so their number hardly depends on the model.
TEST(ChooseShape, OfOscillatorsIsInWholeTiles) {
  WorkShape work{.unit = WorkUnit::oscillators, .variables = 100, .sites = 100, .entries = 9900};
  EXPECT_EQ(choose_shape(work, cpu).replicas, 64);
  EXPECT_EQ(choose_shape(work, h200).replicas, 1024);
  EXPECT_EQ(choose_shape(work, gpu_of(10)).replicas, 96);
  work.by_planes = true;
  EXPECT_EQ(choose_shape(work, cpu).replicas, 64) << "the same with any naming of draws";
}

TEST(ChooseShape, FillsTheVectorsOfTheCpuByPlanes) {
  for (const auto& [variables, replicas] :
       {std::pair{10, 512}, {2000, 512}, {4999, 512}, {5000, 128}, {9000000, 128}}) {
    WorkShape work{.unit = WorkUnit::packed_sweep, .variables = variables, .by_planes = true};
    DeviceShape threads = cpu;
    for (const int n : {1, 2, 64}) {
      threads.parallel_units = n;
      EXPECT_EQ(choose_shape(work, threads).replicas, replicas) << variables;
    }
    const std::int64_t on_gpu = choose_shape(work, h200).replicas;
    work.by_planes = false;
    EXPECT_EQ(choose_shape(work, cpu).replicas, 128);
    EXPECT_EQ(choose_shape(work, h200).replicas, on_gpu);
  }
}

TEST(ChooseShape, TakesAMatrixWhereTheDeviceAndTheModelHaveUseForIt) {
  WorkShape work{.unit = WorkUnit::packed_sweep,
                 .variables = 1600,
                 .sites = 1600,
                 .entries = 160000,
                 .matrix_weight_bytes = 1};
  EXPECT_TRUE(choose_shape(work, h200).dense) << "a sixteenth of all pairs";
  EXPECT_FALSE(choose_shape(work, cpu).dense);
  --work.entries;
  EXPECT_FALSE(choose_shape(work, h200).dense);
  work.entries = 1600 * 1599;
  EXPECT_TRUE(choose_shape(work, h200).dense);
  work.matrix_weight_bytes = 0;
  EXPECT_FALSE(choose_shape(work, h200).dense) << "weights that are no small integers";
  work.matrix_weight_bytes = 2;
  work.sites = work.variables = 16384;
  work.entries = work.sites * work.sites;
  EXPECT_TRUE(choose_shape(work, h200).dense);
  work.sites += 4;
  work.entries = work.sites * work.sites;
  EXPECT_FALSE(choose_shape(work, h200).dense) << "the sweep takes no more sites";
  DeviceShape without = h200;
  without.max_dense_sites = 0;
  work.sites = 64;
  EXPECT_FALSE(choose_shape(work, without).dense);
}

TEST(ChooseShape, KnowsTheDeviceOfAQueue) {
  const auto backend = open_backend("cpu", 2).backend;
  EXPECT_FALSE(backend->info().gpu);
  const auto queue = backend->make_queue();
  EXPECT_FALSE(queue->device_shape().gpu);
  EXPECT_EQ(queue->device_shape().parallel_units, 2);
  EXPECT_EQ(queue->device_shape().max_dense_sites, 0);
}

}  // namespace
}  // namespace kiln::choose_shape_test
