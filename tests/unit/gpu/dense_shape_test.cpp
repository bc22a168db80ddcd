// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Launch shapes of dense models by the limits of a device, without one.
#include "kernels/sweeps/dense_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace kiln::cuda::dense_shape_test {
namespace {

// What a block of compute capability 7.5, 8.6 and 9.0 can have, less its totals (sweep_limits_of).
constexpr std::int64_t small = 65536 - 2048, middle = 101376 - 2048, large = 232448 - 2048;

TEST(DenseShape, KnowsTheSharedMemoryOfABlock) {
  const DenseShape sixteen{.by_warps = true, .by_signs = true, .replicas_per_block = 16};
  for (const std::int64_t n : {2049, 2212, 3000, 4096}) {
    EXPECT_EQ(shared_bytes_of(sixteen, {.sites = n}), 66048 + 16 * n) << n;
  }
  // States and sites, a word for each 32 sites; seven rows of as many words a warp; the blocks.
  EXPECT_EQ(shared_bytes_of(sixteen, {.sites = 1024}), 4 * (17 * 32 + 16 * 7 * 32 + 4 * 1024));
  const DenseShape two{.by_warps = true, .by_signs = true, .warps = 2};
  EXPECT_EQ(shared_bytes_of(two, {.sites = 8192}), 4 * (2 * 256 + 2 * 7 * 4 * 32));
  // States of all sites, and two bytes a lane for each of eight stretches.
  const DenseShape bytes{.by_warps = true, .replicas_per_block = 16};
  EXPECT_EQ(shared_bytes_of(bytes, {.sites = 1000}), 4 * 1000 + 2 * 8 * 32 * 16);
  EXPECT_EQ(shared_bytes_of({}, {.sites = 1000}), 0);
}

TEST(DenseShape, NeverAsksForMoreThanABlockCanHave) {
  for (const std::int64_t bytes : {small, middle, large}) {
    for (const int sign_planes : {0, 12}) {
      for (const int bytes_per_weight : {1, 2}) {
        if (sign_planes > 0 && bytes_per_weight == 2) continue;
        for (std::int64_t n = 1; n <= 20000; ++n) {
          for (const std::int64_t replicas : {32, 4224, 67584}) {
            const DenseDemand demand{n, replicas, bytes_per_weight, sign_planes};
            const SweepLimits limits{132, bytes};
            const DenseShape shape = choose_dense_shape(demand, limits);
            ASSERT_TRUE(can_sweep(shape, demand, limits)) << n << ", " << replicas;
            ASSERT_LE(shared_bytes_of(shape, demand), bytes) << n << ", " << replicas;
          }
        }
      }
    }
  }
}

// sk:3000 on a device of 99 KB a block.
TEST(DenseShape, HasFewerReplicasABlockWhereSharedMemoryIsShort) {
  const DenseDemand demand{3000, 67584, 1, 12};
  const DenseShape here = choose_dense_shape(demand, {132, middle});
  EXPECT_TRUE(here.by_signs);
  EXPECT_EQ(here.warps, 1);
  EXPECT_EQ(here.replicas_per_block, 8);
  EXPECT_EQ(choose_dense_shape(demand, {132, large}).replicas_per_block, 16);
  EXPECT_EQ(choose_dense_shape({2000, 67584, 1, 12}, {132, middle}).replicas_per_block, 16);
  EXPECT_EQ(choose_dense_shape({4096, 67584, 1, 12}, {132, small}).warps, 2) << "blocks do not fit";
}

// Devices with room for all shapes keep those that they had.
TEST(DenseShape, DependsOnSharedMemoryOnlyWhereItIsShort) {
  for (std::int64_t n = 1; n <= 20000; n += 7) {
    for (const std::int64_t replicas : {32, 1024, 4224, 67584}) {
      for (const int sign_planes : {0, 12}) {
        const DenseDemand demand{n, replicas, 1, sign_planes};
        const DenseShape a = choose_dense_shape(demand, {132, large});
        const DenseShape b = choose_dense_shape(demand, {132, std::int64_t{1} << 40});
        ASSERT_EQ(a.by_signs, b.by_signs) << n;
        ASSERT_EQ(a.warps, b.warps) << n;
        ASSERT_EQ(a.replicas_per_block, b.replicas_per_block) << n;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::cuda::dense_shape_test
