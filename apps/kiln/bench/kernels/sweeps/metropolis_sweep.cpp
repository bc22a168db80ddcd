// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "bench/fixtures.hpp"
#include "bench/objective_cases.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<MetropolisSweep>() {
  std::vector<KernelCase> cases = sweep_cases(pairwise_instances());
  for (KernelCase& one : plane_sweep_cases({"gset:G22", "gset:G1"})) {
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace kiln::cli
