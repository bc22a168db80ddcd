// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kiln/problem.hpp"

namespace kiln::cli {

/// Reads states to begin in: numbers in the convention of solution.txt, one state after the other,
/// separated by blanks or line ends; `#` begins a comment.
///
/// @throws InputError if the file cannot be opened or read; ParseError for what is no number, and
///   for a number of values that is no multiple of the variables; InvalidArgument for values that
///   the problem does not know.
std::vector<State> read_initial_states(const std::string& path, const Problem& problem);

}  // namespace kiln::cli
