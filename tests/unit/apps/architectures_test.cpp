// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/architectures.hpp"

#include <gtest/gtest.h>

#include "kiln/version.hpp"

namespace kiln::cli::architectures_test {
namespace {

TEST(Architectures, NamesThoseThatNoTestWasRunOn) {
  const std::vector<int> compiled{80, 90, 100, 120};
  EXPECT_EQ(architectures_text(never_run(compiled, {90})), "sm_80, sm_100, sm_120");
  EXPECT_EQ(never_run(compiled, {}), compiled);
  EXPECT_TRUE(never_run({90}, {80, 90}).empty());
  EXPECT_EQ(architectures_text({}), "");
}

TEST(Architectures, AreKnownToABuildWithCuda) {
  const BuildInfo build = build_info();
  EXPECT_EQ(build.cuda_architectures.empty(), !build.cuda);
  EXPECT_FALSE(build.tested_architectures.empty());
  for (const int one : build.cuda_architectures) EXPECT_GE(one, 50);
}

}  // namespace
}  // namespace kiln::cli::architectures_test
