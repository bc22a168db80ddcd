// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/registry.hpp"

// The continuous benchmarks of several objectives from the text behind the colon of their family.
// Exported for the unit tests only; the header is not installed.
//
// Common errors: InvalidArgument `problem.parameters` for a text of another form, and as the
// function of kiln/problems/multi_objective.hpp.
namespace kiln::problems {

/// The problem of `zdt:NUMBER` or `zdt:NUMBER,D`, D the number of variables.
KILN_API Problem zdt_by_name(const std::string& text);

/// The problem of `dtlz:NUMBER`, `dtlz:NUMBER,M` or `dtlz:NUMBER,M,K`: objectives, and variables
/// for the distance.
KILN_API Problem dtlz_by_name(const std::string& text);

/// The problem of `cdtlz:NAME` or `cdtlz:NAME,M`.
KILN_API Problem cdtlz_by_name(const std::string& text);

/// The problem of `wfg:NUMBER`, or with up to three of `,M,K,L` behind it: objectives, variables
/// for the position and for the distance.
KILN_API Problem wfg_by_name(const std::string& text);

/// The problem of `re:NUMBER`.
KILN_API Problem engineering_design_by_name(const std::string& text);

/// What may stand behind `cdtlz:` and `re:`, and what it is.
KILN_API std::vector<NamedSentence> cdtlz_names();
KILN_API std::vector<NamedSentence> engineering_design_names();

}  // namespace kiln::problems
