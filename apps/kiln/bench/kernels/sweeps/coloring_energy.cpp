// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_energy.hpp"

#include "bench/fixtures.hpp"
#include "bench/objective_cases.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<ColoringEnergy>() {
  return energy_cases({"coloring:500,50,min,1"});
}

}  // namespace kiln::cli
