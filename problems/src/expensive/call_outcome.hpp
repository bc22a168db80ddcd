// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::problems::detail {

/// What came of the evaluation of a point by a program.
struct CallOutcome {
  enum class End : std::uint8_t { values, failed, stopped, not_started };
  End end = End::failed;
  std::vector<double> values{};  ///< the value, then the constraints
  std::string line{};            ///< from which they are
  std::string why{};             ///< of `failed`
  std::string said{};            ///< the last line that a program printed which failed
  int reason = 0;                ///< of `not_started`, an errno
};

}  // namespace kiln::problems::detail
