// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/problems/qubo.hpp"

namespace kiln {

/// The data of a problem with at most pairwise terms: Max-Cut on a graph, a QUBO, an Ising model, a
/// Potts model or a graph to be coloured.
using PairwiseModel = std::variant<Graph, Qubo, Ising, Potts, Coloring>;

/// Max-Cut: the largest sum of weights of edges between two sides of a vertex set. Energy is sum_w
/// - 2 cut = sum of w_uv s_u s_v. @throws InvalidArgument for a graph without vertices.
KILN_API Problem make_maxcut(Graph graph, std::string name = "maxcut");
/// QUBO: f(x) = sum a_i x_i + sum_{i<j} b_ij x_i x_j + offset, x = 0 or 1, minimised or maximised.
KILN_API Problem make_qubo(Qubo qubo, Sense sense = Sense::minimize, std::string name = "qubo");
/// Ising model, minimised.
KILN_API Problem make_ising(Ising ising, std::string name = "ising");
/// The default sense of a model: cuts are maximised, all others minimised.
KILN_API Sense natural_sense(const PairwiseModel& model) noexcept;
/// Makes the problem of any of these models. With a sense other than the natural one the opposite
/// end is searched: the smallest cut, the largest energy.
KILN_API Problem make_pairwise(PairwiseModel model, Sense sense, std::string name);

}  // namespace kiln
