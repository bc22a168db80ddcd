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

/// Of objectives that know what becomes of them in a problem searched for its other end.
class KILN_API Turnable {
 public:
  static constexpr std::string_view interface_name = "turned model";
  /// The same function on the same states with the sign of every energy changed. Null where the
  /// model has no counterpart: then neither its moves nor its schedule serve the other end.
  virtual std::shared_ptr<const Objective> turned() const = 0;
  /// Why nobody can mean the other end: "asks for the fewest colours: it has no most". Empty if it
  /// has a meaning, which is the default.
  virtual std::string why_not_turned() const { return {}; }

 protected:
  ~Turnable() = default;
};

/// The problem searched for its other end: maximised if it is minimised, and the reverse. No best
/// value is known then; constraints stay as they are. A Turnable objective goes on with the moves
/// and devices that it has. Of any other objective the value is SolutionFunctions::verify, called
/// on the host. Problems with a model of their own may turn it themselves (make_pairwise()).
///
/// @throws InvalidArgument `problem.sense` for several objectives, each of which has a sense of its
///   own, for densities, whose other end is where nothing is, and for objectives that say why not.
KILN_API Problem turned(const Problem& problem);

}  // namespace kiln
