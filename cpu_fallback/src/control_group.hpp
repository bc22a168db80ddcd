// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace kiln::cpu {

/// What the control groups of this process leave it, as a container or a service has them.
struct ControlGroupLimits {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t memory_total = unlimited;  ///< bytes
  std::uint64_t memory_free = unlimited;   ///< bytes; files in the cache count as free
  int processors = 0;                      ///< rounded up; 0: unlimited
};

/// Reads the limits of the group and of all above it, of version 2 and of version 1. What cannot be
/// read is no limit.
/// @param root  the folder in which proc/ and sys/ lie
ControlGroupLimits control_group_limits(const std::filesystem::path& root = "/");

}  // namespace kiln::cpu
