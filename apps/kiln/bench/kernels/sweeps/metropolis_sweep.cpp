// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "bench/fixtures.hpp"
#include "bench/objective_cases.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<MetropolisSweep>() {
  return sweep_cases(pairwise_instances());
}

}  // namespace kiln::cli
