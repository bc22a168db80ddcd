// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/space.hpp"

namespace kiln {

enum class Sense : std::uint8_t;

/// Points in the space of objectives, [point][objective].
using Points = std::vector<std::vector<double>>;

/// Values of one state: what is minimised, and by how much the constraints are violated.
struct ObjectiveVector {
  std::vector<double> values;  ///< [objectives], all minimised
  double violation = 0;        ///< feasible if at most 0
};

/// What a problem with several objectives says of them. Everything is in units in which all
/// objectives are minimised; `maximized` says which of them are shown with the sign changed.
struct KILN_API Objectives {
  std::vector<std::string> names;  ///< one for each: "f1", "cost"
  std::vector<bool> maximized;     ///< shown to users as -value
  bool constrained = false;        ///< whether a state can be infeasible
  /// The best and the worst value of each objective on the true front, where it is known: the box
  /// that volumes are measured in. Both empty where it is not.
  std::vector<double> ideal, nadir;
  /// The values of a state computed anew from the raw data, on the host.
  std::function<ObjectiveVector(StateSpan)> evaluate;
  /// About so many points spread over the true front; empty function: it is not known.
  std::function<Points(std::int64_t count)> true_front;

  std::size_t count() const { return names.size(); }
};

}  // namespace kiln
