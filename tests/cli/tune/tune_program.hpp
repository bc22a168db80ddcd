// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace kiln::test {

/// `kiln tune` with a cache in the folder of the test.
class TuneProgramTest : public ProgramTest {
 protected:
  Call call(std::vector<std::string> words) const {
    Call made{std::move(words)};
    made.environment["KILN_TUNE"] = "on";
    made.environment["KILN_CACHE_DIR"] = (folder_ / "cache").string();
    return made;
  }
  Call tuning(std::vector<std::string> more = {}) const {
    Call made = call({"tune", "word_swap", "--device", "cpu"});
    made.words.insert(made.words.end(), more.begin(), more.end());
    return made;
  }
  std::filesystem::path file() const {
    for (const auto& one : std::filesystem::directory_iterator(folder_ / "cache/tune")) {
      if (one.path().string().find(".prev.") == std::string::npos) return one.path();
    }
    return {};
  }
  std::string text() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void rewrite_to(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
  void rewrite(const std::string& text) const { rewrite_to(file(), text); }
  std::vector<nlohmann::json> records(const std::string& what) const {
    std::vector<nlohmann::json> found;
    for (const std::string& line : lines_of(text())) {
      const nlohmann::json one = nlohmann::json::parse(line, nullptr, false);
      if (!one.is_discarded() && one.value("tune", "") == what) found.push_back(one);
    }
    return found;
  }
  // An outcome as a user's editor may leave it.
  void choose(const nlohmann::json& shape) const {
    nlohmann::json outcome = records("outcome").front();
    outcome["chosen"] = shape;
    outcome["gain"] = {1.1, 1.2, 1.3};
    rewrite(text() + outcome.dump() + "\n");
  }
};

}  // namespace kiln::test
