// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/bifurcation/bifurcation_rule.hpp"
#include "kiln/kernels/bifurcation/kernels.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// Draws positions and momenta of oscillators at the start of a round, and does nothing at other
/// steps.
///
/// Both are uniform in (-0.1, 0.1). Sites 2 k and 2 k + 1 take the four words of quad k of
/// RngDomain::bifurcation at the step of the run, position before momentum. A site without a
/// variable has 0. Class E.
struct KILN_API BifurcationStart {
  static constexpr const char* name = "bifurcation_start";
  static constexpr const char* summary =
      "draws positions and momenta of oscillators at the start of a round";

  View1<const std::int32_t> variable;  ///< [sites], -1: no variable
  View2<float> position, momentum;     ///< [sites][slots], overwritten
  DrawIds draw_ids;                    ///< [slots]
  BifurcationRounds rounds;
  const RunControl* control = nullptr;
  std::uint32_t step_offset = 0;

  double bytes() const { return bytes_of(position) + bytes_of(momentum); }
  KILN_HD bool active() const {
    return control->active(step_offset) && rounds.at(control->step + step_offset).step == 0;
  }
  KILN_HD Words4 words_of(std::int64_t slot, std::int64_t site) const {
    return draw_quad(draw_ids.at(slot, control->step + step_offset, RngDomain::bifurcation),
                     static_cast<std::uint32_t>(site / 2));
  }
};

}  // namespace kiln
