// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "kiln/export.hpp"
#include "kiln/objective.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// Of objectives whose model has a counterpart of opposite sign.
class KILN_API Turnable {
 public:
  static constexpr std::string_view interface_name = "turned model";
  /// The same function on the same states with the sign of every energy changed.
  virtual std::shared_ptr<const Objective> turned() const = 0;

 protected:
  ~Turnable() = default;
};

/// The problem searched for its other end: maximised if it is minimised, and the reverse. No best
/// value is known then; constraints stay as they are. A Turnable objective goes on with the moves
/// and devices that it has. Of any other objective the value is Problem::verify, called on the
/// host. Problems with a model of their own may turn it themselves (make_pairwise()).
///
/// @throws InvalidArgument `problem.sense` for several objectives, each of which has a sense of its
///   own, and for densities, whose other end is where nothing is.
KILN_API Problem turned(const Problem& problem);

}  // namespace kiln
