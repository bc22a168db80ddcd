// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_energy.hpp"

#include "bench/fixtures.hpp"
#include "bench/objective_cases.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<PairwiseEnergy>() {
  return energy_cases(pairwise_instances());
}

}  // namespace kiln::cli
