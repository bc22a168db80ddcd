// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/kernels/exchange/ladder_places.hpp"
#include "kiln/objectives/draws_planes.hpp"
#include "kiln/run.hpp"
#include "kiln/schedule.hpp"

#include "run_parts.hpp"

namespace kiln {

/// Whether the model is one for DrawNaming::planes, and sweeps itself.
inline bool is_for_planes(const Objective& objective, const Needs& needs) {
  const auto* const able = objective.as<DrawsPlanes>();
  return able != nullptr && able->can_draw_by_planes() && sweeps_itself(objective, needs);
}

/// Why a run cannot draw by planes; "" if it can. Nothing of it depends on the device.
inline std::string obstacle_to_planes(const Objective& objective, const Needs& needs,
                                      const BatchShape& shape) {
  if (!is_for_planes(objective, needs)) {
    return "the model has no colour classes, or its weights are no small integers";
  }
  if (needs.heat_bath || !(needs.groups_share_words || needs.ladders_in_blocks)) {
    return "the schedule has heat-bath moves, or replicas of different temperatures in a group";
  }
  if (needs.ladders_in_blocks) {
    if (shape.groups % ladders_of_block == 0) return {};
    return std::to_string(shape.groups) + (shape.groups == 1 ? " ladder is" : " ladders are") +
           " no multiple of 32";
  }
  if (shape.replicas % (32 * shape.groups) != 0) {
    return "a group of " +
           std::to_string(shape.replicas / std::max<std::int64_t>(1, shape.groups)) +
           " replicas is no multiple of 32";
  }
  return {};
}

/// @param obstacle  obstacle_to_planes()
/// @throws InvalidArgument `run.draw_naming` for planes that the run cannot have.
inline DrawNaming naming_for(const RunOptions& options, const std::string& obstacle) {
  const bool possible = obstacle.empty();
  if (options.draw_naming != DrawNaming::planes || possible) {
    return options.draw_naming.value_or(possible ? DrawNaming::planes : DrawNaming::words);
  }
  throw InvalidArgument("run.draw_naming", "this run cannot draw by planes", obstacle,
                        "leave the naming of draws to Kiln");
}

}  // namespace kiln
