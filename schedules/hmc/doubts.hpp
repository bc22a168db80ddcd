// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/run_context.hpp"
#include "kiln/statistics/sample.hpp"

// A gradient that is wrong does not make wrong draws, but chains that hardly move: nothing that is
// told of them says why.
namespace kiln::hmc {

/// Whether draws look as those of a wrong gradient do: few moves are accepted, steps are tiny,
/// many transitions diverge, or most trees are cut off.
bool shows_trouble(const Sample& sample);
/// The same of an anneal: few of its transitions are accepted.
bool shows_trouble(const Work& work);

/// Holds the gradient of the objective against differences of its energy where chains are now: at
/// one of them where that costs no more than a hundredth of the gradients that the run `made`; at
/// three of them, within a bound, where there is `trouble`.
/// @return a sentence about a gradient that is wrong, or "".
std::string doubt_about_gradient(RunContext& run, bool trouble, double made);

}  // namespace kiln::hmc
