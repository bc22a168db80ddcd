// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/dense_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problem.hpp"
#include "kiln/replica_batch.hpp"

#include "backends/backends.hpp"

namespace kiln::test::dense_gaussian_test {
namespace {

constexpr std::int64_t chains = 2048;
// Covariance {{1, 0.6}, {0.6, 0.5}}: determinant 0.14.
const std::vector<double> precision{0.5 / 0.14, -0.6 / 0.14, -0.6 / 0.14, 1 / 0.14};

class DenseGaussianObjective : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DenseGaussianObjective);

// 5 standard errors of moments of 2048 independent draws.
TEST_P(DenseGaussianObjective, IsSampledByBatchedTransitions) {
  const auto objective = make_dense_gaussian("gaussian", precision, 2, 6);
  EXPECT_EQ(objective->as<LimitsLeapfrogs>()->leapfrog_limit(), 6);
  const auto bound = objective->bind(queue());
  ReplicaBatch batch(queue(), objective->space(), objective->execution().layouts, {chains, 1, 1});
  bound->prepare(batch, queue());
  State start{std::vector<double>{3, -2}};
  batch.write_states({start});
  const std::vector<BlockSpan> spans = spans_of(start);
  bound->as<Evaluates>()->evaluate({batch, batch.energy(), {}, nullptr}, queue());
  EXPECT_NEAR(objective->reference()(spans), 0.5 * (4.5 + 7.2 + 4) / 0.14, 1e-12);

  const DeviceArray<double> beta(queue(), std::vector<double>{1.0});
  const DeviceArray<double> scale(queue(), std::vector<double>{1, 0.7});
  HmcTuning tuning;
  tuning.step_size = 0.4;
  tuning.jitter = 0.4;
  tuning.leapfrogs = 5;
  const DeviceArray<HmcTuning> tunings(queue(), std::vector<HmcTuning>{tuning});
  const auto control = upload_control(queue(), {});
  MetricView metric;
  metric.dimension = 2;
  metric.scale = scale.view();
  for (std::uint32_t t = 0; t < 30; ++t) {
    bound->as<HamiltonianMoves>()->hmc_transition(
        {batch, beta.view(), {}, metric, tunings.view(), {}, control.data(), t}, queue());
  }
  double sums[5] = {};
  const StateBlock block = batch.state(0);
  std::vector<double> x(idx(2 * batch.slots()));
  queue().download(x.data(), block.data, x.size() * sizeof(double));
  for (std::size_t r = 0; r < idx(chains); ++r) {
    const double a = x[r], b = x[idx(batch.slots()) + r];
    for (const auto& [i, v] : {std::pair{0, a}, {1, b}, {2, a * a}, {3, b * b}, {4, a * b}}) {
      sums[i] += v / static_cast<double>(chains);
    }
  }
  const double error = 5 / std::sqrt(static_cast<double>(chains));
  EXPECT_NEAR(sums[0], 0, error);
  EXPECT_NEAR(sums[1], 0, error * std::sqrt(0.5));
  EXPECT_NEAR(sums[2], 1, error * std::sqrt(2.0));
  EXPECT_NEAR(sums[3], 0.5, error * std::sqrt(0.5));
  EXPECT_NEAR(sums[4], 0.6, error * std::sqrt(0.86));
}

TEST(DenseGaussianData, IsChecked) {
  const auto complaint = [](const std::vector<double>& matrix, std::int64_t n, int limit) {
    try {
      make_dense_gaussian("gaussian", matrix, n, limit);
    } catch (const InvalidArgument& error) {
      return error.code() + ": " + error.message();
    }
    return std::string("none");
  };
  EXPECT_EQ(complaint(precision, 2, 1), "none");
  EXPECT_EQ(complaint(precision, 3, 1),
            "objective.shape: a precision matrix of 4 values was given for 3 dimensions");
  EXPECT_EQ(complaint(precision, 2, 0), "objective.value: leapfrog_limit is 0");
  EXPECT_EQ(complaint({1, 2, 3, 4}, 2, 1),
            "objective.value: the precision matrix has 3.000000 at (2, 1) and 2.000000 at (1, 2)");
  EXPECT_NE(complaint({std::numeric_limits<double>::quiet_NaN()}, 1, 1), "none");
}

}  // namespace
}  // namespace kiln::test::dense_gaussian_test
