// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "kiln/budget.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// Past evaluations that no model is shown more of.
inline constexpr std::size_t max_past = 5000;

/// How many past evaluations a model is shown. A fit takes a time that grows with their cube: on
/// the CPU a run with a time limit takes as many as its first fit has half of the time for, by a
/// measured 60 s for 1000 of them, and 200 at least. Exported for the unit tests only, as the next.
KILN_API std::size_t past_to_model(const Budget& budget, bool on_cpu);

/// Which of the past evaluations these are, in order: a tenth of them are the best, the others are
/// spread evenly over the rest. More of the best would mostly be one cluster.
/// @param values  minimised; what is not finite is the worst
KILN_API std::vector<std::size_t> chosen_past(const std::vector<double>& values, std::size_t most);

}  // namespace kiln
