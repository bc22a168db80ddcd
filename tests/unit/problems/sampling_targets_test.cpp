// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/problems/densities/sampling_target.hpp"

#include "backends/cpu_queue.hpp"
#include "densities/density_checks.hpp"

namespace kiln::sampling_targets_test {
namespace {

using problems::density_by_name;
using test::Coordinates;
using test::normal_lpdf;
using Law = std::function<double(std::span<const double>)>;

struct Case {
  const char* name;
  int dimension;
  double width;  ///< of the points to compare at
  Law log_density;
};

double sum_of(std::span<const double> x, const std::function<double(std::size_t, double)>& f) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += f(i, x[i]);
  return sum;
}

std::vector<Case> all_cases() {
  return {
      {"gaussian-5,1e4", 5, 3,
       [](std::span<const double> x) {
         return sum_of(x, [](std::size_t i, double xi) {
           return normal_lpdf(xi, 0, std::pow(10.0, 0.5 * static_cast<double>(i)));
         });
       }},
      {"gaussian-path-7", 7, 2,
       [](std::span<const double> x) {
         return sum_of(x,
                       [](std::size_t, double xi) { return normal_lpdf(xi, 0, std::sqrt(0.1)); });
       }},
      {"correlated-4,0.9", 4, 2,
       [](std::span<const double> x) {
         return sum_of(x, [&](std::size_t i, double xi) {
           return i == 0 ? normal_lpdf(xi, 0, 1) : normal_lpdf(xi, 0.9 * x[i - 1], std::sqrt(0.19));
         });
       }},
      {"banana", 2, 12,
       [](std::span<const double> x) {
         return normal_lpdf(x[0], 0, 10) + normal_lpdf(x[1], 0.03 * (x[0] * x[0] - 100), 1);
       }},
      {"banana-4", 4, 12,
       [](std::span<const double> x) {
         return normal_lpdf(x[0], 0, 10) + normal_lpdf(x[1], 0.03 * (x[0] * x[0] - 100), 1) +
                normal_lpdf(x[2], 0, 1) + normal_lpdf(x[3], 0, 1);
       }},
      {"funnel", 10, 4,
       [](std::span<const double> x) {
         return sum_of(x, [&](std::size_t i, double xi) {
           return i == 0 ? normal_lpdf(xi, 0, 3) : normal_lpdf(xi, 0, std::exp(x[0] / 2));
         });
       }},
      {"two-modes-3", 3, 9,
       [](std::span<const double> x) {
         const double near =
             sum_of(x, [](std::size_t, double xi) { return normal_lpdf(xi, 0, 1); });
         const double far = sum_of(x, [](std::size_t, double xi) { return normal_lpdf(xi, 8, 1); });
         return std::log(0.8 * std::exp(near) + 0.2 * std::exp(far));
       }},
  };
}

TEST(SamplingTargets, AreTheLawsThatTheyAreNamedAfter) {
  for (const Case& one : all_cases()) {
    const Problem problem = density_by_name(one.name);
    const auto points = test::points_around_zero(one.dimension, one.width, 20);
    ASSERT_EQ(problem.objective->space().variables(), one.dimension) << one.name;
    EXPECT_TRUE(problem.posterior);
    const auto energy = [&](const Coordinates& x) {
      return problem.objective->reference()(spans_of(State{x}));
    };
    const double offset = energy(points[0]) + one.log_density(points[0]);
    for (const Coordinates& x : points) {
      const double expected = offset - one.log_density(x);
      const double tolerance = 1e-9 * std::max(1.0, std::abs(expected));
      EXPECT_NEAR(energy(x), expected, tolerance) << one.name;
      EXPECT_NEAR(problem.solution.verify(spans_of(State{x})), energy(x), tolerance) << one.name;
    }
  }
}

SamplingTarget density_of(SamplingTargetKind kind, int n, const double* precision) {
  const double a = kind == SamplingTargetKind::correlated ? -0.7 : 0.8;
  return {kind, n, a, 8, precision, 1.5, 4};
}

constexpr SamplingTargetKind all_kinds[] = {
    SamplingTargetKind::gaussian, SamplingTargetKind::correlated, SamplingTargetKind::banana,
    SamplingTargetKind::funnel, SamplingTargetKind::two_modes};

TEST(SamplingTargets, HaveTheirGradients) {
  const double precision[5] = {1, 10, 0.1, 2, 3};
  for (const SamplingTargetKind kind : all_kinds) {
    const SamplingTarget density = density_of(kind, 5, precision);
    test::expect_gradients(density, test::points_around_zero(5, 6, 6));
    test::expect_teams_agree(density, test::points_around_zero(5, 6, 1).front());
  }
}

TEST(SamplingTargets, LeadFromAWideNormalToTheTarget) {
  const double precision[5] = {1, 10, 0.1, 2, 3};
  for (const SamplingTargetKind kind : all_kinds) {
    for (const Coordinates& x : test::points_around_zero(5, 6, 5)) {
      const EnergyParts e = evaluate_on_host(density_of(kind, 5, precision), x, {});
      double reference = 0;
      for (const double xi : x) reference += (xi - 1.5) * (xi - 1.5) / 32;
      EXPECT_NEAR(e.base, reference, 1e-12);
    }
  }
  // log Z of the Gaussian path is -1.151293 per dimension: both parts without constants.
  const EnergyParts e = evaluate_on_host(
      SamplingTarget{SamplingTargetKind::gaussian, 5, 0, 0, Coordinates(5, 10.0).data(), 0, 1},
      Coordinates(5, 2.0), {});
  EXPECT_DOUBLE_EQ(e.base, 10);
  EXPECT_DOUBLE_EQ(e.term, 90);
}

TEST(SamplingTargets, StayFiniteFarOut) {
  for (const double far : {-300.0, 300.0}) {
    const EnergyParts e = evaluate_on_host(density_of(SamplingTargetKind::two_modes, 50, nullptr),
                                           Coordinates(50, far), {});
    EXPECT_TRUE(std::isfinite(e.total()));
  }
}

std::string refusal(const std::string& text) {
  return test::complaint([&] { density_by_name(text); });
}

TEST(SamplingTargets, RefuseWhatTheyCannotBe) {
  EXPECT_EQ(refusal("bananas"),
            "problem.unknown: unknown density 'bananas'; the nearest is 'banana'");
  EXPECT_EQ(refusal("gaussian-5,x"),
            "problem.parameters: 'density:gaussian-5,x' does not have the form "
            "density:gaussian-D,NUMBER");
  EXPECT_EQ(refusal("funnel-5,2"),
            "problem.parameters: 'density:funnel-5,2' does not have the form density:funnel-D");
  EXPECT_EQ(refusal("gaussian-5,0.5"),
            "problem.parameters: density:gaussian: the condition number 0.5 is out of range");
  EXPECT_EQ(refusal("correlated-5,1"),
            "problem.parameters: density:correlated: the correlation 1 is out of range");
  EXPECT_EQ(refusal("banana-1"), "problem.size: 'density:banana-1' has 1 dimensions");
}

}  // namespace
}  // namespace kiln::sampling_targets_test
