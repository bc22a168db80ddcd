// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/coloring_sweep.hpp"

#include "bench/fixtures.hpp"
#include "bench/objective_cases.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<ColoringSweep>() {
  return sweep_cases({"coloring:500,95,200,1"});
}

}  // namespace kiln::cli
