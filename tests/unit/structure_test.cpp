// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The house rules of the source tree: rooms of a size that can be surveyed, who may include whom,
// and what the engine may not know.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/registry.hpp"

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
/// all layers. Problems bring functions to the CUDA backend as a user does, in .cu files.
bool may_include(std::string_view source, std::string_view layer) {
  const std::string_view own = source.substr(0, source.find('/'));
  if (layer.empty() || layer == own || layer == "engine") return true;
  if (own == "apps" || own == "tests") return true;
  if (own == "problems" && layer == "gpu") return source.ends_with(".cu");
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
  EXPECT_FALSE(may_include("gpu/src/a.cu", layer_of_include("kiln/problems/densities/all.hpp")));
  EXPECT_FALSE(may_include("engine/include/kiln/kernels/sweeps/density_energy.hpp",
                           layer_of_include("kiln/problems/densities/catalog.hpp")));
  EXPECT_FALSE(may_include("problems/src/a.cpp", layer_of_include("kiln/cuda/queue.cuh")));
  EXPECT_FALSE(may_include("engine/src/run.cpp", layer_of_include("kiln/cuda/queue.cuh")));
}

std::string text_of(const std::string& path) {
  std::ifstream in(fs::path(KILN_SOURCE_DIR) / path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Backends describe devices, and the engine chooses for them (choose_shape).
TEST(Structure, ProblemsAndSchedulesAreMadeForNoDevice) {
  static const std::regex device("H[12]00|[Mm]ultiprocessor|NVIDIA");
  int seen = 0;
  for (const std::string& path : sources()) {
    if (!path.starts_with("problems/") && !path.starts_with("schedules/")) continue;
    ++seen;
    EXPECT_FALSE(std::regex_search(text_of(path), device)) << path;
  }
  EXPECT_GT(seen, 100) << "a test that sees nothing";
  EXPECT_TRUE(std::regex_search("each of the 132 multiprocessors of a GPU", device));
  EXPECT_TRUE(std::regex_search("Measured on an H200: the sparse sweep reaches its rate", device));
}

/// The string literals of a source, without comments and without the names of includes.
std::vector<std::string> literals_of(const std::string& text) {
  static const std::regex token(
      R"re(//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|#\s*include[^\n]*|'(?:\\.|[^'\\\n])'|"((?:\\.|[^"\\\n])*)")re");
  std::vector<std::string> literals;
  for (std::sregex_iterator at(text.begin(), text.end(), token), end; at != end; ++at) {
    if ((*at)[1].matched) literals.push_back((*at)[1].str());
  }
  return literals;
}

/// What a literal says of programs, schedules and problems that only the layers above know.
class Secrets {
 public:
  Secrets() {
    const char* const option = "an option or a command of the program";
    add(option, "(^|[ (])--[a-z]|-p [a-z_]+=");
    add(option, "kiln (solve|sample|check|list|describe|diagnose|doctor|bench|generate)\\b");
    const Registry registry = builtin_registry();
    for (const ScheduleEntry* entry : registry.schedules()) {
      add("schedule " + entry->name, "(^|[^a-z0-9_-])" + entry->name + "($|[^a-z0-9_-])");
    }
    for (const ProblemEntry* entry : registry.problems()) {  // many are words of the language
      const std::string& name = entry->name;
      add("problem family " + name,
          "^" + name + "$|'" + name + "'|(^|[^a-z])" + name + ":[A-Za-z0-9]");
    }
  }

  /// "" where it says nothing of the kind.
  std::string told_by(const std::string& literal) const {
    for (const auto& [secret, words] : secrets_) {
      if (std::regex_search(literal, words)) return secret;
    }
    return {};
  }

 private:
  void add(std::string secret, const std::string& words) {
    secrets_.emplace_back(std::move(secret), std::regex(words));
  }

  std::vector<std::pair<std::string, std::regex>> secrets_;
};

/// What the engine may say: an option of another program, what it calls a problem that is made from
/// an objective of the user, and the kind of functor that kernels of densities take.
bool is_own_word(const std::string& path, const std::string& literal) {
  if (literal.find("docker run --gpus all") != std::string::npos) return true;
  if (path == "engine/include/kiln/kernels/sweeps/density_ref.hpp") return literal == "density";
  return path == "engine/src/problem.cpp" && (literal == "function" || literal == "posterior");
}

TEST(Structure, TheEngineKnowsNoOptionNoScheduleAndNoProblem) {
  const Secrets secrets;
  std::size_t seen = 0;
  for (const std::string& path : sources()) {
    if (!path.starts_with("engine/")) continue;
    for (const std::string& literal : literals_of(text_of(path))) {
      ++seen;
      if (is_own_word(path, literal)) continue;
      EXPECT_EQ(secrets.told_by(literal), "") << path << ": \"" << literal << '"';
    }
  }
  EXPECT_GT(seen, 1000u) << "a test that sees nothing";
}

TEST(Structure, WhatTheEngineMustNotKnowIsFound) {
  const Secrets secrets;
  const std::string planted = R"(
    #include "hmc.hpp"
    // run with "--device cpu"
    /* or "-p moves=metropolis" */
    const char quote = '"';
    throw InvalidArgument("a.b", "say \"no\"", {}, "or run with --device cpu");
    fix = "-p moves=metropolis"; fix = "--replicas "; fix = "kiln list problems";
    schedule = "hmc"; text = "schedule 'tabu-coloring' is"; name = "hmc_transition";
    family = "maxcut"; family = "torus"; problem = "gset:G22"; key = "density.gradient";)";
  std::vector<std::string> told;
  for (const std::string& literal : literals_of(planted)) {
    if (const std::string secret = secrets.told_by(literal); !secret.empty())
      told.push_back(secret);
  }
  const std::string option = "an option or a command of the program";
  EXPECT_EQ(told, (std::vector<std::string>{option, option, option, option, "schedule hmc",
                                            "schedule tabu-coloring", "problem family torus",
                                            "problem family gset"}));
  EXPECT_EQ(literals_of(planted).size(), 13u);
}

}  // namespace
}  // namespace kiln::structure_test
