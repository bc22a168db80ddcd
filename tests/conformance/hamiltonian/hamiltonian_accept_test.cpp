// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hamiltonian_accept.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/kernels/linear_algebra/matrix_product.hpp"
#include "kiln/kernels/sweeps/quadratic_energy.hpp"
#include "kiln/objectives/batched_transition.hpp"

#include "backends/conformance_case.hpp"
#include "densities/batched_chains.hpp"
#include "densities/chains_cases.hpp"

// Exact arithmetic; sums in an order that the header fixes.
KILN_CONFORMANCE_CASE(HamiltonianAccept, exact)

namespace kiln::test::hamiltonian_accept_test {
namespace {

class HamiltonianAcceptKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(HamiltonianAcceptKernel);

ChainOutputs accept(Queue& queue, const ChainInputs& in, BatchedChains& chains) {
  static_cast<void>(in);
  auto kernel = chains.kernel<HamiltonianAccept>();
  kernel.statistics = chains.statistics();
  queue.launch(kernel);
  return chains.outputs();
}

// Before: energies 0 and the random kinetic energy. After: random energies, |z|^2 / 2.
TEST_P(HamiltonianAcceptKernel, DecidesByTheDifferenceOfHamiltonians) {
  const int d = 9;
  const std::int64_t replicas = 100;
  const ChainInputs in = batched_inputs(d, replicas);
  BatchedChains chains(queue(), in, 4);
  const std::vector<double> vectors = chains.vectors(), scalars = chains.scalars();
  const ChainOutputs out = accept(queue(), in, chains);
  const HostNames names = make_names(chains.slots(), 1, in.seed);
  const auto slots = idx(chains.slots());
  int moved = 0;
  for (std::size_t r = 0; r < idx(replicas); ++r) {
    double h = 0;
    for (std::size_t i = 0; i < idx(d); ++i) h += vectors[i * slots + r] * vectors[i * slots + r];
    h = h / 2 + in.beta[r % 2] * (scalars[r] + scalars[slots + r]);
    const double error = h - scalars[3 * slots + r];
    const DrawName name{names.key[r], 0, names.replica[r], RngDomain::momentum, 1};
    const bool yes = exact::accept(1, error, draw_word(name, 1));
    moved += yes ? 1 : 0;
    EXPECT_EQ(out.accepted[r], yes ? 1u : 0u);
    EXPECT_NEAR(out.acceptance[r], std::min(1.0, std::exp(-error)), 1e-12);
    EXPECT_NEAR(out.hamiltonian[r], yes ? h : scalars[3 * slots + r], 1e-12);
    EXPECT_EQ(out.leapfrogs[r], r % 2 == 0 ? 3 : 2);
    EXPECT_EQ(out.term[r], yes ? scalars[slots + r] : 0.0);
    EXPECT_EQ(out.energy[r], yes ? scalars[r] + scalars[slots + r] : 0.0);
    for (std::size_t i = 0; i < idx(d); ++i) {
      const std::size_t at = i * idx(replicas) + r;
      EXPECT_EQ(out.position[at], yes ? vectors[(idx(d) + i) * slots + r] : in.position[at]);
      EXPECT_EQ(out.gradient[at], yes ? vectors[(2 * idx(d) + i) * slots + r] : 0.0);
    }
  }
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, 100);
}

TEST_P(HamiltonianAcceptKernel, RejectsWhatIsNotFinite) {
  const ChainInputs in = batched_inputs(3, 2);
  BatchedChains chains(queue(), in, 4);
  auto kernel = chains.kernel<HamiltonianAccept>();
  DeviceArray<double> bad(queue(), std::vector<double>{std::numeric_limits<double>::quiet_NaN(),
                                                       -std::numeric_limits<double>::infinity()});
  kernel.trajectory.base = bad.view();
  kernel.statistics = chains.statistics();
  queue().launch(kernel);
  const ChainOutputs out = chains.outputs();
  EXPECT_EQ(out.accepted, (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(out.not_finite, (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ(out.divergent, (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(out.position, in.position);
}

TEST_P(HamiltonianAcceptKernel, HasTheBitsOfTheCpu) {
  const ChainInputs in = batched_inputs(77, 300);
  BatchedChains here(queue(), in, 4), there(cpu_queue(), in, 4);
  expect_close(accept(queue(), in, here), accept(cpu_queue(), in, there), 0);
}

/// A batched transition of the function |x|^2: the gradient is a product with twice the identity.
ChainOutputs sphere_by_products(Queue& queue, const ChainInputs& in, int transitions) {
  DeviceChains chains(queue, in);
  const std::int64_t d = in.dimension;
  std::vector<double> twice(idx(d * d), 0.0);
  for (std::int64_t i = 0; i < d; ++i) twice[idx(i * d + i)] = 2;
  const DeviceArray<double> matrix(queue, twice);
  const auto differentiate = [&](const BatchedEvaluation& at, Queue& on) {
    MatrixProduct product;
    product.a = {matrix.data(), d, d, d};
    product.b = at.position;
    product.c = at.gradient;
    if (!at.term) product.epilogue.scale = at.term_weight;
    on.launch(product);
    if (!at.term) return;
    QuadraticEnergy energy;
    energy.position = at.position;
    energy.product = at.gradient;
    energy.replicas = in.replicas;
    energy.weight = at.term_weight;
    energy.energy = at.term;
    on.launch(energy);
    on.zero(at.base.data, idx(at.base.size) * sizeof(double));
  };
  BatchedTransition transition(queue, d, chains.slots(), 5);
  for (int t = 0; t < transitions; ++t) {
    auto kernel = chains.kernel<HmcTransition>();
    kernel.chains.step_offset = static_cast<std::uint32_t>(t);
    transition.enqueue(kernel.chains, kernel.metric, kernel.tuning, kernel.statistics,
                       differentiate, queue);
  }
  return chains.outputs();
}

TEST_P(HamiltonianAcceptKernel, EndsWhatHmcTransitionDoesInOneLaunch) {
  for (const int d : {1, 10, 65}) {
    ChainInputs in = batched_inputs(d, 100);
    in.density = DensityRef(test_function(TestFunctionKind::sphere, d));
    DeviceChains chains(cpu_queue(), in);
    for (int t = 0; t < 3; ++t) chains.transition<HmcTransition>();
    ChainOutputs batched = sphere_by_products(queue(), in, 3);
    const ChainOutputs expected = chains.outputs();
    batched.padding_untouched = true;  // slots without a replica are multiplied with the others
    expect_close(batched, expected, 1e-11);
    EXPECT_GT(expected.accepted[0] + expected.accepted[1] + expected.accepted[2], 0u);
  }
}

TEST_P(HamiltonianAcceptKernel, IsReachedWithADiagonalMetricOnly) {
  BatchedTransition transition(queue(), 2, 32, 3);
  MetricView metric;
  metric.kind = MetricKind::dense;
  try {
    transition.enqueue({}, metric, {}, {}, {}, queue());
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "objective.metric");
    EXPECT_EQ(error.message(), "a batched transition was given a metric that is not diagonal");
  }
}

}  // namespace
}  // namespace kiln::test::hamiltonian_accept_test
