// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hmc_transition.hpp"

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
  return {transition_case<HmcTransition>("eight schools, 10 leapfrogs", EightSchools{}, 65536,
                                         tuning, ChainLayout::thread),
          transition_case<HmcTransition>("rastrigin 128, 10 leapfrogs", rastrigin, 4096,
                                         short_steps, ChainLayout::warp)};
}

}  // namespace kiln::cli
