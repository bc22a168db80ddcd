// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include "kiln/problems/command.hpp"
#include "kiln/problems/constrained.hpp"
#include "kiln/problems/table.hpp"

namespace kiln::problems {

void register_expensive(Registry& registry) {
  registry.add(ProblemEntry{
      .name = "command",
      .parameters = "PROGRAM WITH {NAMES}",
      .sentence = "a program that takes variables (--var) as arguments and prints a value",
      .examples = {"'command:./train.sh {lr}' --var lr=real:1e-5:1e-1:log"},
      .make = [](const ProblemRequest& r) { return command_by_name(r.parameters, r.settings); },
      .settings = {"var", "constraints", "timeout", "worker", "jobs", "sense"}});
  registry.add(ProblemEntry{
      .name = "constrained",
      .parameters = "NAME",
      .sentence = "test functions with constraints, to minimise",
      .examples = {"constrained:gramacy", "constrained:ackley-10"},
      .make = [](const ProblemRequest& r) { return constrained_by_name(r.parameters); },
      .names = constrained_names()});
  registry.add(ProblemEntry{
      .name = "table",
      .parameters = "FILE",
      .sentence =
          "search for the best row of a table of measured configurations, with few look-ups",
      .examples = {"table:reactions.csv --objective yield"},
      .make = [](const ProblemRequest& r) { return table_by_name(r.parameters, r.settings); },
      .settings = {"objective", "sense", "categorical", "ignore"}});
}

}  // namespace kiln::problems
