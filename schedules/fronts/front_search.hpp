// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/fronts/front.hpp"
#include "kiln/problem.hpp"
#include "kiln/run_context.hpp"

#include "front_volume.hpp"
#include "pool.hpp"

namespace kiln {

/// What every schedule for fronts has: the pool of points, the hypervolume of its residents, and
/// the box in whose units volumes are measured.
struct FrontSearch {
  Pool pool;
  FrontVolume volume;
  FrontBox box;
  bool has_box = false;

  /// Allocates pool and volume, in Schedule::allocate. The sizes of the pool are set before.
  void allocate(AllocateContext& run, const std::vector<double>& epsilon);
  /// Measures volumes in this box from now on.
  /// @param reference  reference point in the units that users read; empty: that of the box
  void measure_in(RunContext& run, FrontBox chosen, const std::vector<double>& reference);
  /// The residents on the first front, whose states these are.
  FrontCandidates first_front(ReportContext& run, const std::vector<StateBlock>& states) const;
  /// The front of the largest volume that was measured, or first_front() where that is as large: a
  /// population forgets.
  /// @param boxes  whether the pool keeps one member of a box (epsilon): then the extremes of the
  /// present front are not added
  FrontCandidates best_front(ReportContext& run, const std::vector<StateBlock>& states,
                             bool boxes) const;
};

/// Complaints about the lengths of `reference` and `epsilon`; one epsilon is repeated for all
/// objectives.
void check_lengths(const std::vector<double>& reference, std::vector<double>& epsilon,
                   std::size_t objectives, std::vector<std::string>& complaints);

/// Adds the number of evaluations of a run whose steps evaluate every replica once.
void report_evaluations(const ReportContext& run, Result& result);
/// Adds the size of the front, and advice on its reference point.
void report_front(Result& result);

}  // namespace kiln
