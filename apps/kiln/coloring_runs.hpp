// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kiln/run.hpp"

namespace kiln::cli {

/// No colouring has fewer colours than a clique has vertices: a run for the fewest colours that
/// gets there is done, whatever it was to reach. Of other problems the budget is as it was.
Budget with_bound(Budget budget, const Problem& problem);

/// Judges by the target of the user what ended by with_bound(): a bound is nobody's target.
void judge_by(const std::optional<double>& target, Result& result);

/// What a run for the fewest colours begins with, so that no schedule ends with more colours than a
/// greedy colouring has. Nothing for other problems.
std::vector<State> greedy_colorings(const Problem& problem);

}  // namespace kiln::cli
