// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/tree_launch.hpp"

#include <gtest/gtest.h>

#include "kiln/kernels/fronts/proposal_tree.hpp"

namespace kiln::test::tree_launch_test {
namespace {

using cuda::detail::TreeLaunch;

TreeLaunch launch_of(std::int64_t replicas, std::int64_t variables, int multiprocessors = 132) {
  return TreeLaunch::of(replicas, multiprocessors, [&](int levels) {
    return levels == 5 ? ProposalTree<5>::bytes(variables) : ProposalTree<3>::bytes(variables);
  });
}

TEST(TreeLaunch, TakesTeamsWhileMultiprocessorsHaveRoomForTheirWarps) {
  EXPECT_EQ(launch_of(1, 1).levels, 5);
  EXPECT_EQ(launch_of(2112, 10).levels, 5);
  EXPECT_EQ(launch_of(2113, 10).levels, 3);
  EXPECT_EQ(launch_of(8448, 10).levels, 3);
  EXPECT_EQ(launch_of(8449, 10).levels, 0);
  EXPECT_EQ(launch_of(32768, 30).levels, 0);
  EXPECT_EQ(launch_of(1024, 10, 16).levels, 3) << "a small card";
}

TEST(TreeLaunch, HasThreadsForAllReplicasAndNoMoreMemoryThanABlockGets) {
  for (const std::int64_t variables : {1, 10, 33, 123, 124, 500, 501, 1900, 2100, 100000}) {
    for (const std::int64_t replicas : {1, 31, 33, 1024, 3001, 8000}) {
      const TreeLaunch launch = launch_of(replicas, variables);
      if (launch.levels == 0) continue;
      const unsigned lanes = 1u << launch.levels, teams = launch.threads / lanes;
      EXPECT_GE(launch.blocks * teams, replicas);
      EXPECT_LT((launch.blocks - 1) * teams, replicas);
      EXPECT_LE(launch.shared, 40u * 1024);
      const std::int64_t bytes = launch.levels == 5 ? ProposalTree<5>::bytes(variables)
                                                    : ProposalTree<3>::bytes(variables);
      EXPECT_EQ(launch.shared, teams * static_cast<std::size_t>(bytes));
      EXPECT_EQ(bytes % 8, 0);
    }
  }
  EXPECT_EQ(launch_of(100, 30).threads, 128u);
  EXPECT_EQ(launch_of(100, 1900).threads, 32u) << "one team of a block";
  EXPECT_EQ(launch_of(1, 2100).levels, 0) << "a thread, and values in device memory";
}

}  // namespace
}  // namespace kiln::test::tree_launch_test
