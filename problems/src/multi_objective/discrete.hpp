// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"

// The discrete families of several objectives from the text behind their colon. Exported for the
// unit tests only; the header is not installed.
namespace kiln::problems {

/// The problem of `knapsack:N,M,SEED`: items, knapsacks and a seed.
/// @throws InvalidArgument `problem.parameters` for a text of another form, and as knapsack().
KILN_API Problem knapsack_by_name(const std::string& text);

/// The problem of `cutpair:N,DENSITY,SEED`: vertices, per cent of all pairs, and a seed.
/// @throws InvalidArgument `problem.parameters` for a text of another form, and as cut_pair().
KILN_API Problem cut_pair_by_name(const std::string& text);

/// The problem of `route:FILE`: a table that read_routing() reads.
/// @throws InvalidArgument `problem.parameters` if there is no name; IoError `io.read` if the file
///   cannot be read; ParseError; and as routing().
KILN_API Problem routing_by_name(const std::string& text);

}  // namespace kiln::problems
