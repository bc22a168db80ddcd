// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// main() of every test program. KILN_REQUIRE_GPU=1 makes GPU cases fail where there is no GPU;
// otherwise they are skipped with the reason.
#include <gtest/gtest.h>

#include "backends/backends.hpp"

namespace {

/// Releases devices before the runtimes that they need are torn down with the program.
class DeviceEnvironment final : public testing::Environment {
 public:
  void TearDown() override { kiln::test::close_devices(); }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new DeviceEnvironment);  // GoogleTest deletes it
  return RUN_ALL_TESTS();
}
