// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The leapfrog of all Hamiltonian transitions, against what the theory of symplectic integrators
// says of it. A leapfrog with the wrong sign of the gradient must fail.
#include "kiln/device/hmc_trajectory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/backends.hpp"
#include "densities/chains.hpp"
#include "densities/test_densities.hpp"

namespace kiln::test::hmc_trajectory_test {
namespace {

template <class Density>
Density of_dimension(int n) {
  Density density;
  density.n = n;
  return density;
}

Oscillators oscillators(int n, double omega) {
  Oscillators density = of_dimension<Oscillators>(n);
  density.omega = omega;
  return density;
}

/// A point that moves in a potential, with an identity metric unless one is given.
template <class Density>
class Walker {
 public:
  Walker(const Density& density, std::vector<double> x, std::vector<double> z)
      : density_(density),
        x_(std::move(x)),
        z_(std::move(z)),
        g_(x_.size()),
        velocity_(x_.size()),
        scale_(x_.size(), 1.0) {
    metric_.scale = scale_.data();
    evaluate();
  }
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;

  void set_metric(const Metric& metric) { metric_ = metric; }
  void set_walls(double lower, double upper) {
    chains_.bounded = true;
    chains_.lower = lower;
    chains_.upper = upper;
  }
  void go(double eps, int n) { energy_ = mover().leapfrogs(phase(), eps, n, energy_); }
  /// Leapfrog by leapfrog, as NUTS does it.
  void go_singly(double eps, int n) {
    for (int l = 0; l < n; ++l) energy_ = mover().leapfrog(phase(), eps);
  }
  void turn_round() {
    for (double& z : z_) z = -z;
  }
  double hamiltonian() { return energy_.total() + mover().kinetic(phase()); }
  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& z() const { return z_; }

 private:
  hmc::Phase phase() { return {x_.data(), z_.data(), g_.data()}; }
  hmc::Mover<Density, SingleTeam> mover() {
    return {density_, team_, chains_, metric_, 0, {}, velocity_.data(), nullptr};
  }
  void evaluate() { energy_ = mover().template evaluate<Want::both>(phase()); }

  Density density_;
  SingleTeam team_;
  ChainState chains_;
  Metric metric_;
  std::vector<double> x_, z_, g_, velocity_, scale_;
  EnergyParts energy_;
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// U = q^2 / 2, eps = 0.1, 50 leapfrogs from (1, 0).
TEST(Leapfrog, GivesTheKnownEndOfAnOscillation) {
  Walker walker(oscillators(1, 1), {1}, {0});
  const double before = walker.hamiltonian();
  walker.go(0.1, 50);
  EXPECT_NEAR(walker.x()[0], 0.285662, 5e-7);
  EXPECT_NEAR(walker.z()[0], 0.957132, 5e-7);
  EXPECT_NEAR(walker.hamiltonian() - before, -0.001148, 5e-7);

  Walker wrong(WrongSign<Oscillators>{oscillators(1, 1)}, {1}, {0});
  wrong.go(0.1, 50);
  EXPECT_NEAR(wrong.x()[0], 74.06, 5e-3);
  EXPECT_NEAR(std::abs(wrong.z()[0]), 74.14, 5e-3);
  EXPECT_NEAR(wrong.hamiltonian() - before, 5490, 0.5);
}

TEST(Leapfrog, OfAnyNumberIsThatManySingleOnes) {
  Walker merged(of_dimension<Anharmonic>(7), normal_positions(7, 1, 1, 1),
                normal_positions(7, 1, 1, 2));
  Walker single(of_dimension<Anharmonic>(7), merged.x(), merged.z());
  merged.go(0.05, 40);
  single.go_singly(0.05, 40);
  EXPECT_LT(largest_difference(merged.x(), single.x()), 1e-12);
  EXPECT_LT(largest_difference(merged.z(), single.z()), 1e-12);
  EXPECT_NEAR(merged.hamiltonian(), single.hamiltonian(), 1e-12);
}

TEST(Leapfrog, IsReversible) {
  const std::vector<double> x = normal_positions(20, 1, 1, 3), z = normal_positions(20, 1, 1, 4);
  for (const bool walls : {false, true}) {
    Walker turned(of_dimension<Anharmonic>(20), x, z),
        backwards(of_dimension<Anharmonic>(20), x, z);
    if (walls) {
      turned.set_walls(-3, 3);
      backwards.set_walls(-3, 3);
    }
    turned.go(0.1, 200);
    EXPECT_GT(largest_difference(turned.x(), x), 0.1);
    turned.turn_round();
    turned.go(0.1, 200);
    turned.turn_round();
    backwards.go(0.1, 200);
    backwards.go(-0.1, 200);
    for (const auto* walker : {&turned, &backwards}) {
      EXPECT_LT(largest_difference(walker->x(), x), 1e-10);
      EXPECT_LT(largest_difference(walker->z(), z), 1e-10);
    }
  }
}

TEST(Leapfrog, KeepsTheInvariantOfTheOscillator) {
  const auto drift = [](const auto& density) {
    constexpr double eps = 0.1;
    Walker walker(density, {1}, {0.5});
    const auto invariant = [&] {
      const double q = walker.x()[0], p = walker.z()[0];
      return 0.5 * p * p + (1 - 0.25 * eps * eps) * 0.5 * q * q;
    };
    const double before = invariant();
    double largest = 0;
    for (int l = 0; l < 1000 && largest < 1; ++l) {
      walker.go(eps, 1);
      largest = std::max(largest, std::abs(invariant() - before));
    }
    return largest;
  };
  EXPECT_LE(drift(oscillators(1, 1)), 1e-13);
  EXPECT_GT(drift(WrongSign<Oscillators>{oscillators(1, 1)}), 1.0);
}

// The largest error over a stretch of fixed time falls with the square of the step.
TEST(Leapfrog, IsOfSecondOrder) {
  const std::vector<double> x = normal_positions(6, 1, 1, 5), z = normal_positions(6, 1, 1, 6);
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  constexpr int points = 5;
  for (int k = 0; k < points; ++k) {
    const double eps = 0.08 / (1 << k);
    Walker walker(of_dimension<Anharmonic>(6), x, z);
    const double before = walker.hamiltonian();
    double error = 0;
    for (int l = 0; l < 50 * (1 << k); ++l) {
      walker.go(eps, 1);
      error = std::max(error, std::abs(walker.hamiltonian() - before));
    }
    const double log_eps = std::log(eps), log_error = std::log(error);
    sum_x += log_eps, sum_y += log_error;
    sum_xx += log_eps * log_eps, sum_xy += log_eps * log_error;
  }
  const double slope = (points * sum_xy - sum_x * sum_y) / (points * sum_xx - sum_x * sum_x);
  EXPECT_NEAR(slope, 2, 0.1);
}

// In equilibrium the mean error of a quarter period is sin^2(L theta) (eps^4 / 32) / (1 - eps^2 /
// 4) for each dimension, cos theta = 1 - eps^2 / 2. The map is linear: its columns say all.
TEST(Leapfrog, HasTheKnownMeanErrorForNormalLaws) {
  const double expected[] = {1.515e-2, 8.320e-4, 5.045e-5, 3.130e-6};
  for (int k = 0; k < 4; ++k) {
    const double eps = 0.8 / (1 << k);
    const int n = 2 << k;
    Walker from_x(oscillators(1, 1), {1}, {0}), from_z(oscillators(1, 1), {0}, {1});
    from_x.go(eps, n);
    from_z.go(eps, n);
    const double mean = from_x.hamiltonian() + from_z.hamiltonian() - 1;
    const double sine = std::sin(n * std::acos(1 - 0.5 * eps * eps));
    EXPECT_NEAR(mean, sine * sine * std::pow(eps, 4) / 32 / (1 - 0.25 * eps * eps), 1e-14);
    EXPECT_NEAR(mean / expected[k], 1, 5e-4);
  }
}

using Matrix4 = std::array<std::array<double, 4>, 4>;

double determinant(Matrix4 m) {
  double product = 1;
  for (std::size_t k = 0; k < 4; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < 4; ++r) {
      if (std::abs(m[r][k]) > std::abs(m[pivot][k])) pivot = r;
    }
    if (pivot != k) {
      std::swap(m[pivot], m[k]);
      product = -product;
    }
    product *= m[k][k];
    for (std::size_t r = k + 1; r < 4; ++r) {
      const double factor = m[r][k] / m[k][k];
      for (std::size_t c = k; c < 4; ++c) m[r][c] -= factor * m[k][c];
    }
  }
  return product;
}

std::array<double, 4> end_of(std::array<double, 4> start, const Metric* metric) {
  Walker walker(of_dimension<Anharmonic>(2), {start[0], start[1]}, {start[2], start[3]});
  if (metric != nullptr) walker.set_metric(*metric);
  walker.go(0.2, 10);
  return {walker.x()[0], walker.x()[1], walker.z()[0], walker.z()[1]};
}

// Central differences with one extrapolation: their error is of fourth order.
Matrix4 jacobian(const std::array<double, 4>& start, const Metric* metric) {
  Matrix4 m;
  constexpr double h = 2e-3;
  for (std::size_t c = 0; c < 4; ++c) {
    const auto moved = [&](double by) {
      std::array<double, 4> point = start;
      point[c] += by;
      return end_of(point, metric);
    };
    const auto far = moved(h), near = moved(h / 2), far_back = moved(-h), near_back = moved(-h / 2);
    for (std::size_t r = 0; r < 4; ++r) {
      m[r][c] = (4 * (near[r] - near_back[r]) / h - (far[r] - far_back[r]) / (2 * h)) / 3;
    }
  }
  return m;
}

TEST(Leapfrog, PreservesVolume) {
  const double factor[] = {1.5, 0, -0.4, 0.7};
  Metric dense;
  dense.kind = MetricKind::dense;
  dense.factor = factor;
  for (const Metric* metric : {static_cast<const Metric*>(nullptr), &std::as_const(dense)}) {
    const Matrix4 m = jacobian({0.3, -0.8, 1.1, 0.4}, metric);
    EXPECT_NEAR(determinant(m), 1, 1e-8);
    EXPECT_GT(std::abs(m[0][1]) + std::abs(m[0][0] - 1), 0.1) << "not the identity";
  }
}

TEST(Leapfrog, IsStableUpToAStepOfTwoPerFrequency) {
  const auto farthest = [](double eps_omega) {
    Walker walker(oscillators(1, 4), {1}, {0.3});
    double far = 0;
    for (int l = 0; l < 5000 && far < 1e12; ++l) {
      walker.go(eps_omega / 4, 1);
      far = std::max(far, std::abs(walker.x()[0]));
    }
    return far;
  };
  EXPECT_LT(farthest(1.99), 20);
  EXPECT_LT(farthest(1.999), 60);
  EXPECT_GT(farthest(2.001), 1e12);
  EXPECT_GT(farthest(2.01), 1e12);
}

// The mean of exp(-dH) is 1 for any map that preserves volume, if the start is drawn from the law.
TEST(Leapfrog, HasAMeanWeightOfOneInEquilibrium) {
  const auto mean_weight = [](double wrong_spread) {
    TestRandom random(8);
    constexpr int starts = 20000;
    double sum = 0, squares = 0;
    for (int s = 0; s < starts; ++s) {
      const auto normal = [&] { return normal_quantile(random.unit() + 0x1p-54); };
      std::vector<double> x, z;
      for (int i = 0; i < 4; ++i) x.push_back(wrong_spread * normal() / 1.3), z.push_back(normal());
      Walker walker(oscillators(4, 1.3), x, z);
      const double before = walker.hamiltonian();
      walker.go(0.9, 3);
      const double weight = std::exp(before - walker.hamiltonian());
      sum += weight, squares += weight * weight;
    }
    const double mean = sum / starts;
    return std::pair{mean, std::sqrt((squares / starts - mean * mean) / starts)};
  };
  const auto [mean, error] = mean_weight(1);
  EXPECT_NEAR(mean, 1, 4 * error);
  EXPECT_GT(error, 1e-3) << "a coarse step, or the test could not fail";
  const auto [wrong, wrong_error] = mean_weight(1.2);
  EXPECT_GT(std::abs(wrong - 1), 10 * wrong_error);
}

}  // namespace
}  // namespace kiln::test::hmc_trajectory_test
