// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/fronts/front.hpp"
#include "kiln/problem.hpp"

namespace kiln::cli {

/// A front to compare with.
struct ReferenceFront {
  Points points;                ///< minimised
  std::int64_t infeasible = 0;  ///< lines that were left out
};

/// Reads such a front, in the units that users read: a file of plain points
/// (problems::read_front, or problems::read_csv for quotes and decimal commas), or a table with a
/// column for each objective by its name, as front.csv is. Other columns of a table are not read,
/// but for `violation`: lines where it is above 0 are left out. Of a folder its front.csv is read.
/// @param note  gets a note on its numbers, if there is one
/// @throws InputError if the file cannot be read, and `front.infeasible` if no line is feasible;
/// ParseError; InvalidArgument `front.dimension` for another number of objectives.
ReferenceFront load_reference_front(const std::string& path, const Problem& problem,
                                    std::string& note);

/// Points of a file that a front is compared with: the end of a run must not wait for more.
inline constexpr std::size_t max_reference_points = 20000;

/// At most so many of the points, at least one: evenly spaced in the order of their coordinates,
/// both ends included. All of them where they are not more, in the order that they have.
Points thinned_front(Points points, std::size_t most);

/// What the front of a run is compared with: that of a file (of such a folder), or else the true
/// front as far as it is known. Where the problem knows no box for its volumes, and the front of
/// the file spans something in every objective, the problem gets the box of that. Of a larger file
/// max_reference_points are left.
/// @param path  may be empty
/// @param notes  gets notes on the file
Points reference_front_of(const std::string& path, Problem& problem,
                          std::vector<std::string>& notes);

}  // namespace kiln::cli
