// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <fmt/format.h>

namespace kiln::cli {

void BenchReport::measure(const std::string& row, const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    failed.push_back({{"row", row}, {"error", error.what()}});
    notes.push_back(fmt::format("failed: {}: {}", row, error.what()));
    if (!first_failure) first_failure = std::current_exception();
  }
}

}  // namespace kiln::cli
