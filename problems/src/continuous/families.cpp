// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include "kiln/problems/continuous.hpp"
#include "kiln/problems/expression.hpp"
#include "kiln/problems/source_objective.hpp"

namespace kiln::problems {

void register_continuous(Registry& registry) {
  registry.add(ProblemEntry{
      .name = "density",
      .parameters = "NAME-D",
      .sentence = "densities with exactly known moments",
      .examples = {"density:funnel-10", "density:gaussian-100,1e4", "density:two-modes"},
      .make = [](const ProblemRequest& r) { return density_by_name(r.parameters); },
      .names = density_names()});
  registry.add(ProblemEntry{
      .name = "expr",
      .parameters = "FORMULA",
      .sentence = "a formula of variables (--var), with sums, data and constraints (--subject-to)",
      .examples = {"'expr:100*(y-x^2)^2+(1-x)^2' --var x=real:-2:2 --var y=real:-2:2",
                   "'expr:sum(i=1..10, x[i]^2)' --var 'x[10]=real:-5:5'"},
      .make =
          [](const ProblemRequest& r) {
            return expression_by_name(r.parameters, r.settings, r.data);
          },
      .settings = {"var", "subject-to", "sense"},
      .takes_data = true});
  registry.add(
      ProblemEntry{.name = "function",
                   .parameters = "NAME-D",
                   .sentence = "test functions of D real variables, to minimise",
                   .examples = {"function:rastrigin-30", "function:branin", "function:hartmann6"},
                   .make = [](const ProblemRequest& r) { return function_by_name(r.parameters); },
                   .names = function_names()});
  registry.add(ProblemEntry{
      .name = "posterior",
      .parameters = "NAME",
      .sentence = "posterior densities of statistical models; --data FILE reads the data",
      .examples = {"posterior:eight-schools", "posterior:kilpisjarvi",
                   "posterior:linear-regression,yield --data table.csv"},
      .make = [](const ProblemRequest& r) { return posterior_by_name(r.parameters, r.data); },
      .names = posterior_names(),
      .takes_data = true});
  registry.add(ProblemEntry{
      .name = "source",
      .parameters = "FILE",
      .sentence = "a function in a file of source text (--objective), compiled for CPU and GPU",
      .examples = {"--objective bowl.cu --allow-jit --var 'x[10]=real:-5:5'"},
      .make = [](const ProblemRequest& r) { return source_by_name(r.parameters, r.settings); },
      .settings = {"var", "sense", "allow-jit"}});
}

}  // namespace kiln::problems
