// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A functor for GPUs in a program of a user: compiled here, linked to no module of Kiln. Runs where
// there is a device, else on the CPU.
#include <cmath>
#include <iostream>
#include <kiln/cuda/device_objective.cuh>
#include <kiln/kiln.hpp>

#include "bowl.hpp"

int main() {
  kiln::SimulatedAnnealing annealing;
  kiln::Engine engine({.replicas = 32});
  const kiln::Result result = engine.run(
      kiln::make_problem(kiln::make_device_objective("bowl", Bowl{}, kiln::Bounds{-4, 4})),
      annealing, {.sweeps = 400});
  if (!result.verified || !(std::abs(result.reals()[0] - 1) < 0.01)) return 1;
  std::cout << kiln::version() << '\n';
}
