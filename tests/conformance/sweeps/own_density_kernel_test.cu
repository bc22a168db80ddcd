// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A density kernel of this program, in every layout: the backends agree.
#include <gtest/gtest.h>

#include <vector>

#include "kiln/cuda/density_kernels.cuh"
#include "kiln/objectives/density_kernels_impl.hpp"
#include "kiln/problems/densities/eight_schools.hpp"
#include "kiln/problems/densities/test_function.hpp"

#include "backends/backends.hpp"
#include "densities/chains_cases.hpp"
#include "densities/steepness.hpp"

namespace kiln::test {
namespace {

template <class Density>
std::vector<double> squares(const Density& density, std::int64_t chains, ChainLayout layout,
                            Queue& queue) {
  const int d = dimension_of(density);
  DeviceArray<double> position(queue, normal_positions(d, chains, 1, 3)), square(queue, chains);
  DeviceArray<double> scratch(queue, chains * Steepness::scratch_size(d, density.workspace()));
  Steepness kernel;
  kernel.position = {position.data(), d, chains, chains};
  kernel.replicas = chains;
  kernel.square = square.view();
  kernel.layout = layout;
  kernel.scratch = scratch.view();
  if (queue.on_cpu()) {
    CpuDensityKernels<Density>::run(kernel, density, queue);
  } else {
    cuda::DensityKernels<Density>::run(kernel, density, queue);
  }
  return square.download();
}

class OwnDensityKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(OwnDensityKernel);

template <class Density>
void expect_cpu_values(const Density& density, Queue& queue, Queue& cpu) {
  for (const std::int64_t chains : {1, 31, 33, 5000}) {
    const std::vector<double> expected = squares(density, chains, ChainLayout::warp, cpu);
    for (const ChainLayout layout : all_layouts) {
      SCOPED_TRACE(std::to_string(chains) + ", " + to_string(layout));
      const std::vector<double> got = squares(density, chains, layout, queue);
      for (std::size_t r = 0; r < got.size(); ++r) {
        ASSERT_GT(expected[r], 0);
        ASSERT_NEAR(got[r], expected[r], 1e-11 * expected[r]);
      }
    }
  }
}

TEST_P(OwnDensityKernel, HasTheValuesOfTheCpu) {
  expect_cpu_values(EightSchools{}, queue(), cpu_queue());  // vectors in registers
  expect_cpu_values(test_function(TestFunctionKind::rosenbrock, 70), queue(), cpu_queue());
}

}  // namespace
}  // namespace kiln::test
