// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/problem.hpp"
#include "kiln/result.hpp"

namespace kiln {

/// Whether a value ended the run, the target or KnownValues::bound: nobody asked for more, and
/// averages that are cut short need no advice.
inline bool ended_by_value(const Problem& problem, const Result& result) {
  if (result.stop == Stop::target_reached) return true;
  return problem.known.bound && !problem.better(*problem.known.bound, result.objective);
}

}  // namespace kiln
