// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_matrix.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "models/models.hpp"

// Bytes are copied.
KILN_CONFORMANCE_CASE(BifurcationMatrix, exact)

namespace kiln::test::bifurcation_matrix_test {
namespace {

class BifurcationMatrixKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BifurcationMatrixKernel);

TEST_P(BifurcationMatrixKernel, WritesEachCouplingTwiceAndZerosElsewhere) {
  const auto bytes = one_of({-127, -1, 3, 127}, 2);
  for (const Ising& model : {dense(33, bytes, constant(1)), sparse(300, 5, bytes, constant(0), 3),
                             star(20, 2, bytes), isolated_spins({1, 2, 3})}) {
    const problems::PairwisePlan plan = problems::plan_pairwise(model);
    const DeviceModel on_device(queue(), plan);
    const std::int64_t n = plan.n_sites(), columns = n + 16;
    DeviceArray<std::int8_t> matrix(queue(), std::vector<std::int8_t>(idx(n * columns), 77));
    queue().launch(BifurcationMatrix{on_device.view(), {matrix.data(), n, columns, columns}});

    std::vector<std::int64_t> site(idx(model.n));
    for (std::int64_t i = 0; i < n; ++i) {
      if (plan.variable[idx(i)] >= 0) site[idx(plan.variable[idx(i)])] = i;
    }
    std::vector<std::int8_t> expected(idx(n * columns), 0);
    for (const Edge& e : model.couplings) {
      const std::int64_t u = site[idx(e.u)], v = site[idx(e.v)];
      expected[idx(u * columns + v)] = static_cast<std::int8_t>(e.weight);
      expected[idx(v * columns + u)] = static_cast<std::int8_t>(e.weight);
    }
    EXPECT_EQ(matrix.download(), expected);
  }
}

}  // namespace
}  // namespace kiln::test::bifurcation_matrix_test
