// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/gaussian_transition.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/conformance_case.hpp"
#include "densities/batched_chains.hpp"

// Sums of products in an order of the backend's own.
KILN_CONFORMANCE_CASE(GaussianTransition, drawn)

namespace kiln::test::gaussian_transition_test {
namespace {

/// A symmetric matrix with a dominant diagonal, [n][n].
std::vector<double> precision_of(std::int64_t n) {
  const std::vector<double> numbers = BatchedChains::numbers(n * n, 31);
  std::vector<double> p(idx(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double a = numbers[idx(i * n + j)] + numbers[idx(j * n + i)];
      p[idx(i * n + j)] = a / static_cast<double>(2 * n) + (i == j ? 1.5 : 0);
    }
  }
  return p;
}

/// Chains, their matrix and two transitions of them.
class Transitions {
 public:
  Transitions(Queue& queue, const ChainInputs& in, std::int32_t limit)
      : queue_(queue), chains_(queue, in, limit), n_(in.dimension) {
    matrix_ = DeviceArray<double>(queue, precision_of(n_));
  }
  void at_once(std::uint32_t step) { queue_.launch(kernel(step)); }
  void by_parts(std::uint32_t step) {
    kernel(step).launch_parts([&](const auto& part) { queue_.launch(part); });
  }
  ChainOutputs outputs() const { return chains_.outputs(); }

 private:
  GaussianTransition kernel(std::uint32_t step) {
    auto kernel = chains_.kernel<GaussianTransition>();
    kernel.statistics = chains_.statistics();
    kernel.chains.step_offset = step;
    kernel.precision = {matrix_.data(), n_, n_, n_};
    return kernel;
  }
  Queue& queue_;
  BatchedChains chains_;
  std::int64_t n_;
  DeviceArray<double> matrix_;
};

void expect_same(const ChainOutputs& a, const ChainOutputs& b) {
  EXPECT_EQ(bits_of(a.position), bits_of(b.position));
  EXPECT_EQ(bits_of(a.gradient), bits_of(b.gradient));
  EXPECT_EQ(bits_of(a.energy), bits_of(b.energy));
  EXPECT_EQ(bits_of(a.hamiltonian), bits_of(b.hamiltonian));
  EXPECT_EQ(bits_of(a.acceptance), bits_of(b.acceptance));
  EXPECT_EQ(a.accepted, b.accepted);
  EXPECT_EQ(a.leapfrogs, b.leapfrogs);
}

class GaussianTransitionKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(GaussianTransitionKernel);

// Dimensions around multiples of 8 and 16, the last that fits in shared memory and one beyond.
TEST_P(GaussianTransitionKernel, HasTheBitsOfItsParts) {
  for (const int n : {1, 2, 7, 8, 9, 15, 16, 17, 40, 64, 65, 112, 113, 200}) {
    for (const std::int64_t replicas : {1, 32, 45}) {
      for (const std::int32_t limit : {1, 2, 5}) {
        SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(replicas) + ", " +
                     std::to_string(limit));
        const ChainInputs in = batched_inputs(n, replicas);
        Transitions once(queue(), in, limit), parts(queue(), in, limit);
        for (std::uint32_t step = 0; step < 3; ++step) {
          once.at_once(step);
          parts.by_parts(step);
        }
        expect_same(once.outputs(), parts.outputs());
      }
    }
  }
}

// The energies that a transition leaves are those of its positions, and gradients are P x times
// beta, written out.
TEST_P(GaussianTransitionKernel, LeavesEnergiesAndGradientsOfItsPositions) {
  constexpr int n = 13;
  constexpr std::int64_t replicas = 50;
  const ChainInputs in = batched_inputs(n, replicas);
  Transitions chains(queue(), in, 3);
  for (std::uint32_t step = 0; step < 10; ++step) chains.at_once(step);
  const ChainOutputs out = chains.outputs();
  const std::vector<double> p = precision_of(n);
  const std::size_t slots = out.energy.size();
  std::uint64_t accepted = 0;
  for (std::size_t r = 0; r < idx(replicas); ++r) {
    double twice = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double y = 0;
      for (std::size_t j = 0; j < n; ++j) y += p[i * n + j] * out.position[j * slots + r];
      twice += out.position[i * slots + r] * y;
      EXPECT_NEAR(out.gradient[i * slots + r], y * in.beta[r % 2], 1e-12);
    }
    EXPECT_NEAR(out.term[r], twice / 2, 1e-12);
    EXPECT_EQ(out.energy[r], out.base[r] + out.term[r]);
    accepted += out.accepted[r];
  }
  EXPECT_GT(accepted, idx(replicas * 5)) << "of 500";
}

TEST_P(GaussianTransitionKernel, MatchesCpu) {
  for (const int n : {3, 64, 150}) {
    const ChainInputs in = batched_inputs(n, 100);
    Transitions here(queue(), in, 4), there(cpu_queue(), in, 4);
    for (std::uint32_t step = 0; step < 2; ++step) {
      here.at_once(step);
      there.at_once(step);
    }
    const ChainOutputs a = here.outputs(), b = there.outputs();
    ASSERT_EQ(a.position.size(), b.position.size());
    for (std::size_t i = 0; i < a.position.size(); ++i) {
      EXPECT_NEAR(a.position[i], b.position[i], trajectory_tolerance) << i;
    }
    EXPECT_EQ(a.accepted, b.accepted);
  }
}

}  // namespace
}  // namespace kiln::test::gaussian_transition_test
