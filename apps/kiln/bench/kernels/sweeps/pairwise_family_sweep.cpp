// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include "bench/objective_cases.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<PairwiseFamilySweep>() {
  return family_sweep_cases();
}

}  // namespace kiln::cli
