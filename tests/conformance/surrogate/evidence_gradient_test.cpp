// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/evidence_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "processes/evidence_fits.hpp"
#include "processes/process_oracle.hpp"

// Elementary functions and sums of the device, amplified by the condition of a matrix.
KILN_CONFORMANCE_CASE(EvidenceGradient, reordered)

namespace kiln::test::evidence_gradient_test {
namespace {

using oracle::all_kinds;
using oracle::Numbers;
using oracle::Real;
using oracle::Vector;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Vector logarithms_of(const Fits& in, std::int64_t item) {
  const auto begin = in.parameter.begin() + item * in.parameters();
  return {begin, begin + in.parameters()};
}

void expect_item(const Fits& in, const Evidences& out, std::int64_t item) {
  const Vector at = logarithms_of(in, item);
  const oracle::Posterior truth = posterior(in, item, at);
  const auto value = static_cast<double>(truth.evidence());
  EXPECT_NEAR(out.value[idx(item)], value, 1e-10 * (1 + std::abs(value)));
  EXPECT_NEAR(out.mean[idx(item)], in.fitted_mean ? static_cast<double>(truth.mean()) : 0, 1e-10);
  const auto evidence = [&](const Vector& t) { return posterior(in, item, t).evidence(); };
  for (std::size_t p = 0; p < at.size(); ++p) {
    const auto slope = static_cast<double>(oracle::slope_of(evidence, at, p));
    EXPECT_NEAR(out.gradient[idx(item) * at.size() + p], slope, 1e-8 * (1 + std::abs(slope)))
        << "item " << item << ", parameter " << p;
  }
}

void expect_textbook(Queue& queue, const Fits& in) {
  const Evidences out = evaluate(queue, in);
  for (std::int64_t item = 0; item < in.items(); ++item) expect_item(in, out, item);
}

class EvidenceGradientKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(EvidenceGradientKernel);

TEST_P(EvidenceGradientKernel, KnowsOnePointByHand) {
  // K = 2 + 0.5, y = 3: 9 / 5 + log(2.5) / 2 + log(2 pi) / 2.
  Fits in;
  in.x = {0.3}, in.y = {3}, in.fitted_mean = false;
  in.parameter = {std::log(0.7), std::log(2.0), std::log(0.5)};
  const Evidences out = evaluate(queue(), in);
  EXPECT_NEAR(out.value[0], 1.8 + 0.5 * std::log(2.5) + 0.5 * std::log(2 * std::acos(-1.0)), 1e-14);
  EXPECT_EQ(out.gradient[0], 0);                               // no distance, no length
  EXPECT_NEAR(out.gradient[1], -(1.44 - 0.4) / 2 * 2, 1e-14);  // a = 1.2
  EXPECT_NEAR(out.gradient[2], -(1.44 - 0.4) / 2 * 0.5, 1e-14);
}

TEST_P(EvidenceGradientKernel, HasValuesAndSlopesOfTheTextbookForEveryShape) {
  for (const CovarianceKind kind : all_kinds) {
    for (const std::int64_t n : {1, 2, 31, 60}) {
      for (const std::int64_t dimension : {1, 3, 9}) {  // 9: more axes than are summed at once
        SCOPED_TRACE(std::to_string(int(kind)) + ": " + std::to_string(n) + " points in " +
                     std::to_string(dimension));
        if (n == 60 && dimension == 9 && kind != CovarianceKind::matern52) continue;
        Fits in = make_fits(kind, dimension, n);
        expect_textbook(queue(), in);
        in.fitted_mean = false;
        if (n < 60) expect_textbook(queue(), in);
        if (n < 60) expect_textbook(queue(), make_fits(kind, dimension, n, true));
      }
    }
  }
}

TEST_P(EvidenceGradientKernel, TakesCategoriesAsNames) {
  for (const CovarianceKind kind : all_kinds) {
    for (const bool isotropic : {false, true}) {
      Fits in = make_fits(kind, 3, 31, isotropic);
      in.categorical = {0, 1, 1};
      for (std::size_t i = 31; i < 93; ++i) in.x[i] = std::floor(4 * in.x[i]) * 100;
      expect_textbook(queue(), in);
    }
  }
}

TEST_P(EvidenceGradientKernel, HasNothingToExplainWithoutPoints) {
  Fits in = make_fits(CovarianceKind::matern52, 2, 3, false, 2, 1);
  in.counts = {0, 3};
  in.fitted_mean = false;
  const Evidences out = evaluate(queue(), in);
  EXPECT_EQ(out.value[0], 0);
  for (std::size_t p = 0; p < 4; ++p) EXPECT_EQ(out.gradient[p], 0);
  expect_item(in, out, 1);
}

TEST_P(EvidenceGradientKernel, TakesSetsOfDifferentSizes) {
  Fits in = make_fits(CovarianceKind::matern32, 2, 40, false, 4, 3);
  in.counts = {40, 1, 17, 33};
  for (std::int64_t set = 0; set < 4; ++set) {
    for (std::int64_t i = in.counts[idx(set)]; i < 40; ++i) {
      in.x[idx((set * 2 + 1) * 40 + i)] = nan;
      in.y[idx(set * 40 + i)] = nan;
    }
  }
  expect_textbook(queue(), in);
}

// The logarithms of the densities, by their formulas: what two parameters differ in.
TEST_P(EvidenceGradientKernel, AddsPriors) {
  Fits in = make_fits(CovarianceKind::rational_quadratic, 2, 12, false, 1, 2);
  const Evidences without = evaluate(queue(), in);
  in.prior = {HyperPrior::log_normal(0.4, 1.7), HyperPrior{}, HyperPrior::gamma(2, 0.15),
              HyperPrior::log_normal(-4, 1), HyperPrior::gamma(1.1, 0.05)};
  const Evidences with = evaluate(queue(), in);
  const auto log_normal = [](double t, double m, double s) {
    const double x = std::exp(t);
    return -std::log(x * s * std::sqrt(2 * std::acos(-1.0))) - std::pow((t - m) / s, 2) / 2;
  };
  const auto gamma = [](double t, double a, double b) {
    const double x = std::exp(t);
    return a * std::log(b) - std::lgamma(a) + (a - 1) * std::log(x) - b * x;
  };
  const auto density = [&](const double* t) {
    return log_normal(t[0], 0.4, 1.7) + gamma(t[2], 2, 0.15) + log_normal(t[3], -4, 1) +
           gamma(t[4], 1.1, 0.05);
  };
  Numbers added(2);
  for (std::size_t i = 0; i < 2; ++i) {
    added[i] = with.value[i] - without.value[i] + density(&in.parameter[5 * i]);
    for (std::size_t p = 0; p < 5; ++p) {
      Numbers up(&in.parameter[5 * i], &in.parameter[5 * i] + 5), down = up;
      up[p] += 1e-5, down[p] -= 1e-5;
      const double slope = (density(up.data()) - density(down.data())) / 2e-5;
      EXPECT_NEAR(with.gradient[5 * i + p] - without.gradient[5 * i + p], -slope, 1e-8);
    }
  }
  EXPECT_NEAR(added[0], added[1], 1e-12);  // a constant
}

// Parameters around a mean of which nothing is known: the density is what is left when the mean is
// integrated out.
TEST_P(EvidenceGradientKernel, BelievesThatSomeParametersAreAlike) {
  Fits in = make_fits(CovarianceKind::matern52, 3, 12, false, 1, 2);
  const Evidences without = evaluate(queue(), in);
  in.prior.resize(5);
  in.prior[0].alike = 1.5, in.prior[2].alike = 4, in.prior[3].alike = 0.25;
  const Evidences with = evaluate(queue(), in);
  const auto density = [&](const double* t) {
    const double step = 1e-3;
    double sum = 0;
    for (int i = -20000; i <= 20000; ++i) {
      double exponent = 0;
      for (std::size_t p = 0; p < 5; ++p) {
        exponent -= 0.5 * in.prior[p].alike * std::pow(t[p] - step * i, 2);
      }
      sum += std::exp(exponent);
    }
    return std::log(step * sum);
  };
  Numbers added(2);
  for (std::size_t i = 0; i < 2; ++i) {
    added[i] = with.value[i] - without.value[i] + density(&in.parameter[5 * i]);
    for (std::size_t p = 0; p < 5; ++p) {
      Numbers up(&in.parameter[5 * i], &in.parameter[5 * i] + 5), down = up;
      up[p] += 1e-4, down[p] -= 1e-4;
      const double slope = (density(up.data()) - density(down.data())) / 2e-4;
      EXPECT_NEAR(with.gradient[5 * i + p] - without.gradient[5 * i + p], -slope, 1e-8);
    }
  }
  EXPECT_NEAR(added[0], added[1], 1e-12);  // a constant
}

TEST_P(EvidenceGradientKernel, FailsForAnItemAlone) {
  Fits in = make_fits(CovarianceKind::squared_exponential, 1, 20, false, 5, 1);
  const Evidences good = evaluate(queue(), in);
  in.x[20 + 3] = in.x[20 + 9];  // set 1: points that coincide, without noise
  in.parameter[3 * 1 + 2] = -800;
  in.y[2 * 20 + 5] = nan;         // set 2
  in.parameter[3 * 3 + 1] = nan;  // set 3
  const Evidences out = evaluate(queue(), in);
  for (std::size_t i = 0; i < 5; ++i) {
    const bool bad = i >= 1 && i <= 3;
    EXPECT_EQ(out.value[i], bad ? inf : good.value[i]) << i;
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(out.gradient[3 * i + p], bad ? 0 : good.gradient[3 * i + p]) << i;
    }
    EXPECT_EQ(out.mean[i], bad ? 0 : good.mean[i]) << i;
  }
}

TEST_P(EvidenceGradientKernel, LeavesItemsAloneThatDoNotRun) {
  Fits in = make_fits(CovarianceKind::matern12, 2, 15, false, 2, 3);
  const Evidences all = evaluate(queue(), in);
  in.running = {1, 0, 1, 0, 0, 7};
  const Evidences some = evaluate(queue(), in);
  for (std::size_t i = 0; i < 6; ++i) {
    const bool runs = in.running[i] != 0;
    EXPECT_EQ(some.value[i], runs ? all.value[i] : 4711);
    EXPECT_EQ(some.mean[i], runs ? all.mean[i] : 4711);
    for (std::size_t p = 0; p < 4; ++p) {
      EXPECT_EQ(some.gradient[4 * i + p], runs ? all.gradient[4 * i + p] : 4711);
    }
  }
}

TEST_P(EvidenceGradientKernel, GivesAnItemTheSameBitsAloneAndInABatch) {
  const Fits all = make_fits(CovarianceKind::matern52, 6, 50, false, 25, 8);
  const Evidences together = evaluate(queue(), all);
  for (const std::int64_t item : {0, 9, 64, 199}) {
    const std::int64_t set = item / 8;
    Fits alone = all;
    alone.sets = alone.items_per_set = 1;
    alone.x.assign(&all.x[idx(set * 300)], &all.x[idx(set * 300)] + 300);
    alone.y.assign(&all.y[idx(set * 50)], &all.y[idx(set * 50)] + 50);
    alone.parameter.assign(&all.parameter[idx(item * 8)], &all.parameter[idx(item * 8)] + 8);
    const Evidences one = evaluate(queue(), alone);
    EXPECT_EQ(bits_of(one.value), bits_of({together.value[idx(item)]}));
    EXPECT_EQ(bits_of(one.mean), bits_of({together.mean[idx(item)]}));
    const double* const gradient = &together.gradient[idx(item * 8)];
    EXPECT_EQ(bits_of(one.gradient), bits_of({gradient, gradient + 8}));
  }
}

// The more points, the more of a GPU has an item; that must not show in those that have few.
TEST_P(EvidenceGradientKernel, GivesAnItemTheSameBitsAmongLargerOnes) {
  const std::vector<std::int32_t> counts{10, 64, 65, 128, 129, 150};
  Fits all = make_fits(CovarianceKind::matern52, 2, 150, false, 6, 1);
  all.counts = counts;
  const Evidences together = evaluate(queue(), all);
  for (std::int64_t set = 0; set < 6; ++set) {
    const std::int64_t n = counts[idx(set)];
    Fits alone = all;
    alone.sets = 1, alone.n = n, alone.counts = {};
    alone.x.clear();
    for (std::int64_t k = 0; k < 2; ++k) {
      const double* const from = &all.x[idx((2 * set + k) * 150)];
      alone.x.insert(alone.x.end(), from, from + n);
    }
    alone.y.assign(&all.y[idx(set * 150)], &all.y[idx(set * 150)] + n);
    alone.parameter.assign(&all.parameter[idx(set * 4)], &all.parameter[idx(set * 4)] + 4);
    const Evidences one = evaluate(queue(), alone);
    EXPECT_EQ(bits_of(one.value), bits_of({together.value[idx(set)]})) << n;
    const double* const gradient = &together.gradient[idx(set * 4)];
    EXPECT_EQ(bits_of(one.gradient), bits_of({gradient, gradient + 4})) << n;
  }
}

void give_inverses(Fits& in) {
  for (std::int64_t item = 0; item < in.items(); ++item) {
    const oracle::Posterior truth = posterior(in, item, logarithms_of(in, item));
    for (const Real element : truth.inverse()) {
      in.inverse.push_back(static_cast<double>(element));
    }
    in.log_determinant.push_back(static_cast<double>(truth.log_determinant()));
  }
}

TEST_P(EvidenceGradientKernel, TakesInversesThatAreGiven) {
  for (const CovarianceKind kind : all_kinds) {
    Fits in = make_fits(kind, 9, 40, kind == CovarianceKind::matern12, 2, 2);
    const Evidences own = evaluate(queue(), in);
    give_inverses(in);
    for (const bool with_memory : {false, true}) {
      in.with_memory = with_memory;
      const Evidences given = evaluate(queue(), in);
      for (std::size_t i = 0; i < own.value.size(); ++i) {
        EXPECT_NEAR(given.value[i], own.value[i], 1e-10 * (1 + std::abs(own.value[i])));
      }
      for (std::size_t i = 0; i < own.gradient.size(); ++i) {
        EXPECT_NEAR(given.gradient[i], own.gradient[i], 1e-9 * (1 + std::abs(own.gradient[i])));
      }
    }
  }
}

TEST_P(EvidenceGradientKernel, TakesMorePointsThanItInverts) {
  Fits in = make_fits(CovarianceKind::matern52, 2, EvidenceGradient::resident + 12);
  give_inverses(in);
  expect_textbook(queue(), in);
  in.with_memory = true;
  expect_textbook(queue(), in);
  in.log_determinant = {nan};  // what a factorisation says that failed
  EXPECT_EQ(evaluate(queue(), in).value[0], inf);
}

void expect_the_same(const Evidences& here, const Evidences& there) {
  for (std::size_t i = 0; i < here.value.size(); ++i) {
    ASSERT_NEAR(here.value[i], there.value[i], 1e-9 * (1 + std::abs(there.value[i])));
  }
  for (std::size_t i = 0; i < here.gradient.size(); ++i) {
    ASSERT_NEAR(here.gradient[i], there.gradient[i], 1e-8 * (1 + std::abs(there.gradient[i])));
  }
}

TEST_P(EvidenceGradientKernel, AgreesWithTheCpuUpToAllThatItInverts) {
  for (const CovarianceKind kind : all_kinds) {
    const Fits in = make_fits(kind, 6, EvidenceGradient::resident, false, 2, 2);
    const Evidences here = evaluate(queue(), in);
    expect_the_same(here, evaluate(cpu_queue(), in));
    EXPECT_EQ(bits_of(here.gradient), bits_of(evaluate(queue(), in).gradient));
  }
  for (const std::int64_t n : {15, 16, 17, 63, 64, 65, 127, 128, 129, 207}) {
    SCOPED_TRACE(n);
    const Fits in = make_fits(CovarianceKind::matern52, 3, n, false, 2, 2);
    expect_the_same(evaluate(queue(), in), evaluate(cpu_queue(), in));
  }
}

}  // namespace
}  // namespace kiln::test::evidence_gradient_test
