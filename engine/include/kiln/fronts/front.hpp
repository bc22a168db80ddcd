// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// Points in the space of objectives, [point][objective].
using Points = std::vector<std::vector<double>>;

/// Values of one state: the minimised objectives and the violation of the constraints.
struct ObjectiveVector {
  std::vector<double> values;  ///< [objectives], all minimised
  double violation = 0;        ///< feasible if at most 0
};

/// Names, units and known front of the objectives of a problem. Values are in units in which all
/// objectives are minimised; `maximized` marks those shown with the sign changed.
struct KILN_API Objectives {
  std::vector<std::string> names;  ///< one for each: "f1", "cost"
  std::vector<bool> maximized;     ///< shown to users as -value
  bool constrained = false;        ///< whether a state can be infeasible
  /// The best and the worst value of each objective on the true front, if known: the box for
  /// hypervolumes. Else both are empty.
  std::vector<double> ideal, nadir;
  /// Computes the values of a state from the raw data, on the host.
  std::function<ObjectiveVector(StateSpan)> evaluate;
  /// About `count` points spread over the true front; empty function: unknown.
  std::function<Points(std::int64_t count)> true_front;

  std::size_t count() const { return names.size(); }
};

/// The box for hypervolumes, in which an objective f is (f - ideal) / (nadir - ideal).
struct KILN_API FrontBox {
  std::vector<double> ideal, nadir;  ///< [objectives], ideal < nadir
  std::vector<double> reference;     ///< [objectives], in units of the box

  std::vector<double> scaled(const std::vector<double>& values) const;
  /// The reference in the units of the objectives.
  std::vector<double> reference_values() const;
};

/// The bounding box of points; its reference lies a tenth of the extent beyond the worst values. An
/// objective with a single value gets an extent of 1.
KILN_API FrontBox box_around(const Points& points);

struct Problem;
class Queue;

/// The box of a problem, and the evaluations that it cost.
struct ProblemBox {
  FrontBox box;
  std::int64_t evaluations = 0;  ///< on the host, for the box alone
  std::int64_t not_finite = 0;   ///< evaluations with a NaN
};

/// The box in which hypervolumes of a problem are measured, the same for all its runs: from the
/// ideal to the nadir values if they are known, else around the values of `box_states` uniform
/// states, which depend on the space alone. The reference lies a tenth beyond.
/// @throws ObjectiveError as Objectives::evaluate does.
KILN_API ProblemBox box_of(const Problem& problem, Queue& queue);
inline constexpr std::int64_t box_states = 64;

/// One of the best compromises of a run.
struct FrontMember {
  std::vector<double> values;  ///< [objectives], minimised; recomputed on the host
  State state;
  double violation = 0;  ///< likewise; above 0 in Front::nearest only
};

/// States that may be on a front, as a schedule returns them.
struct FrontCandidates {
  std::vector<State> states;
  Points values;                   ///< values from the device, to be verified; may be empty
  std::vector<double> violations;  ///< likewise
  FrontBox box;                    ///< empty: the box of the problem, or one around the front
};

/// The front of a run: feasible, no member dominates another, no two have equal values; ascending
/// by the first objective.
struct KILN_API Front {
  std::vector<std::string> names;
  std::vector<bool> maximized;
  std::vector<FrontMember> members;
  FrontBox box;
  double hypervolume = 0;  ///< in units of the box
  double half_width = 0;  ///< half width of its 95 % interval; 0 up to four objectives: it is exact
  std::size_t knee = 0;   ///< member, see knee_point()
  std::size_t chosen = 0;             ///< member returned as solution, see compromise_point()
  std::vector<std::size_t> extremes;  ///< member of the smallest value, for each objective
  std::int64_t candidates = 0;        ///< number of examined states
  std::int64_t infeasible = 0;        ///< number of infeasible candidates
  double min_violation = 0;  ///< smallest violation of the candidates; above 0 the front is empty
  /// If no candidate is feasible: those of smallest violation, sorted by it; 100 at most.
  std::vector<FrontMember> nearest;
  bool verified = false;  ///< all values of the device agree with those of the host

  Points points() const;
  /// A value in the sign that users see.
  double shown(std::size_t objective, double value) const {
    return maximized[objective] ? 0.0 - value : value;
  }
};

/// The front of candidates, each evaluated again on the host.
KILN_API Front make_front(const Problem& problem, FrontCandidates candidates, Queue& queue);

}  // namespace kiln
