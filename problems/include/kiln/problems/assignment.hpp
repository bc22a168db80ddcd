// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/qubo.hpp"
#include "kiln/registry.hpp"

namespace kiln {

/// Costs of giving tasks to workers: each worker gets one task, and no task has two workers.
struct Assignment {
  std::vector<std::string> workers;  ///< [worker] names, at least 1
  std::vector<std::string> tasks;    ///< [task] names, at least as many as workers
  std::vector<double> costs;         ///< [worker][task], finite
  Sense sense = Sense::minimize;     ///< of the total cost
};

/// Facilities to be placed, each at a different place, with a flow between each two of them.
struct QuadraticAssignment {
  std::vector<std::string> facilities;  ///< [facility] names, at least 1
  std::vector<std::string> places;      ///< [place] names, as many
  std::vector<double> flows;            ///< [facility][facility], finite
  std::vector<double> distances;        ///< [place][place], finite
  Sense sense = Sense::minimize;        ///< of the total cost
};

/// Pairs of bits that an assignment may have: each is a coupling.
inline constexpr std::int64_t max_assignment_pairs = std::int64_t{1} << 26;

/// Makes a linear assignment problem: the least sum of costs of workers and their tasks. It is a
/// QUBO with a bit for each worker and task (problems::assignment_model()). The Hungarian method
/// solves this problem exactly in O(n^3); as a QUBO it is an example of constraints on
/// permutations. Values are recomputed from the costs. States that are no assignment are
/// infeasible.
///
/// @throws InvalidArgument `problem.size` for more workers than tasks, or more pairs of bits than
///   max_assignment_pairs; `problem.value` for costs that are not finite or add up to infinity.
KILN_API Problem make_assignment(Assignment assignment, std::string name = "assignment");

/// Makes a quadratic assignment problem: the least sum over pairs of facilities of flow times the
/// distance of their places, both in order: flows[a][b] with distances[place of a][place of b].
///
/// @throws InvalidArgument as make_assignment().
/// @par Source  Koopmans and Beckmann, Econometrica 25 (1957) 53.
KILN_API Problem make_quadratic_assignment(QuadraticAssignment assignment,
                                           std::string name = "assignment");

namespace problems {

/// An assignment as a QUBO of n m bits; bit i m + j gives place j to item i:
///
///     f(x) = cost(x) + sum_i penalty_i (sum_j x_ij - 1)^2
///                    + sum_j sum_{i<k} clash_ik x_ij x_kj
///
/// The cost is written with terms that are at least 0: constants that every assignment pays are
/// taken out of rows of costs, of flows and of distances. The penalties are exact: for each state
/// that is no assignment there is a single bit whose change makes f less. So neither the minimum of
/// f nor any state that no single flip makes better violates a constraint.
///
/// @par Proof  Taking a bit away never raises the cost.
///   A place with several items: without the item of the least penalty_i among them, f is less by
///   at least clash_ik > penalty_i, and the row of i costs at most penalty_i more.
///   Else an item with several places: without one of them, f is less by at least penalty_i.
///   Else an item without a place: of the m places at most n - 1 are taken. Adding one of the
///   others costs at most a_i, the n-th smallest over the places of the greatest cost that item i
///   can have there, and penalty_i > a_i.
struct AssignmentModel {
  Qubo qubo;                      ///< of the sum to be minimised, or maximised
  std::vector<double> penalties;  ///< [item]
  double rounding = 0;            ///< bound of the rounding error of f and of the recomputed cost
};

/// @throws InvalidArgument as make_assignment().
KILN_API AssignmentModel assignment_model(const Assignment& assignment);
KILN_API AssignmentModel assignment_model(const QuadraticAssignment& assignment);

/// Computes the cost of a state from the given numbers. The bits are [item][place], 0 or 1.
KILN_API double cost_of(const Assignment& assignment, std::span<const std::int8_t> bits);
KILN_API double cost_of(const QuadraticAssignment& assignment, std::span<const std::int8_t> bits);

/// Makes the problem `assignment:FILE` with its options by name: flows, sense. FILE has the costs,
/// or the distances where flows are given.
/// @throws ParseError with line, column and the names of row and column; InvalidArgument; IoError.
KILN_API Problem assignment_by_name(const std::string& file, const ProblemSettings& settings);

}  // namespace problems
}  // namespace kiln
