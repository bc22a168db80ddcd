// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Replaces energies that are NaN or infinite by +inf, which has probability 0, and counts them.
/// AcceptMove does this for a single trial; this kernel does it for all candidates of a heat-bath
/// move. Class E.
struct KILN_API MaskNonfinite {
  static constexpr const char* name = "mask_nonfinite";
  static constexpr const char* summary =
      "replaces NaN and infinite energies of candidates by +inf, and counts these energies";

  View2<double> energy;             ///< [candidate][slot]
  View1<std::uint64_t> not_finite;  ///< [slots], counts
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  KILN_HD void operator()(std::int64_t slot) const {
    if (!control->active(step_offset)) return;
    for (std::int64_t candidate = 0; candidate < energy.rows; ++candidate) {
      double& e = energy(candidate, slot);
      if (exact::sub(e, e) == 0.0) continue;
      e = exact::infinity();
      ++not_finite[slot];
    }
  }
};

}  // namespace kiln
