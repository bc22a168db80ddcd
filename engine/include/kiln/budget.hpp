// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace kiln {

/// When a run ends; the first limit reached is the stop reason. Without any limit, the schedule
/// decides. In every case a run ends when it reaches KnownValues::bound.
/// Each limit may be given alone: `{.sweeps = 1000}`.
struct Budget {
  std::optional<double> time_limit_s = std::nullopt;  ///< seconds of run time, > 0
  std::optional<std::int64_t> sweeps = std::nullopt;  ///< sweeps of each replica, > 0
  std::optional<double> target = std::nullopt;        ///< objective value in the user's sense
};

}  // namespace kiln
