// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
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

/// The same from a stream.
/// @param name  of what is read, for messages
std::vector<State> read_states(std::istream& in, const std::string& name, const Problem& problem);

/// A state of values in the order of the blocks, as they are.
/// @throws InvalidArgument for values that a block does not have.
State canonical_state(const Space& space, std::span<const double> values);

}  // namespace kiln::cli
