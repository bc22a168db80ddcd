// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/qubo.hpp"

namespace kiln {

/// E(s) = offset + sum_i h_i s_i + sum_{u<v} J_uv s_u s_v, s = -1 or +1, minimised.
struct Ising {
  std::int32_t n = 0;
  std::vector<double> fields;   ///< [n]
  std::vector<Edge> couplings;  ///< u < v, each pair once
  double offset = 0;
};

/// Max-Cut: the greatest sum of weights of edges between two sides of a vertex set.
/// Energy is sum_w - 2 cut = sum of w_uv s_u s_v. @throws InvalidArgument for a graph without
/// vertices.
KILN_API Problem make_maxcut(Graph graph, std::string name = "maxcut");
/// QUBO: f(x) = sum a_i x_i + sum_{i<j} b_ij x_i x_j + offset, x = 0 or 1, minimised or maximised.
KILN_API Problem make_qubo(Qubo qubo, Sense sense = Sense::minimize, std::string name = "qubo");
/// Ising model, minimised.
KILN_API Problem make_ising(Ising ising, std::string name = "ising");

}  // namespace kiln
