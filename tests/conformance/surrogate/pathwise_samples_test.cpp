// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/pathwise_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "processes/pathwise_process.hpp"

// Named draws, and elementary functions and sums of the device.
KILN_CONFORMANCE_CASE(PathwiseSamples, reordered)

namespace kiln::test::pathwise_samples_test {
namespace {

using namespace paths;

class PathwiseSamplesKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PathwiseSamplesKernel);

TEST_P(PathwiseSamplesKernel, HasTheMomentsOfThePosterior) {
  for (const CovarianceKind kind : all_kinds) {
    Process in = make_process(kind, 2);
    in.paths = 20000;
    const Moments exact = exact_posterior(in);
    // 20 comparisons with 5 kinds: one set of keys in 160 has one beyond 4 standard errors.
    EXPECT_LT(worst(in, draw(queue(), in).value, exact), 4) << int(kind);
    // Without the correction these are paths of the prior.
    in.corrected = false;
    const Numbers prior = draw(queue(), in).value;
    EXPECT_GT(worst(in, prior, exact), 20) << int(kind);
    EXPECT_LT(worst(in, prior, exact_posterior(in)), 4) << int(kind);
  }
}

TEST_P(PathwiseSamplesKernel, HasTheMomentsOfThePosteriorWithCategories) {
  for (const CovarianceKind kind : {CovarianceKind::squared_exponential, CovarianceKind::matern52,
                                    CovarianceKind::rational_quadratic}) {
    Process in = make_process(kind, 3);
    in.categorical = {0, 1, 1};
    for (std::size_t k = 1; k < 3; ++k) {
      for (double* x = &in.x[6 * k]; x != in.x.data() + 6 * (k + 1); ++x) *x = std::floor(3 * *x);
      for (double* x = &in.at[5 * k]; x != in.at.data() + 5 * (k + 1); ++x) *x = std::floor(3 * *x);
    }
    in.paths = 20000;
    const Moments exact = exact_posterior(in);
    EXPECT_LT(worst(in, draw(queue(), in).value, exact), 4) << int(kind);
    in.categorical = {0, 1, 0};  // numbers where there should be names
    EXPECT_GT(worst(in, draw(queue(), in).value, exact), 8) << int(kind);
  }
}

TEST_P(PathwiseSamplesKernel, TellsThePriorsApart) {
  // Paths of one prior have not the moments of another one, so the test of moments is one.
  for (const CovarianceKind kind : all_kinds) {
    Process in = make_process(kind, 1);
    in.length = {0.15};
    in.alpha = {0.5};
    in.corrected = false;
    in.paths = 60000;
    const Numbers value = draw(queue(), in).value;
    for (const CovarianceKind other : all_kinds) {
      Process with = in;
      with.kind = other;
      if (other != kind) {
        EXPECT_GT(worst(in, value, exact_posterior(with)), 5) << int(kind) << ", " << int(other);
      }
    }
  }
}

TEST_P(PathwiseSamplesKernel, GoesThroughObservationsWithoutNoise) {
  for (const CovarianceKind kind : all_kinds) {
    Process in = make_process(kind, 2, 2);
    in.points = in.observations;
    in.at = in.x;
    in.noise = {1e-10, 1e-10};
    in.paths = 9;
    const Numbers value = draw(queue(), in).value;
    for (std::size_t i = 0; i < value.size(); ++i) {
      EXPECT_NEAR(value[i], in.y[i / 54 * 6 + i % 6], 2e-4) << int(kind) << ", " << i;
    }
  }
}

TEST_P(PathwiseSamplesKernel, LeavesOfObservationsWhatPathAndNoiseDoNotExplain) {
  // The noise is that of the residual alone, and of the variance that it should have.
  Process in = make_process(CovarianceKind::squared_exponential, 2);
  in.points = in.observations;
  in.at = in.x;
  in.paths = 4000;
  const PathDraws with = draw(queue(), in);
  in.corrected = false;
  const Numbers prior = draw(queue(), in).value;
  double squares = 0;
  for (std::int64_t path = 0; path < in.paths; ++path) {
    for (std::int64_t i = 0; i < 6; ++i) {
      const double error =
          in.y[idx(i)] - prior[idx(path * 6 + i)] - with.residual[idx(i * in.paths + path)];
      squares += error * error;
    }
  }
  const double n = 24000;
  EXPECT_NEAR(squares / n / in.noise[0], 1, 4 * std::sqrt(2 / n));
}

TEST_P(PathwiseSamplesKernel, GivesAPathTheSameBitsAloneAndInABatch) {
  Process all = make_process(CovarianceKind::matern52, 3, 40);
  resize(all, 20, 150);
  all.paths = 19;
  const PathDraws together = draw(queue(), all);
  for (const std::int64_t item : {0, 17, 39}) {
    Process alone = all;
    const auto part = [&](const Numbers& of, std::int64_t size) {
      return Numbers(of.begin() + item * size, of.begin() + (item + 1) * size);
    };
    alone.items = 1;
    alone.x = part(all.x, 60), alone.at = part(all.at, 450), alone.y = part(all.y, 20);
    alone.variance = part(all.variance, 1), alone.noise = part(all.noise, 1);
    alone.alpha = part(all.alpha, 1);
    for (std::int64_t k = 0; k < 3; ++k) alone.length[idx(k)] = all.length[idx(k * 40 + item)];
    alone.length.resize(3);
    alone.keys = {all.keys[idx(item)]};
    const PathDraws by_itself = draw(queue(), alone);
    EXPECT_EQ(bits_of(by_itself.residual), bits_of(part(together.residual, 20 * 19)));
    EXPECT_EQ(bits_of(by_itself.value), bits_of(part(together.value, 150 * 19)));
    alone.paths = 1;
    const PathDraws first = draw(queue(), alone);
    EXPECT_EQ(bits_of(first.value),
              bits_of({by_itself.value.begin(), by_itself.value.begin() + 150}));
  }
}

TEST_P(PathwiseSamplesKernel, AgreesWithTheCpuForEveryShape) {
  for (const CovarianceKind kind : all_kinds) {
    for (const auto& [dimension, points, features] : {std::tuple{1, 1, 1},
                                                      {2, 127, 7},
                                                      {16, 129, 33},
                                                      {64, 128, 40},
                                                      {65, 33, 32},
                                                      {256, 31, 9},
                                                      {300, 40, 20},
                                                      {20, 1100, 16}}) {
      SCOPED_TRACE(std::to_string(int(kind)) + ": " + std::to_string(dimension));
      Process in = make_process(kind, dimension, 2);
      resize(in, 35, points);
      in.features = features;
      in.paths = points > 1000 ? 45 : 9;
      in.categorical.assign(idx(dimension), 0);
      in.categorical[idx(dimension / 2)] = dimension > 1 ? 1 : 0;
      const PathDraws here = draw(queue(), in), there = draw(cpu_queue(), in);
      // Weights are a few times the residuals over the noise: their rounding errors are, too.
      for (std::size_t i = 0; i < here.residual.size(); ++i) {
        ASSERT_NEAR(here.residual[i], there.residual[i], double_tolerance * 10) << i;
      }
      for (std::size_t i = 0; i < here.value.size(); ++i) {
        ASSERT_NEAR(here.value[i], there.value[i], double_tolerance * 1e3) << i;
      }
      EXPECT_EQ(bits_of(here.value), bits_of(draw(queue(), in).value));
    }
  }
}

TEST_P(PathwiseSamplesKernel, LeavesOutPointsThatAreNotThere) {
  Process in = make_process(CovarianceKind::matern32, 2, 2);
  in.paths = 3;
  Process few = in;
  few.x_counts = {4, 0};
  few.at_counts = {5, 2};
  const PathDraws got = draw(queue(), few), all = draw(queue(), in);
  for (std::int64_t item = 0; item < 2; ++item) {
    for (std::int64_t i = 0; i < 18; ++i) {
      const bool there = i / 3 < few.x_counts[idx(item)];
      const std::size_t at = idx(item * 18 + i);
      EXPECT_EQ(got.residual[at], there ? all.residual[at] : 0) << at;
    }
  }
  Process prior = few;
  prior.corrected = false;
  const Numbers alone = draw(queue(), prior).value;
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(std::isnan(got.value[i]), i >= 15 && i % 5 >= 2) << i;
    if (i >= 15 && i % 5 < 2) {
      EXPECT_EQ(got.value[i], alone[i]) << i;  // nothing was observed
    }
  }
}

TEST_P(PathwiseSamplesKernel, MakesAnItemWithRefusedParametersNan) {
  Process in = make_process(CovarianceKind::rational_quadratic, 2, 5);
  in.corrected = false;
  in.variance[1] = -1;
  in.length[5 + 2] = 0;
  in.alpha[3] = std::numeric_limits<double>::quiet_NaN();
  const Numbers value = draw(queue(), in).value;
  for (std::size_t i = 0; i < value.size(); ++i) {
    EXPECT_EQ(std::isnan(value[i]), i / 5 >= 1 && i / 5 <= 3) << i;
  }
}

TEST_P(PathwiseSamplesKernel, DrawsOtherPathsByKeyAndByStepIfAskedTo) {
  Process in = make_process(CovarianceKind::matern12, 2, 2);
  in.corrected = false;
  for (std::size_t k = 0; k < 2; ++k) {
    std::copy_n(in.at.begin(), 10, in.at.begin() + 10);
    in.length[2 * k + 1] = in.length[2 * k];
  }
  in.variance[1] = in.variance[0];
  const Numbers value = draw(queue(), in).value;
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NE(value[i], value[5 + i]);
  RunControl later;
  later.step = 3;
  EXPECT_EQ(value, draw(queue(), in, later).value);
  in.by_step = true;
  EXPECT_NE(value, draw(queue(), in, later).value);
}

TEST_P(PathwiseSamplesKernel, RefusesWhatItCannotDo) {
  PathwiseSamples kernel;
  kernel.features = 0;
  EXPECT_THROW(queue().launch(kernel), InvalidArgument);
  kernel.features = 8;
  kernel.dimension = 0;
  EXPECT_THROW(queue().launch(kernel), InvalidArgument);
}

TEST_P(PathwiseSamplesKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Process in = make_process(CovarianceKind::matern12, 2);
  PathArrays arrays(queue(), in, stopped);
  queue().launch(arrays.kernel(PathwiseStage::residual));
  queue().launch(arrays.kernel(PathwiseStage::values));
  EXPECT_EQ(arrays.weight(), Numbers(6, 4711));
  EXPECT_EQ(arrays.value(), Numbers(5, 4711));
}

}  // namespace
}  // namespace kiln::test::pathwise_samples_test
