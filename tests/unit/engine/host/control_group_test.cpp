// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Files as Linux shows them, of both versions, in a folder of the test.
#include "host/control_group.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kiln::control_group_test {
namespace {

namespace fs = std::filesystem;

class ControlGroup : public testing::Test {
 protected:
  ControlGroup()
      : root_(fs::path(testing::TempDir()) / ("kiln-group-" + std::to_string(::getpid()))) {}
  ~ControlGroup() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  ControlGroupLimits limits() const { return control_group_limits(root_); }

  static constexpr std::uint64_t unlimited = ControlGroupLimits::unlimited;
  fs::path root_;
};

TEST_F(ControlGroup, WithoutFilesNothingIsLimited) {
  EXPECT_EQ(limits().memory_total, unlimited);
  EXPECT_EQ(limits().memory_free, unlimited);
  EXPECT_EQ(limits().processors, 0);
}

TEST_F(ControlGroup, OfVersionTwoLimitsMemoryAndProcessors) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "2147483648\n");
  write("sys/fs/cgroup/memory.current", "1610612736\n");
  write("sys/fs/cgroup/memory.stat", "anon 1073741824\nfile 536870912\ninactive_file 402653184\n");
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");

  EXPECT_EQ(limits().memory_total, 2147483648u);
  EXPECT_EQ(limits().memory_free, 2147483648u - (1610612736u - 402653184u));
  EXPECT_EQ(limits().processors, 2) << "one and a half";
}

TEST_F(ControlGroup, OfVersionTwoMayBeUnlimited) {
  write("proc/self/cgroup", "0::/user.slice\n");
  write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");

  EXPECT_EQ(limits().memory_total, unlimited);
  EXPECT_EQ(limits().memory_free, unlimited);
  EXPECT_EQ(limits().processors, 0);
}

// The tightest of all that a process is in counts, for each number on its own.
TEST_F(ControlGroup, ThoseAboveCountToo) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  write("sys/fs/cgroup/a/memory.max", "1000000\n");
  write("sys/fs/cgroup/a/memory.current", "900000\n");
  write("sys/fs/cgroup/a/b/memory.max", "800000\n");
  write("sys/fs/cgroup/a/b/memory.current", "100000\n");
  write("sys/fs/cgroup/a/b/c/memory.max", "max\n");
  write("sys/fs/cgroup/a/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "700000 100000\n");

  EXPECT_EQ(limits().memory_total, 800000u);
  EXPECT_EQ(limits().memory_free, 100000u);
  EXPECT_EQ(limits().processors, 4);
}

TEST_F(ControlGroup, OfVersionOneLimitsMemoryAndProcessors) {
  write("proc/self/cgroup",
        "9:name=systemd:/x\n4:memory:/docker/1\n3:cpuset:/\n1:cpu,cpuacct:/docker/1\n");
  // As in a container, which sees its own group as the topmost one.
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 250000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");

  EXPECT_EQ(limits().memory_total, 3000000u);
  EXPECT_EQ(limits().memory_free, 2250000u);
  EXPECT_EQ(limits().processors, 1) << "half of one";
}

TEST_F(ControlGroup, OfVersionOneMayBeUnlimited) {
  write("proc/self/cgroup", "1:cpu:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");

  EXPECT_EQ(limits().processors, 0);
}

TEST_F(ControlGroup, ThatIsFullLeavesNothing) {
  write("proc/self/cgroup", "no colon\n0:one colon\n0::/\n");
  write("sys/fs/cgroup/memory.max", "1000\n");
  write("sys/fs/cgroup/memory.current", "1500\n");

  EXPECT_EQ(limits().memory_free, 0u);
}

// 0 is how a device says that it does not know, and a plan then fits.
TEST(ControlGroupLimitsOfMemory, BoundWhatTheHostHas) {
  constexpr std::uint64_t unlimited = ControlGroupLimits::unlimited;
  EXPECT_EQ(ControlGroupLimits::bound_memory(1000, unlimited), 1000u);
  EXPECT_EQ(ControlGroupLimits::bound_memory(1000, 400), 400u);
  EXPECT_EQ(ControlGroupLimits::bound_memory(1000, 4000), 1000u);
  EXPECT_EQ(ControlGroupLimits::bound_memory(0, 400), 400u);
  EXPECT_EQ(ControlGroupLimits::bound_memory(0, unlimited), 0u);
  EXPECT_EQ(ControlGroupLimits::bound_memory(1000, 0), 1u);
}

}  // namespace
}  // namespace kiln::control_group_test
