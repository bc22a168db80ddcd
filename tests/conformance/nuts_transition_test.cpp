// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/nuts_transition.hpp"

#include <gtest/gtest.h>

#include "backends.hpp"
#include "chains_cases.hpp"
#include "tolerances.hpp"

namespace kiln::test {
namespace {

ChainOutputs run(Queue& queue, const ChainInputs& in, int transitions = 1) {
  DeviceChains chains(queue, in);
  for (int t = 0; t < transitions; ++t) chains.transition<NutsTransition>();
  return chains.outputs();
}

class NutsTransitionKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(NutsTransitionKernel);

TEST_P(NutsTransitionKernel, MatchesCpuForEverySizeAndLayout) {
  for (const std::int64_t replicas : {0, 1, 31, 32, 33}) {
    for (auto& [name, in] : potentials_to_compare(replicas, 0)) {
      const ChainOutputs expected = run(cpu_queue(), in);
      for (const ChainLayout layout : all_layouts) {
        SCOPED_TRACE(name + ", " + std::to_string(replicas) + ", " + to_string(layout));
        in.layout = layout;
        expect_close(run(queue(), in), expected, trajectory_tolerance);
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test
