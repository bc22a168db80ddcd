// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fuzz.hpp"
#include "output/text.hpp"

// What makes texts fit for a terminal.
namespace kiln::test {

inline bool is_clean(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) return false;
  }
  return true;
}

/// Cleans a text: JSON takes the result as UTF-8, nothing in it moves a cursor, and cleaning it
/// again changes nothing.
inline void check_clean(const std::string& text) {
  const std::string result = cli::clean(text);
  require(is_clean(result) && result.find('\n') == std::string::npos, "no control characters");
  require(cli::clean(result) == result, "what is clean stays as it is");
  require(!nlohmann::json(result).dump().empty(), "it is UTF-8");
  require(is_clean(cli::clean_lines(text)), "nor in lines");
}

}  // namespace kiln::test
