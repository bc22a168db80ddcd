// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/atomic_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "kiln/errors.hpp"

#include "full_disk.hpp"

namespace kiln::cli::atomic_file_test {
namespace {

namespace fs = std::filesystem;

class GrowingFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kiln-growing-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string content() const {
    std::ifstream in(folder_ / "log");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

TEST_F(GrowingFileTest, HasWhatWasAppendedAtOnce) {
  GrowingFile file(folder_ / "log");
  file.append("a\n");
  EXPECT_EQ(content(), "a\n");
  file.append("b\n", true);
  EXPECT_EQ(content(), "a\nb\n");
  EXPECT_EQ(file.error(), "");
  EXPECT_THROW(GrowingFile(folder_ / "log"), IoError) << "nothing that exists is overwritten";
}

TEST_F(GrowingFileTest, GoesOnWhereADiskHasRoomAgain) {
  GrowingFile file(folder_ / "log");
  file.append("1\n");
  {
    const test::FullDisk full(3);
    file.append("22\n", true);
    EXPECT_EQ(content(), "1\n") << "no part of a line";
    EXPECT_NE(file.error().find("cannot be written"), std::string::npos);
    file.append("333\n", true);
    EXPECT_EQ(content(), "1\n");
  }
  file.append("4\n", true);
  EXPECT_EQ(content(), "1\n22\n333\n4\n");
  EXPECT_EQ(file.error(), "");
}

TEST_F(GrowingFileTest, IsMadeLaterWhereItCannotBeMadeNow) {
  const fs::path place = folder_ / "none" / "log";
  GrowingFile file(place);
  EXPECT_NE(file.error().find("cannot be created"), std::string::npos);
  file.append("1\n");
  fs::create_directory(folder_ / "none");
  file.append("2\n");
  fs::rename(place, folder_ / "log");
  EXPECT_EQ(content(), "1\n2\n");
  EXPECT_EQ(file.error(), "");
}

}  // namespace
}  // namespace kiln::cli::atomic_file_test
