// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include "kiln/problems/continuous.hpp"

namespace kiln::problems {

void register_continuous(Registry& registry) {
  registry.add(ProblemEntry{"density",
                            "NAME-D",
                            "densities with exactly known moments",
                            {"density:funnel-10", "density:gaussian-100,1e4", "density:two-modes"},
                            density_by_name,
                            {},
                            density_names()});
  registry.add(ProblemEntry{"function",
                            "NAME-D",
                            "test functions of D real variables, minimised",
                            {"function:rastrigin-30", "function:branin", "function:hartmann6"},
                            function_by_name,
                            {},
                            function_names()});
  registry.add(ProblemEntry{
      "posterior",
      "NAME",
      "posterior densities of statistical models; --data FILE gives the data",
      {"posterior:eight-schools", "posterior:kilpisjarvi",
       "posterior:linear-regression,yield --data table.csv"},
      [](const std::string& text) { return posterior_by_name(text); },
      [](const std::string& text, const ModelData& data) { return posterior_by_name(text, &data); },
      posterior_names()});
}

}  // namespace kiln::problems
