// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "kiln/export.hpp"

namespace kiln {

/// The limits that the control groups of this process set, as a container or a service has them.
struct ControlGroupLimits {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t memory_total = unlimited;  ///< bytes
  std::uint64_t memory_free = unlimited;   ///< bytes; files in the cache count as free
  int processors = 0;                      ///< rounded up; 0: unlimited

  /// Limits the memory of the host by `limit`, where 0 stands for "not known": a full group leaves
  /// a byte.
  static std::uint64_t bound_memory(std::uint64_t host, std::uint64_t limit) noexcept {
    if (limit == unlimited) return host;
    return std::max<std::uint64_t>(host == 0 ? limit : std::min(host, limit), 1);
  }
};

/// Reads the limits of the group and of all above it, of version 2 and of version 1. Unreadable
/// limits do not count.
/// @param root  the folder in which proc/ and sys/ lie
KILN_TEST_API ControlGroupLimits control_group_limits(const std::filesystem::path& root = "/");

}  // namespace kiln
