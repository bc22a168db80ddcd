// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kiln/export.hpp"
#include "kiln/objective.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// Ability of objectives that can be converted for the opposite sense of their problem.
class KILN_API Turnable {
 public:
  static constexpr std::string_view interface_name = "turned model";
  /// The same function on the same states with the sign of every energy changed. Null if the model
  /// has no counterpart: then neither its moves nor its schedule serve the opposite sense.
  virtual std::shared_ptr<const Objective> turned() const = 0;
  /// Why the opposite sense is meaningless: "asks for the fewest colours: it has no most". Empty if
  /// it has a meaning, which is the default.
  virtual std::string why_not_turned() const { return {}; }

 protected:
  ~Turnable() = default;
};

/// The problem with the opposite sense: maximised if it is minimised, and the reverse. It has no
/// best-known value; constraints are unchanged. A Turnable objective keeps its moves and devices,
/// but not a schedule that it suggests (StartHints). For any other objective the value is
/// SolutionFunctions::verify, called on the host. Problems with a model may do the conversion
/// themselves (make_pairwise()).
///
/// @throws InvalidArgument `problem.sense` for several objectives, each of which has a sense, for
/// densities, whose opposite sense has no probability mass, for constraints that the objective
/// holds as penalties, and for objectives that give a reason.
KILN_API Problem turned(const Problem& problem);

}  // namespace kiln
