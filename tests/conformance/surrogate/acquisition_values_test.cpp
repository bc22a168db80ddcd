// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/acquisition_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Elementary functions of the device.
KILN_CONFORMANCE_CASE(AcquisitionValues, reordered)

namespace kiln::test::acquisition_values_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using enum AcquisitionKind;
constexpr AcquisitionKind all_kinds[] = {expected_improvement, log_expected_improvement,
                                         probability_of_improvement, log_probability_of_improvement,
                                         confidence_bound};

struct Points {
  AcquisitionKind kind = log_expected_improvement;
  std::int64_t group_size = 1;
  std::vector<double> mean, variance, best, weight;
  double min_variance = 1e-20;
};
struct Values {
  std::vector<double> value, by_mean, by_deviation;
};

Values evaluate(Queue& queue, const Points& in, const RunControl& state = {}) {
  const DeviceArray<double> mean(queue, in.mean), variance(queue, in.variance);
  const DeviceArray<double> best(queue, in.best), weight(queue, in.weight);
  const std::vector<double> untouched(in.mean.size(), 4711);
  DeviceArray<double> value(queue, untouched), by_mean(queue, untouched);
  DeviceArray<double> by_deviation(queue, untouched);
  const auto control = upload_control(queue, state);
  AcquisitionValues kernel;
  kernel.kind = in.kind;
  kernel.mean = mean.view();
  kernel.variance = variance.view();
  kernel.group_size = in.group_size;
  kernel.best = best.view();
  kernel.weight = weight.view();
  kernel.min_variance = in.min_variance;
  kernel.value = value.view();
  kernel.by_mean = by_mean.view();
  kernel.by_deviation = by_deviation.view();
  kernel.control = control.data();
  queue.launch(kernel);
  return {value.download(), by_mean.download(), by_deviation.download()};
}

/// h = phi + z Phi at z and what belongs to it, from sums of 900 digits.
struct Truth {
  double z, log_h, cdf_over_h, pdf_over_h, log_cdf, pdf_over_cdf;
};
constexpr Truth truths[] = {
    {10, 2.3025850929940456840, 0.100000000000000000000, 7.6945986267064193463E-24,
     -7.6198530241605260660E-24, 7.6945986267064193463E-23},
    {3, 1.0987396653277077727, 0.33284096845179523558, 0.0014770946446142932501,
     -0.0013508099647481937988, 0.0044378390421256637933},
    {0, -0.91893853320467274178, 1.2533141373155002512, 1.0000000000000000000,
     -0.69314718055994530942, 0.79788456080286535588},
    {-0.999, -2.4832171154475854412, 1.9035493173589594259, 2.9016457680416004648,
     -1.8394969101647779061, 1.5243344323053471233},
    {-1, -2.4851210257126413368, 1.9042712333296918229, 2.9042712333296918229,
     -1.8410216450092635058, 1.5251352761609812091},
    {-1.001, -2.4870256579553892129, 1.9049932727342130120, 2.9068982660069470152,
     -1.8425471807560767678, 1.5259362369478146769},
    {-3.5, -9.7468100377653867369, 3.9778629562409456330, 14.922520346843309715,
     -8.3660653083440929350, 3.7513912648576997313},
    {-3.999, -11.844629552292603786, 4.4315667790109936232, 18.721835549264963987,
     -10.355876356043406171, 4.2246538262576229442},
    {-4.001, -11.853494519785877781, 4.4334007333155419611, 18.738036333995484867,
     -10.364327570338338172, 4.2265604805776594534},
    {-5, -16.744301162660990143, 5.3618162412880885298, 27.809081206440442649,
     -15.064998393988725736, 5.1865039671258421156},
    {-9, -45.848941292669033308, 9.2146276129268978873, 83.931648516342080986,
     -43.628149113332115497, 9.1085231050028687978},
    {-40, -808.29856835661996024, 40.049906657648518193, 1602.9962663059407277,
     -804.60844201375378817, 40.024968847207263723},
    {-1e4, -50000019.339619307157, 10000.000199999994000, 100000002.99999994000,
     -50000010.129278915181, 10000.000099999998000},
    {-1e9, -500000000000000042.37, 1000000000.0000000020, 1000000000000000003.0,
     -500000000000000021.64, 1000000000.0000000010}};

/// A point at z with the given deviation, a power of two, so that the kernel finds z again.
Points point_at(double z, double deviation, AcquisitionKind kind) {
  return {kind, 1, {-z * deviation}, {deviation * deviation}, {0}, {3}, 1e-20};
}

void expect_near(double value, double truth, double tolerance, double z) {
  EXPECT_NEAR(value, truth, tolerance * std::abs(truth)) << "z = " << z;
}

class AcquisitionValuesKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(AcquisitionValuesKernel);

TEST_P(AcquisitionValuesKernel, HasTheLogarithmsToTwelveDigitsHoweverSmall) {
  for (const Truth& at : truths) {
    for (const double s : {1.0, 0.25}) {
      Values out = evaluate(queue(), point_at(at.z, s, log_expected_improvement));
      expect_near(out.value[0], at.log_h + std::log(s), 1e-12, at.z);
      expect_near(out.by_mean[0], -at.cdf_over_h / s, 1e-12, at.z);
      expect_near(out.by_deviation[0], at.pdf_over_h / s, 1e-12, at.z);
      out = evaluate(queue(), point_at(at.z, s, log_probability_of_improvement));
      expect_near(out.value[0], at.log_cdf, 1e-12, at.z);
      expect_near(out.by_mean[0], -at.pdf_over_cdf / s, 1e-12, at.z);
      expect_near(out.by_deviation[0], -at.z * at.pdf_over_cdf / s, 1e-12, at.z);
    }
  }
}

TEST_P(AcquisitionValuesKernel, HasTheValuesBehindTheLogarithms) {
  for (const Truth& at : truths) {
    if (at.z < -9) continue;  // exp() of a large logarithm would be less accurate than the kernel
    const double s = 0.5, h = std::exp(at.log_h), cdf = std::exp(at.log_cdf);
    Values out = evaluate(queue(), point_at(at.z, s, expected_improvement));
    expect_near(out.value[0], s * h, 1e-12, at.z);
    expect_near(out.by_mean[0], -cdf, 1e-12, at.z);
    expect_near(out.by_deviation[0], at.pdf_over_h * h, 1e-12, at.z);
    out = evaluate(queue(), point_at(at.z, s, probability_of_improvement));
    expect_near(out.value[0], cdf, 1e-12, at.z);
    expect_near(out.by_mean[0], -at.pdf_over_cdf * cdf / s, 1e-12, at.z);
    expect_near(out.by_deviation[0], -at.z * at.pdf_over_cdf * cdf / s, 1e-12, at.z);
  }
}

TEST_P(AcquisitionValuesKernel, KnowsTheConfidenceBoundByHand) {
  const Points in{confidence_bound, 2, {1, 2, 3, -4}, {4, 0.25, 0, 9}, {}, {2, 0.5}, 1e-20};
  const Values out = evaluate(queue(), in);
  EXPECT_EQ(out.value[0], 3);
  EXPECT_EQ(out.value[1], -1);
  EXPECT_NEAR(out.value[2], -3, 1e-9);
  EXPECT_EQ(out.value[3], 5.5);
  EXPECT_EQ(out.by_mean, (std::vector<double>{-1, -1, -1, -1}));
  EXPECT_EQ(out.by_deviation, (std::vector<double>{2, 2, 0.5, 0.5}));
}

// Central differences, at joints of the formulas too: none may jump there.
TEST_P(AcquisitionValuesKernel, HasTheSlopesOfItsValues) {
  for (const AcquisitionKind kind : all_kinds) {
    for (const double z : {3.0, 1e-9, -0.9, -1.0, -3.9999, -4.0, -4.0001, -7.0, -30.0}) {
      const double s = 0.5, mean = 1.0, best = mean + z * s, step = 1e-5;
      const auto spread = [&](double m, double d) {
        return Points{kind, 4, {m, m}, {d * d, d * d}, {best}, {2}, 1e-20};
      };
      const auto value = [&](double m, double d) {
        return evaluate(queue(), spread(m, d)).value[0];
      };
      const Values at = evaluate(queue(), spread(mean, s));
      const double by_mean = (value(mean + step, s) - value(mean - step, s)) / (2 * step);
      const double by_deviation = (value(mean, s + step) - value(mean, s - step)) / (2 * step);
      // An error of step^2 times a third derivative, which is of the size z^3 of the value here.
      const double size =
          std::abs(at.value[0]) + std::abs(at.by_mean[0]) + std::abs(at.by_deviation[0]);
      const double tolerance = 1e-8 * size * (1 + std::abs(z * z * z));
      EXPECT_NEAR(at.by_mean[0], by_mean, tolerance) << int(kind) << ", z = " << z;
      EXPECT_NEAR(at.by_deviation[0], by_deviation, tolerance) << int(kind) << ", z = " << z;
    }
  }
}

TEST_P(AcquisitionValuesKernel, RisesWithTheGainWithoutAJump) {
  for (const AcquisitionKind kind : {log_expected_improvement, log_probability_of_improvement}) {
    Points in{kind, 100000, {}, {}, {0}, {}, 1e-20};
    for (int i = 0; i < 3000; ++i) in.mean.push_back(9 - 0.004 * i);
    in.variance.assign(in.mean.size(), 1);
    const Values out = evaluate(queue(), in);
    for (std::size_t i = 1; i < in.mean.size(); ++i) {
      ASSERT_GT(out.value[i], out.value[i - 1]) << i;
      ASSERT_GT(out.by_mean[i], out.by_mean[i - 1]) << i;  // log-concave
    }
  }
}

TEST_P(AcquisitionValuesKernel, GivesGroupsTheirBest) {
  const Points in{expected_improvement, 2, {0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {0, 3, -2}, {}, 1e-20};
  const Values out = evaluate(queue(), in);
  EXPECT_NEAR(out.value[0], 0.3989422804014327, 1e-15);
  EXPECT_EQ(out.value[0], out.value[1]);
  EXPECT_NEAR(out.value[2], std::exp(1.0987396653277077727), 1e-14);
  EXPECT_EQ(out.value[2], out.value[3]);
  EXPECT_LT(out.value[4], out.value[0]);
}

TEST_P(AcquisitionValuesKernel, RaisesVariancesToTheLeast) {
  Points in{expected_improvement, 4, {1, 1, 1, 1}, {-1e-17, 0, 1e-6, nan}, {3}, {}, 1e-6};
  Values out = evaluate(queue(), in);
  EXPECT_EQ(out.value[0], 2);  // the gain is certain
  EXPECT_EQ(out.value[0], out.value[1]);
  EXPECT_EQ(out.value[1], out.value[2]);
  EXPECT_TRUE(std::isnan(out.value[3]));
  in.best = {-3};
  out = evaluate(queue(), in);
  EXPECT_EQ(out.value[0], 0);
  in.kind = log_expected_improvement;
  out = evaluate(queue(), in);
  EXPECT_NEAR(out.value[0], -8e6, 40);  // -z^2 / 2 at z = -4000, and logarithms
  EXPECT_LT(out.by_mean[0], 0);
}

TEST_P(AcquisitionValuesKernel, SpreadsNanFromPoints) {
  for (const AcquisitionKind kind : all_kinds) {
    const Points in{kind, 3, {nan, 0, 0}, {1, nan, 1}, {1}, {1}, 1e-20};
    const Values out = evaluate(queue(), in);
    EXPECT_TRUE(std::isnan(out.value[0]) && std::isnan(out.value[1])) << int(kind);
    EXPECT_TRUE(std::isfinite(out.value[2])) << int(kind);
  }
}

TEST_P(AcquisitionValuesKernel, AgreesWithTheCpu) {
  for (const AcquisitionKind kind : all_kinds) {
    TestRandom random(4);
    Points in{kind, 100, {}, {}, {}, {}, 1e-20};
    for (int i = 0; i < 10000; ++i) {
      in.mean.push_back(6 * random.unit() - 1);
      in.variance.push_back(0.01 + random.unit());
    }
    for (int i = 0; i < 100; ++i)
      in.best.push_back(random.unit()), in.weight.push_back(random.unit());
    const Values here = evaluate(queue(), in), there = evaluate(cpu_queue(), in);
    for (std::size_t i = 0; i < in.mean.size(); ++i) {
      // Values of the order of exp(-z^2 / 2) are as far apart as rounding of z^2 makes them.
      const auto bound = [](double x) { return double_tolerance * (1 + std::abs(x)); };
      ASSERT_NEAR(here.value[i], there.value[i], bound(there.value[i])) << i;
      ASSERT_NEAR(here.by_mean[i], there.by_mean[i], bound(there.by_mean[i])) << i;
      ASSERT_NEAR(here.by_deviation[i], there.by_deviation[i], bound(there.by_deviation[i])) << i;
    }
  }
}

TEST_P(AcquisitionValuesKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Values out = evaluate(queue(), point_at(-1, 1, expected_improvement), stopped);
  EXPECT_EQ(out.value, std::vector<double>{4711});
}

}  // namespace
}  // namespace kiln::test::acquisition_values_test
