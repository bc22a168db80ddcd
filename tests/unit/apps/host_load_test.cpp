// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/host_load.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <fstream>
#include <string>

namespace kiln::cli::host_load_test {
namespace {

namespace fs = std::filesystem;

class HostLoads : public testing::Test {
 protected:
  HostLoads() {
    std::string name = (fs::path(testing::TempDir()) / "kiln-load-XXXXXX").string();
    tasks_ = ::mkdtemp(name.data());
  }
  ~HostLoads() override {
    std::error_code ignored;
    fs::remove_all(tasks_, ignored);
  }
  void thread(const std::string& number, const std::string& text) const {
    fs::create_directory(tasks_ / number);
    std::ofstream(tasks_ / number / "schedstat") << text;
  }
  fs::path tasks_;
};

TEST_F(HostLoads, AreSumsOverThreads) {
  thread("10", "1500000000 250000000 12\n");
  thread("11", "500000000 750000000 3\n");
  const auto load = host_load(tasks_);
  ASSERT_TRUE(load);
  EXPECT_DOUBLE_EQ(load->running_s, 2);
  EXPECT_DOUBLE_EQ(load->waiting_s, 1);
}

TEST_F(HostLoads, AreUnknownWhereTheKernelKeepsNone) {
  EXPECT_FALSE(host_load(tasks_)) << "no threads";
  thread("10", "0 0 0\n");
  EXPECT_FALSE(host_load(tasks_)) << "zeros";
  thread("11", "no numbers\n");
  EXPECT_FALSE(host_load(tasks_));
  EXPECT_FALSE(host_load(tasks_ / "none"));
}

}  // namespace
}  // namespace kiln::cli::host_load_test
