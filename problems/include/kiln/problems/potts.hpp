// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/graph.hpp"

namespace kiln {

class ModelKind;  // kiln/problems/model.hpp

/// The energy of one value of a variable.
struct PottsField {
  std::int32_t variable = 0;
  std::int32_t value = 0;
  double amount = 0;
  friend bool operator==(const PottsField&, const PottsField&) = default;
};

/// E(x) = sum over fields of amount [x_variable == value] + sum_{u<v} J_uv [x_u == x_v], minimised;
/// every x_i is one of 0 .. q - 1. A positive coupling penalises equal values.
///
/// Canonical form, made by problems::canonicalize() and by every reader and generator: fields
/// sorted by (variable, value), u < v in each coupling, couplings sorted by (u, v), each pair once,
/// no amounts and no couplings of 0.
struct Potts {
  static constexpr std::int32_t max_values = 127;

  std::int32_t n = 0;
  std::int32_t q = 2;  ///< 2 .. max_values
  std::vector<PottsField> fields;
  std::vector<Edge> couplings;
  friend bool operator==(const Potts&, const Potts&) = default;
  KILN_API static const ModelKind& model_kind();
};

/// A graph to colour so that few edges join equal colours. Weights of the edges do not count.
struct Coloring {
  static constexpr std::int32_t max_colors = 65535;
  static constexpr std::int32_t fewest = -1;  ///< as few colours as possible

  Graph graph;
  std::int32_t colors = 0;  ///< 0: not set, as in a file that holds a graph alone
  friend bool operator==(const Coloring&, const Coloring&) = default;
  KILN_API static const ModelKind& model_kind();
};

namespace problems {

/// Brings a model into canonical form: sorts, adds up repeated pairs and drops zeros.
///
/// @return how many fields and couplings were merged into another one; dropped zeros do not count.
/// @throws InvalidArgument `problem.size` if n is negative or q is not 2 .. max_values,
///   `problem.range`, `problem.self_loop` or `problem.value` for a field or a coupling that cannot
///   be. Terms may have changed places then, nothing else.
KILN_API std::int64_t canonicalize(Potts& potts);

/// A line `potts n q`, then `h i v amount` for each field and `i j J` for each coupling.
/// @throws InvalidArgument `problem.not_canonical` if the model is not in canonical form.
KILN_API std::string canonical_text(const Potts& potts);
/// The first 16 hexadecimal digits of the SHA-256 of canonical_text(); the text is never stored.
KILN_API std::string fingerprint(const Potts& potts);

/// The fingerprint of the graph, whatever the number of colours.
KILN_API std::string fingerprint(const Coloring& coloring);

}  // namespace problems

/// Makes a Potts model, minimised. Every variable is a category of q values.
/// @throws InvalidArgument `problem.size` for a model without variables, and as
///   problems::canonicalize().
KILN_API Problem make_potts(Potts potts, std::string name = "potts");

/// Makes graph colouring with a given number of colours: the number of edges between equal colours
/// is minimised; 0 is a proper colouring. The default schedule is `tabu-coloring`. With more than
/// Potts::max_values colours a state has 32 bits per vertex, else eight.
///
/// With Coloring::fewest the number of colours is minimised: the highest colour + 1 if no edge
/// joins equal colours, else more than n. A variable has as many values as a greedy colouring
/// (DSATUR) uses, and `tabu-coloring` starts from that colouring.
/// @throws InvalidArgument `problem.colors` if the number of colours is not 2 .. 65535,
///   `problem.size` for a graph without vertices.
KILN_API Problem make_coloring(Coloring coloring, std::string name = "coloring");

}  // namespace kiln
