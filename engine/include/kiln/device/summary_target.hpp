// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"
#include "kiln/device/run_control.hpp"

namespace kiln {

/// Where a kernel writes a summary. Each launch of a loop writes to another slot, although a
/// captured kernel has the same arguments each time: the next launch may begin before the host has
/// read the summary of this one.
struct SummaryTarget {
  RunSummary* first = nullptr;              ///< [slots], memory that the host reads
  const std::uint64_t* launches = nullptr;  ///< [1] so far, this one included; null: no loop
  std::uint64_t slots = 1;                  ///< that the launches of a loop use in turn

  KILN_HD RunSummary& slot() const {
    return first[launches == nullptr ? 0 : (*launches - 1) % slots];
  }
};

}  // namespace kiln
