// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "choices/families.hpp"

#include "kiln/problems/assignment.hpp"
#include "kiln/problems/portfolio.hpp"

namespace kiln::problems {

void register_choices(Registry& registry) {
  registry.add(ProblemEntry{
      .name = "assignment",
      .parameters = "FILE",
      .sentence = "assignment of rows to different columns of a table of costs; with flows, of "
                  "facilities to "
                  "places",
      .examples = {"assignment:costs.csv", "assignment:distances.csv --flows flows.csv"},
      .make = [](const ProblemRequest& r) { return assignment_by_name(r.parameters, r.settings); },
      .settings = {"flows", "sense"}});
  registry.add(ProblemEntry{
      .name = "portfolio",
      .parameters = "FILE",
      .sentence = "choice of assets with equal weights from a table of returns, as a dense QUBO",
      .examples = {"portfolio:returns.csv --pick 10 --risk 2"},
      .make = [](const ProblemRequest& r) { return portfolio_by_name(r.parameters, r.settings); },
      .settings = {"pick", "risk", "ignore", "sense"}});
}

}  // namespace kiln::problems
