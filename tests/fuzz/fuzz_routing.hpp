// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/fronts/front.hpp"
#include "kiln/problems/multi_objective_discrete.hpp"

#include "fuzz.hpp"

namespace kiln::test {

/// A table that was read is refused as a problem because of its size or its sums, or the values of
/// its states are finite.
inline void check_routing_problem(const RoutingTable& table) {
  if (table.models.size() * table.queries.size() > 100'000) return;  // a fuzzer should be quick
  Problem problem;
  try {
    problem = problems::routing(table, "f");
  } catch (const InvalidArgument& error) {
    require(
        error.code() == "problem.value" && error.message() ==
                                               "f: the sum of the costs, latencies or qualities, "
                                               "or cost / budget, overflows a double",
        "a table that was read has only numbers in their ranges");
    return;
  }
  for (const std::size_t model : {std::size_t{0}, table.models.size() - 1}) {
    const State state{
        std::vector<std::int32_t>(table.queries.size(), static_cast<std::int32_t>(model))};
    const ObjectiveVector vector = problem.objectives->evaluate(spans_of(state));
    for (const double value : vector.values) require(std::isfinite(value), "values are finite");
    require(std::isfinite(vector.violation) && vector.violation >= 0,
            "violations are finite and not negative");
    require(!problem.solution.format(spans_of(state)).empty(), "solutions can be written");
  }
}

/// Reads a table of routing: it is refused as a ParseError, whose message is returned, or gives a
/// table that a problem can be made of.
inline std::string check_routing(const std::string& text) {
  std::istringstream in(text);
  RoutingTable table;
  try {
    table = problems::read_routing(in, "f");
  } catch (const ParseError& error) {
    require(!error.issues().empty() && error.issues().size() <= 5 &&
                error.total() >= static_cast<std::int64_t>(error.issues().size()),
            "an error lists one to five issues and counts all");
    return error.message();
  }
  require(!table.kinds.empty() && !table.models.empty() && !table.queries.empty(),
          "tables that are read have kinds, models and queries");
  check_routing_problem(table);
  return "accepted";
}

}  // namespace kiln::test
