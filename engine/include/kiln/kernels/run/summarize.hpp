// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/summary_target.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Reduces the batch to the numbers of a report point. It only reads and never changes a path. The
/// mean is summed in a fixed order per backend and is for display (class D); the rest is exact.
struct KILN_API Summarize {
  static constexpr const char* name = "summarize";
  static constexpr const char* summary =
      "computes the statistics of a report point from all replicas";
  static constexpr const char* accuracy = "D";

  const RunControl* control = nullptr;
  View1<const double> energy;             ///< [slots]
  View1<const std::uint64_t> accepted;    ///< [slots]
  View1<const std::uint64_t> not_finite;  ///< [slots]
  View1<const double> beta;               ///< [rungs]
  std::int64_t replicas = 0;
  SummaryTarget target;  ///< Queue::summary_target(), or loop_summary_target() in a loop

  double bytes() const {
    return bytes_of(energy) + bytes_of(accepted) + bytes_of(not_finite) + sizeof(RunSummary);
  }
};

}  // namespace kiln
