// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"

#include "bench/chain_fixture.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<HmcTransition>() {
  HmcTuning tuning;
  tuning.step_size = 0.3;
  tuning.leapfrogs = 10;
  TestFunction rastrigin;
  rastrigin.kind = TestFunctionKind::rastrigin;
  rastrigin.n = 128;
  HmcTuning short_steps = tuning;
  short_steps.step_size = 0.02;
  TestFunction separable;  // a Gaussian of variance 1/2 in each direction
  separable.kind = TestFunctionKind::sphere;
  separable.n = 1000;
  TestFunction small = separable;
  small.n = 10;
  HmcTuning long_path = tuning;
  long_path.step_size = 0.05;
  long_path.leapfrogs = 50;
  return {transition_case<HmcTransition>("eight schools, 10 leapfrogs", EightSchools{}, 65536,
                                         tuning, ChainLayout::thread),
          transition_case<HmcTransition>("Gaussian in 10 dimensions, 10 leapfrogs", small, 65536,
                                         tuning, ChainLayout::lanes),
          transition_case<HmcTransition>("Rastrigin in 128 dimensions, 10 leapfrogs", rastrigin,
                                         4096, short_steps, ChainLayout::warp),
          transition_case<HmcTransition>("Gaussian in 1000 dimensions, 50 leapfrogs", separable, 1,
                                         long_path, ChainLayout::block)};
}

}  // namespace kiln::cli
