// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kiln::cli {

/// What a suite found: `facts` are what all rows have in common (method, floors); the table has a
/// header, and numbers from column `first_number` on.
struct BenchReport {
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> table;
  std::size_t first_number = 1;
  std::vector<std::string> notes;
  nlohmann::ordered_json failed = nlohmann::ordered_json::array();  ///< rows without figures
  std::exception_ptr first_failure;

  /// Measures a row. What that throws is kept as a failed row, so that no other row is lost.
  void measure(const std::string& row, const std::function<void()>& action);
};

}  // namespace kiln::cli
