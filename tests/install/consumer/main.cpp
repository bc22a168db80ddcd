// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What users compile into their own programs must find all it needs among the exported symbols.
#include <cmath>
#include <iostream>
#include <kiln/kiln.hpp>

#include "bowl.hpp"

int main() {
  const auto bowl = kiln::make_functor_objective("bowl", Bowl{}, kiln::Bounds{-4, 4});
  const auto callable = kiln::make_density_objective(
      "callable", 1, [](std::span<const double> x, std::span<double> gradient) {
        if (!gradient.empty()) gradient[0] = x[0];
        return x[0] * x[0] / 2;
      });
  const kiln::Problem posterior =
      kiln::make_functor_posterior("bowl", Bowl{}, kiln::Parameters().real("x").positive("y"));
  kiln::Engine engine({.device = "cpu", .replicas = 32});
  for (const auto& objective : {bowl, callable, posterior.objective}) {
    kiln::SimulatedAnnealing annealing;
    const kiln::Result result =
        engine.run(kiln::make_problem(objective), annealing, {.sweeps = 200});
    if (!result.verified || !(std::abs(result.reals()[0]) < 2)) return 1;
  }
  std::cout << kiln::version() << '\n';
}
