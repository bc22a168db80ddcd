// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/gradient_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kiln/objectives/density_objective.hpp"
#include "kiln/problems/densities/all.hpp"

#include "backends/cpu_queue.hpp"
#include "densities/test_densities.hpp"

namespace kiln::test::gradient_check_test {
namespace {

double curved(std::span<const double> x, std::span<double> gradient) {
  if (!gradient.empty()) {
    gradient[0] = std::exp(x[0]) * std::cos(x[1]);
    gradient[1] = -std::exp(x[0]) * std::sin(x[1]) + 4 * std::pow(x[1], 3);
  }
  return std::exp(x[0]) * std::cos(x[1]) + std::pow(x[1], 4);
}

TEST(GradientCheck, MeasuresDerivativesToManyDigits) {
  const std::vector<double> x = {0.5, -1.2};
  const GradientCheck check = check_gradient(curved, x);
  EXPECT_TRUE(check.agrees(1e-10)) << check.text();
  EXPECT_LT(check.resolution, 1e-9);
  std::vector<double> gradient(2);
  curved(x, gradient);
  EXPECT_EQ(check.given, gradient[static_cast<std::size_t>(check.coordinate)]);
  EXPECT_NEAR(check.measured, check.given, 1e-10);
  EXPECT_EQ(check.text().rfind("the gradient agrees with finite differences of the energy: ", 0),
            0u);
}

TEST(GradientCheck, FindsTheCoordinateThatIsWrong) {
  const auto wrong = [](std::span<const double> x, std::span<double> gradient) {
    const double value = curved(x, gradient);
    if (!gradient.empty()) gradient[1] *= 1 + 1e-5;
    return value;
  };
  const GradientCheck check = check_gradient(wrong, std::vector<double>{0.5, -1.2});
  EXPECT_FALSE(check.agrees());
  EXPECT_TRUE(check.agrees(2e-5));
  EXPECT_EQ(check.coordinate, 1);
  EXPECT_NEAR(check.error, 1e-5, 1e-8);
  EXPECT_NE(check.text().find("the gradient at coordinate 1 (counted from 0) is "),
            std::string::npos)
      << check.text();
}

TEST(GradientCheck, IsRelativeAtEveryScale) {
  for (const double scale : {1e-12, 1.0, 1e12}) {
    const auto function = [=](double mistake) {
      return [=](std::span<const double> x, std::span<double> gradient) {
        const double value = curved(x, gradient);
        for (double& g : gradient) g *= scale * (1 + mistake);
        return scale * value;
      };
    };
    const std::vector<double> x = {0.5, -1.2};
    EXPECT_TRUE(check_gradient(function(0), x).agrees(1e-9)) << scale;
    EXPECT_FALSE(check_gradient(function(1e-5), x).agrees()) << scale;
  }
}

// At the end of its domain an energy has differences only close by; about a minimum of others a
// derivative that is 0 cannot be held to its own size.
TEST(GradientCheck, CopesWithWallsAndMinima) {
  const auto function = [](std::span<const double> x, std::span<double> gradient) {
    if (!gradient.empty()) gradient[0] = 1 - 1 / x[0], gradient[1] = 2 * x[1];
    return x[0] > 0 ? x[0] - std::log(x[0]) + x[1] * x[1] : std::numeric_limits<double>::infinity();
  };
  const GradientCheck check = check_gradient(function, std::vector<double>{1e-3, 0});
  EXPECT_TRUE(check.agrees()) << check.text();
  EXPECT_LT(check.resolution, 1e-6);
}

TEST(GradientCheck, SeesThatEnergiesDiffer) {
  const auto function = [](std::span<const double> x, std::span<double> gradient) {
    return curved(x, gradient) + (gradient.empty() ? 0 : 1);
  };
  const GradientCheck check = check_gradient(function, std::vector<double>{0.5, -1.2});
  EXPECT_FALSE(check.agrees());
  EXPECT_NE(check.text().find("the two values must be equal"), std::string::npos) << check.text();
}

TEST(GradientCheck, TakesDensities) {
  const std::vector<double> x = {1, -2, 3, 0.5, 0.1, -0.7, 2, 1, 4, 1.2};
  EXPECT_TRUE(check_gradient(HostDensity<EightSchools>(EightSchools{}), x).agrees());
  const HostDensity<WrongSign<EightSchools>> wrong(WrongSign<EightSchools>{});
  const GradientCheck check = check_gradient(wrong, x);
  EXPECT_NEAR(check.error, 2, 1e-6) << "the wrong sign is an error of twice its size";
}

// Right but for x[1] > 0.5, which about three of eight starts in [-2, 2] have.
double wrong_on_one_side(std::span<const double> x, std::span<double> gradient) {
  const double value = curved(x, gradient);
  if (!gradient.empty() && x[1] > 0.5) gradient[1] *= 1.01;
  return value;
}

TEST(GradientCheck, LooksAtTheStartsOfAnObjective) {
  const auto right = make_density_objective("curved", 2, curved);
  const GradientCheckAtStarts good = check_gradient(*right, 4, 1);
  EXPECT_EQ(good.starts, 4);
  EXPECT_TRUE(good.worst.agrees()) << good.worst.text();
  EXPECT_GE(good.worst.difference, good.worst.error);

  const auto wrong = make_density_objective("curved", 2, wrong_on_one_side);
  const GradientCheckAtStarts bad = check_gradient(*wrong, 20, 1);
  EXPECT_FALSE(bad.worst.agrees()) << "20 starts miss it once in 12000 seeds";
  EXPECT_EQ(bad.worst.coordinate, 1);
}

TEST(GradientCheck, PassesOverStartsWithoutAnEnergy) {
  const auto half = make_density_objective(
      "half-line", std::make_shared<HostDensity<HalfLine>>(HalfLine{}), -2, 2);
  EXPECT_EQ(check_gradient(*half, 5, 1).starts, 5);
  EXPECT_EQ(complaint([&] { check_gradient(*half, 0, 1); }),
            "gradient.starts: the number of starts is 0");
  const auto nowhere = make_density_objective(
      "half-line", std::make_shared<HostDensity<HalfLine>>(HalfLine{}), -2, -1);
  EXPECT_THROW(check_gradient(*nowhere, 1, 1), ObjectiveError);
  const auto plain = make_host_objective("plain", Space::reals(2, -1, 1),
                                         [](std::span<const double> x) { return x[0]; });
  EXPECT_EQ(complaint([&] { check_gradient(*plain, 3, 1); }),
            "gradient.missing: objective 'plain' has no gradient that the host can compute");
}

TEST(GradientCheck, SaysWhatItCannotCheck) {
  EXPECT_EQ(complaint([] {
              check_gradient(HostDensity<EightSchools>(EightSchools{}), std::vector<double>{1, 2});
            }),
            "gradient.point: the point to check has 2 numbers; expected 10, the "
            "dimension of the density");
  EXPECT_EQ(
      complaint([] { check_gradient(HostDensity<HalfLine>(HalfLine{}), std::vector<double>{-1}); }),
      "gradient.point: the energy or its gradient is not finite at the point to check; expected a "
      "point with finite values");
}

}  // namespace
}  // namespace kiln::test::gradient_check_test
