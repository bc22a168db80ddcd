// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The house rules of the source tree: rooms of a size that can be surveyed, and who may include
// whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::structure_test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 7> source_folders{"engine",       "schedules", "problems", "gpu",
                                                    "cpu_fallback", "apps",      "tests"};

bool is_source(const fs::path& path) {
  const std::string suffix = path.extension().string();
  return suffix == ".cpp" || suffix == ".hpp" || suffix == ".cu" || suffix == ".cuh";
}

/// All source files, by their paths from the root of the tree.
std::vector<std::string> sources() {
  const fs::path root = KILN_SOURCE_DIR;
  std::vector<std::string> found;
  for (const char* folder : source_folders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      found.push_back(entry.path().lexically_relative(root).generic_string());
    }
  }
  return found;
}

/// Where a header lies that an include names: "engine", "problems", ...; "" for none of ours.
std::string layer_of_include(std::string_view name) {
  if (name.starts_with("kiln/problems/")) return "problems";
  if (name.starts_with("kiln/schedules/")) return "schedules";
  if (name.starts_with("kiln/cuda/")) return "gpu";
  return name.starts_with("kiln/") ? "engine" : "";
}

/// Whether a source may include a header of a layer. The umbrella header is the facade, and names
/// all layers.
bool may_include(std::string_view source, std::string_view layer) {
  const std::string_view own = source.substr(0, source.find('/'));
  if (layer.empty() || layer == own || layer == "engine") return true;
  if (own == "apps" || own == "tests") return true;
  return source == "engine/include/kiln/kiln.hpp";
}

TEST(Structure, FoldersHaveFortySourcesAtMost) {
  std::map<std::string, int> count;
  for (const std::string& path : sources()) ++count[fs::path(path).parent_path().string()];
  for (const auto& [folder, files] : count) EXPECT_LE(files, 40) << folder;
  EXPECT_GT(count.size(), 50u) << "a test that sees nothing";
}

TEST(Structure, FilesHaveFourHundredLinesAtMost) {
  for (const std::string& path : sources()) {
    std::ifstream in(fs::path(KILN_SOURCE_DIR) / path);
    std::int64_t lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    EXPECT_GT(lines, 0) << path;
    EXPECT_LE(lines, 400) << path;
  }
}

TEST(Structure, NoIncludePointsUpwards) {
  static const std::regex include("^\\s*#\\s*include \"([^\"]+)\"");
  int seen = 0;
  for (const std::string& path : sources()) {
    std::ifstream in(fs::path(KILN_SOURCE_DIR) / path);
    for (std::string line; std::getline(in, line);) {
      std::smatch found;
      if (!std::regex_search(line, found, include)) continue;
      ++seen;
      EXPECT_TRUE(may_include(path, layer_of_include(found[1].str()))) << path << ": " << line;
    }
  }
  EXPECT_GT(seen, 1000) << "a test that sees nothing";
  // Arrows that must not be.
  EXPECT_FALSE(may_include("engine/src/run.cpp", layer_of_include("kiln/problems/graph.hpp")));
  EXPECT_FALSE(may_include("schedules/hmc/hmc.cpp", layer_of_include("kiln/problems/graph.hpp")));
  EXPECT_FALSE(may_include("problems/src/a.cpp", layer_of_include("kiln/schedules/hmc.hpp")));
  EXPECT_FALSE(may_include("gpu/src/a.cu", layer_of_include("kiln/schedules/hmc.hpp")));
  EXPECT_FALSE(may_include("engine/src/run.cpp", layer_of_include("kiln/cuda/queue.cuh")));
}

}  // namespace
}  // namespace kiln::structure_test
