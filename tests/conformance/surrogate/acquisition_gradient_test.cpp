// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "processes/acquisition_studies.hpp"

// Elementary functions and sums of the device.
KILN_CONFORMANCE_CASE(AcquisitionGradient, reordered)

namespace kiln::test::acquisition_gradient_test {
namespace {

using oracle::all_kinds;
using namespace acquisition;
constexpr AcquisitionKind all_acquisitions[] = {expected_improvement, log_expected_improvement,
                                                probability_of_improvement,
                                                log_probability_of_improvement, confidence_bound};

class AcquisitionGradientKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(AcquisitionGradientKernel);

TEST_P(AcquisitionGradientKernel, KnowsOnePointByHand) {
  // K = 4, noise 1, y = 5, m = 1: at the point itself 1 + 4 / 5 * 4 = 4.2 and 4 - 16 / 5 = 0.8.
  Studies in;
  in.kind = confidence_bound;
  in.dimension = in.lengths = in.n = in.per_study = 1;
  in.x = {0.25}, in.y = {5}, in.mean = {1}, in.best = {0}, in.at = {0.25};
  in.parameter = {0, std::log(4.0), 0};
  const Answers out = ask(queue(), in);
  EXPECT_NEAR(out.mean[0], 4.2, 1e-14);
  EXPECT_NEAR(out.variance[0], 0.8, 1e-14);
  EXPECT_NEAR(out.value[0], 1.7 * std::sqrt(0.8) - 4.2, 1e-14);
  EXPECT_NEAR(out.gradient[0], 0, 1e-14);
}

TEST_P(AcquisitionGradientKernel, HasValuesAndSlopesOfTheTextbook) {
  for (const CovarianceKind covariance : all_kinds) {
    for (const AcquisitionKind kind : all_acquisitions) {
      for (const std::int64_t n : {1, 20}) {
        SCOPED_TRACE(std::to_string(int(covariance)) + ", " + std::to_string(int(kind)) + ", " +
                     std::to_string(n) + " points");
        Studies in = make_studies(covariance, 3, n, 2);
        in.kind = kind;
        expect_truth(in, ask(queue(), in));
      }
    }
  }
}

TEST_P(AcquisitionGradientKernel, TakesTheMeanOverLists) {
  for (const AcquisitionKind kind : all_acquisitions) {
    SCOPED_TRACE(int(kind));
    Studies in = make_studies(CovarianceKind::matern52, 2, 15, 2, 1, 5);
    in.kind = kind;
    expect_truth(in, ask(queue(), in));
    in = make_studies(CovarianceKind::squared_exponential, 2, 15, 1, 2, 3);
    in.kind = kind;
    expect_truth(in, ask(queue(), in));
  }
}

TEST_P(AcquisitionGradientKernel, WeighsWithTheProbabilityOfConstraints) {
  for (const AcquisitionKind kind : all_acquisitions) {
    for (const std::int64_t outputs : {2, 3}) {
      SCOPED_TRACE(std::to_string(int(kind)) + ", " + std::to_string(outputs));
      Studies in = make_studies(CovarianceKind::matern32, 2, 15, 2, outputs);
      in.kind = kind;
      expect_truth(in, ask(queue(), in));
      in.best.assign(2, nan);  // nothing is feasible: the probability alone, whatever the kind
      expect_truth(in, ask(queue(), in));
      in.best = {nan, 0.1};
      expect_truth(in, ask(queue(), in));
    }
  }
}

TEST_P(AcquisitionGradientKernel, TakesCategoriesOneLengthAndSetsOfDifferentSizes) {
  for (const CovarianceKind covariance : all_kinds) {
    Studies in = make_studies(covariance, 3, 18, 3);
    in.categorical = {0, 1, 0};
    for (std::int64_t study = 0; study < 3; ++study) {
      for (std::int64_t i = 0; i < 18; ++i) {
        double& x = in.x[idx((study * 3 + 1) * 18 + i)];
        x = std::floor(3 * x);
      }
    }
    for (std::size_t item = 0; item < 9; ++item) in.at[3 * item + 1] = double(item % 3);
    in.counts = {18, 1, 7};
    expect_truth(in, ask(queue(), in));
    in.lengths = 1;
    in.parameter.erase(in.parameter.begin(), in.parameter.begin() + 6);
    in.parameter.resize(idx(3 * in.parameters()));
    expect_truth(in, ask(queue(), in));
  }
}

TEST_P(AcquisitionGradientKernel, StaysFiniteInTheTail) {
  for (const std::int64_t outputs : {1, 2}) {
    for (const double z : {-5.0, -40.0, -90.0}) {
      Studies in = make_studies(CovarianceKind::matern52, 2, 12, 1, outputs);
      in.per_study = 1;
      in.at.resize(2);
      const Truth truth(in, 0);
      const Vector x(in.at.begin(), in.at.end());
      for (std::int64_t o = 0; o < outputs; ++o) {
        const auto far =
            static_cast<double>(truth.mean(o, 0, x) + z * std::sqrt(truth.variance(o, x)));
        (o == 0 ? in.best : in.bound)[idx(o)] = far;
      }
      for (const AcquisitionKind kind :
           {log_expected_improvement, log_probability_of_improvement}) {
        in.kind = kind;
        const Answers out = ask(queue(), in);
        EXPECT_LT(out.value[0], -z * z / 4 * double(outputs));
        EXPECT_GT(std::hypot(out.gradient[0], out.gradient[1]), 1);
        expect_truth(in, out);
      }
    }
  }
}

TEST_P(AcquisitionGradientKernel, StaysFiniteWhereNothingIsUnknown) {
  Studies in = make_studies(CovarianceKind::squared_exponential, 2, 1, 1, 2);
  for (const std::int64_t set : {0, 1}) in.parameter[idx(4 * set + 3)] = -80;  // no noise
  in.at = {in.x[0], in.x[1], 0.5, 0.5, in.x[0], in.x[1] + 1e-12};
  for (const AcquisitionKind kind : all_acquisitions) {
    in.kind = kind;
    in.best = {in.y[0] - 1e-8};
    const Answers out = ask(queue(), in);
    for (const double value : out.value) EXPECT_TRUE(std::isfinite(value)) << int(kind);
    for (const double slope : out.gradient) EXPECT_TRUE(std::isfinite(slope)) << int(kind);
    EXPECT_GE(out.variance[0], 1e-20);
  }
}

TEST_P(AcquisitionGradientKernel, OnlyPredictsWithoutAWishForValues) {
  const Studies in = make_studies(CovarianceKind::matern52, 4, 30, 2, 2, 2);
  const Answers all = ask(queue(), in), predicted = ask(queue(), in, false);
  EXPECT_EQ(bits_of(predicted.mean), bits_of(all.mean));
  EXPECT_EQ(bits_of(predicted.variance), bits_of(all.variance));
  EXPECT_EQ(predicted.value, Numbers(6, 4711));
  EXPECT_EQ(predicted.gradient, Numbers(24, 4711));
}

TEST_P(AcquisitionGradientKernel, LeavesItemsAloneThatDoNotRun) {
  Studies in = make_studies(CovarianceKind::matern52, 2, 10, 2, 2);
  const Answers all = ask(queue(), in);
  in.running = {0, 1, 0, 1, 1, 0};
  const Answers some = ask(queue(), in);
  for (std::size_t i = 0; i < 6; ++i) {
    const bool runs = in.running[i] != 0;
    EXPECT_EQ(some.value[i], runs ? all.value[i] : 4711);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(some.gradient[2 * i + k], runs ? all.gradient[2 * i + k] : 4711);
      EXPECT_EQ(some.mean[2 * i + k], runs ? all.mean[2 * i + k] : 4711);
      EXPECT_EQ(some.variance[2 * i + k], runs ? all.variance[2 * i + k] : 4711);
    }
  }
}

TEST_P(AcquisitionGradientKernel, GivesAPointTheSameBitsAloneAndInABatch) {
  Studies in = make_studies(CovarianceKind::rational_quadratic, 5, 40, 4, 2, 2);
  in.per_study = 50;
  in.at = uniform(4 * 50 * 5, 0, 1, 8);
  const Answers all = ask(queue(), in);
  for (const std::int64_t item : {0, 49, 50, 199}) {
    Studies alone = in;
    alone.per_study = 1;
    alone.first_study = item / 50;
    alone.at.assign(&in.at[idx(item * 5)], &in.at[idx(item * 5)] + 5);
    const Answers one = ask(queue(), alone);
    const auto part = [&](const Numbers& of, std::int64_t size) {
      return bits_of({of.begin() + item * size, of.begin() + (item + 1) * size});
    };
    EXPECT_EQ(bits_of(one.value), part(all.value, 1));
    EXPECT_EQ(bits_of(one.gradient), part(all.gradient, 5));
    EXPECT_EQ(bits_of(one.mean), part(all.mean, 4));
    EXPECT_EQ(bits_of(one.variance), part(all.variance, 2));
  }
}

TEST_P(AcquisitionGradientKernel, AgreesWithTheCpuOnManyPoints) {
  Studies in = make_studies(CovarianceKind::matern52, 6, 150, 1, 2);
  in.per_study = 500;
  in.at = uniform(500 * 6, 0, 1, 8);
  const Answers here = ask(queue(), in), there = ask(cpu_queue(), in);
  for (std::size_t i = 0; i < here.value.size(); ++i) {
    ASSERT_NEAR(here.value[i], there.value[i], 1e-9 * (1 + std::abs(there.value[i])));
  }
  for (std::size_t i = 0; i < here.gradient.size(); ++i) {
    ASSERT_NEAR(here.gradient[i], there.gradient[i], 1e-8 * (1 + std::abs(there.gradient[i])));
  }
  EXPECT_EQ(bits_of(here.gradient), bits_of(ask(queue(), in).gradient));
}

}  // namespace
}  // namespace kiln::test::acquisition_gradient_test
