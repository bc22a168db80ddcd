// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include "kiln/problems/command.hpp"
#include "kiln/problems/constrained.hpp"
#include "kiln/problems/table.hpp"

namespace kiln::problems {

void register_expensive(Registry& registry) {
  registry.add(
      ProblemEntry{"command",
                   "PROGRAM WITH {NAMES}",
                   "a program that prints the value of the variables (--var) in its arguments",
                   {"'command:./train.sh {lr}' --var lr=real:1e-5:1e-1:log"},
                   [](const std::string& text) { return command_by_name(text, {}); },
                   {},
                   {},
                   command_by_name,
                   {"var", "constraints", "timeout", "sense"}});
  registry.add(ProblemEntry{"constrained",
                            "NAME",
                            "functions of one value with constraints, minimised",
                            {"constrained:gramacy", "constrained:ackley-10"},
                            constrained_by_name,
                            {},
                            constrained_names()});
  registry.add(ProblemEntry{"table",
                            "FILE",
                            "the best row of a table of measured configurations, in few look-ups",
                            {"table:reactions.csv --objective yield"},
                            [](const std::string& text) { return table_by_name(text, {}); },
                            {},
                            {},
                            table_by_name,
                            {"objective", "sense", "categorical", "ignore"}});
}

}  // namespace kiln::problems
