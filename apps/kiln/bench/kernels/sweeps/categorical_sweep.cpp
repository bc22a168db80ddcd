// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/categorical_sweep.hpp"

#include "bench/fixtures.hpp"
#include "bench/objective_cases.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<CategoricalSweep>() {
  return sweep_cases(potts_instances());
}

}  // namespace kiln::cli
