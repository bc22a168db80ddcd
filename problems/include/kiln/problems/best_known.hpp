// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "kiln/export.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/qubo.hpp"

namespace kiln {

/// The best-known objective value of a published instance; a record, not always an optimum.
struct NamedBest {
  std::string_view name;    ///< the instance: "G22", "k2000", "bqp50_1", "p3000.1"
  double value = 0.0;       ///< maximised, in the units of the instance
  std::string_view source;  ///< who published or confirmed the value
};

namespace problems {

/// Best-known cut of a G-set instance or of `k2000` by its name; nothing for other names.
KILN_API std::optional<double> best_known_cut(std::string_view instance);

/// Best-known cut of the graph with this fingerprint(const Graph&); nothing for other graphs. The
/// views in the result live as long as the program.
KILN_API std::optional<NamedBest> best_known_by_fingerprint(std::string_view fingerprint);

/// Best-known maximum of a Beasley instance `bqp50_1` .. `bqp250_10` or of a Palubeckis instance
/// `p3000.1` .. `p7000.3` by its name.
KILN_API std::optional<double> best_known_qubo(std::string_view instance);

/// Best-known maximum of the function with this fingerprint(const Qubo&). Graphs and functions have
/// separate tables, so that neither is mistaken for the other.
KILN_API std::optional<NamedBest> best_known_qubo_by_fingerprint(std::string_view fingerprint);

/// Best-known cut of a canonical graph, or maximum of a canonical function; nothing for models that
/// are in no table. Computes the fingerprint only if a table has an instance of so many pairs.
KILN_API std::optional<NamedBest> best_known(const Graph& graph);
KILN_API std::optional<NamedBest> best_known(const Qubo& qubo);

}  // namespace problems
}  // namespace kiln
