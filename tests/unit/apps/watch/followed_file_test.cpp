// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A file that grows, shrinks, is replaced or is none: what a reader that polls makes of it.
#include "watch/followed_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>  // mkdtemp
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kiln::cli::followed_file_test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class FollowedFiles : public testing::Test {
 protected:
  FollowedFiles() {
    std::string name = (fs::path(testing::TempDir()) / "kiln-followed-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "events.ndjson";
  }
  ~FollowedFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }
  fs::path folder_, path_;
};

TEST_F(FollowedFiles, GiveWholeLinesOnce) {
  FollowedFile file(path_);
  EXPECT_EQ(file.read().lines, Lines{}) << "no file yet";
  append("one\ntw");
  EXPECT_EQ(file.read().lines, Lines{"one"});
  EXPECT_EQ(file.read().lines, Lines{});
  append("o\n\nthree\n");
  EXPECT_EQ(file.read().lines, (Lines{"two", "", "three"}));
}

TEST_F(FollowedFiles, BeginAnewWhenTheFileShrinksOrIsAnother) {
  FollowedFile file(path_);
  append("one\ntwo\npart");
  file.read();
  std::ofstream(path_, std::ios::trunc) << "1\n";
  FollowedFile::News news = file.read();
  EXPECT_TRUE(news.restarted);
  EXPECT_EQ(news.lines, Lines{"1"}) << "the part of the former line is gone";
  std::ofstream(folder_ / "new") << "another\nfile\n";
  fs::rename(folder_ / "new", path_);
  news = file.read();
  EXPECT_TRUE(news.restarted);
  EXPECT_EQ(news.lines, (Lines{"another", "file"}));
  EXPECT_FALSE(file.read().restarted);
}

TEST_F(FollowedFiles, LeaveOutLinesOfMoreThanAMebibyte) {
  FollowedFile file(path_);
  append("a\n" + std::string((1 << 20) + 1, 'x') + "\nb\n" + std::string(1 << 20, 'y') + "\n");
  const FollowedFile::News news = file.read();
  ASSERT_EQ(news.lines.size(), 3U);
  EXPECT_EQ(news.lines[0], "a");
  EXPECT_EQ(news.lines[1], "b");
  EXPECT_EQ(news.lines[2].size(), std::size_t{1} << 20);
  EXPECT_EQ(file.long_lines(), 1);
}

TEST_F(FollowedFiles, TakeALargeFileInPieces) {
  FollowedFile file(path_);
  std::string text;
  for (int i = 0; i < 1'200'000; ++i) text += "line\n";
  append(text);
  std::size_t count = 0;
  int looks = 0;
  for (bool more = true; more; ++looks) {
    FollowedFile::News news = file.read();
    count += news.lines.size();
    more = news.more;
  }
  EXPECT_EQ(count, 1'200'000U);
  EXPECT_GT(looks, 1);
}

// Neither blocks.
TEST_F(FollowedFiles, ReadNoPipesAndNoFolders) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(FollowedFile(path_).read().lines, Lines{});
  EXPECT_FALSE(FollowedFile(path_).age_s());
  EXPECT_EQ(FollowedFile(folder_).read().lines, Lines{});
}

TEST_F(FollowedFiles, TellHowOldTheyAre) {
  append("a\n");
  fs::last_write_time(path_, fs::file_time_type::clock::now() - std::chrono::seconds(100));
  EXPECT_NEAR(FollowedFile(path_).age_s().value(), 100, 5);
}

TEST_F(FollowedFiles, LastLinesAreWholeOnes) {
  EXPECT_EQ(last_lines(path_).last, "");
  append("no line");
  EXPECT_EQ(last_lines(path_).last, "");
  append(" yet\n");
  EXPECT_EQ(last_lines(path_).last, "no line yet");
  EXPECT_EQ(last_lines(path_).first, "no line yet");
  append("second\nthird\nfour");
  EXPECT_EQ(last_lines(path_).first, "no line yet");
  EXPECT_EQ(last_lines(path_).last, "third");
  for (int i = 1000; i < 9999; ++i) append("row " + std::to_string(i) + "\n");
  const LastLines lines = last_lines(path_);
  EXPECT_EQ(lines.last, "row 9998");
  EXPECT_EQ(lines.first.size(), 8U) << "the part of a line at the beginning of the tail";
  EXPECT_LT(lines.first, lines.last);
  append(std::string(10000, 'x') + "\n");
  EXPECT_EQ(last_lines(path_).last, "") << "longer than the tail";
}

}  // namespace
}  // namespace kiln::cli::followed_file_test
