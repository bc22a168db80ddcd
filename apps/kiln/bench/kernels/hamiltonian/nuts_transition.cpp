// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"

#include "bench/chain_fixture.hpp"

namespace kiln::cli {

template <>
std::vector<KernelCase> bench_cases<NutsTransition>() {
  HmcTuning tuning;
  tuning.step_size = 0.3;
  TestFunction sphere;
  sphere.n = 128;
  return {transition_case<NutsTransition>("eight schools", EightSchools{}, 16384, tuning,
                                          ChainLayout::warp),
          transition_case<NutsTransition>("Gaussian in 128 dimensions", sphere, 4096, tuning,
                                          ChainLayout::warp)};
}

}  // namespace kiln::cli
