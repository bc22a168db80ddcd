// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "kiln/problems/vector_functions/wfg.hpp"

#include "vector_function_values.hpp"

namespace kiln::wfg_functions_test {
namespace {

using std::numbers::pi;
using test::expect_near;
using test::objectives_at;
using test::random_point;
using test::squares_of;
using test::sum_of;
using test::Values;

// The transformations of the paper as they stand there, with floor() and in z of [0, 2i].
Values part(const Values& y, int begin, int end) { return {y.begin() + begin, y.begin() + end}; }

double s_linear(double y, double a) { return std::abs(y - a) / std::abs(std::floor(a - y) + a); }
double s_decept(double y, double a, double b, double c) {
  return 1 + (std::abs(y - a) - b) *
                 (std::floor(y - a + b) * (1 - c + (a - b) / b) / (a - b) +
                  std::floor(a + b - y) * (1 - c + (1 - a - b) / b) / (1 - a - b) + 1 / b);
}
double s_multi(double y, double a, double b, double c) {
  const double q = std::abs(y - c) / (2 * (std::floor(c - y) + c));
  return (1 + std::cos((4 * a + 2) * pi * (0.5 - q)) + 4 * b * q * q) / (b + 2);
}
double b_flat(double y, double a, double b, double c) {
  return a + std::min(0.0, std::floor(y - b)) * a * (b - y) / b -
         std::min(0.0, std::floor(c - y)) * (1 - a) * (y - c) / (1 - c);
}
double b_param(double y, const Values& others) {
  const double u = sum_of(others) / static_cast<double>(others.size());
  const double a = 0.98 / 49.98, b = 0.02, c = 50;
  return std::pow(y, b + (c - b) * (a - (1 - 2 * u) * std::abs(std::floor(0.5 - u) + a)));
}
double r_sum(const Values& y, const Values& w) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += w[i] * y[i];
  return sum / sum_of(w);
}
double r_nonsep(const Values& y, int a) {
  const std::size_t n = y.size();
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) {
    sum += y[j];
    for (std::size_t k = 0; k + 2 <= static_cast<std::size_t>(a); ++k) {
      sum += std::abs(y[j] - y[(j + k + 1) % n]);
    }
  }
  const double half = std::ceil(a / 2.0);
  return sum / (static_cast<double>(n) / a * half * (1 + 2 * a - 2 * half));
}

/// After all transformations of single variables.
Values transformed(int number, int k, const Values& z) {
  Values y;
  for (std::size_t i = 0; i < z.size(); ++i) y.push_back(z[i] / (2 * static_cast<double>(i + 1)));
  const Values before = y;
  const int n = static_cast<int>(y.size());
  for (int i = 0; i < n; ++i) {
    double& v = y[static_cast<std::size_t>(i)];
    if ((number == 7 && i < k) || (number == 9 && i < n - 1)) {
      v = b_param(v, part(before, i + 1, n));
    }
    if (number == 8 && i >= k) v = b_param(v, part(before, 0, i));
    const bool linear = number <= 3 || (number >= 6 && number <= 8);
    if (linear && i >= k) v = s_linear(v, 0.35);
    if (number == 4) v = s_multi(v, 30, 10, 0.35);
    if (number == 5 || (number == 9 && i < k)) v = s_decept(v, 0.35, 0.001, 0.05);
    if (number == 9 && i >= k) v = s_multi(v, 30, 95, 0.35);
    if (number == 1 && i >= k) v = b_flat(v, 0.8, 0.75, 0.85);
    if (number == 1) v = std::pow(v, 0.02);
  }
  return y;
}

Values by_hand(int number, int m, int k, const Values& z) {
  Values y = transformed(number, k, z);
  if (number == 2 || number == 3) {
    Values pairs = part(y, 0, k);
    for (int i = k; i < static_cast<int>(y.size()); i += 2) {
      pairs.push_back(r_nonsep(part(y, i, i + 2), 2));
    }
    y = pairs;
  }
  Values t;
  for (int i = 0; i < m; ++i) {
    const int begin = i * k / (m - 1);
    const int end = i + 1 < m ? (i + 1) * k / (m - 1) : static_cast<int>(y.size());
    Values weights(static_cast<std::size_t>(end - begin), 1.0);
    for (int j = begin; number == 1 && j < end; ++j) {
      weights[static_cast<std::size_t>(j - begin)] = 2 * (j + 1);
    }
    t.push_back(number == 6 || number == 9 ? r_nonsep(part(y, begin, end), end - begin)
                                           : r_sum(part(y, begin, end), weights));
  }
  Values x, f;
  for (int i = 0; i < m - 1; ++i) {
    const double a = number == 3 && i > 0 ? 0 : 1;
    x.push_back(std::max(t.back(), a) * (t[static_cast<std::size_t>(i)] - 0.5) + 0.5);
  }
  for (int i = 1; i <= m; ++i) {
    double h = 1;
    for (int j = 0; j < m - i; ++j) {
      const double v = x[static_cast<std::size_t>(j)];
      h *= number == 3 ? v : number < 3 ? 1 - std::cos(v * pi / 2) : std::sin(v * pi / 2);
    }
    const double v = i == 1 ? 0 : x[static_cast<std::size_t>(m - i)];
    if (i > 1)
      h *= number == 3 ? 1 - v : number < 3 ? 1 - std::sin(v * pi / 2) : std::cos(v * pi / 2);
    if (i == m && number == 1) h = 1 - v - std::cos(10 * pi * v + pi / 2) / (10 * pi);
    if (i == m && number == 2) h = 1 - v * std::pow(std::cos(5 * v * pi), 2);
    f.push_back(t.back() + 2 * i * h);
  }
  return f;
}

/// Variables of the best distance for a position, in [0, 1]: section VIII of the paper.
Values best(int number, int k, Values y, int n) {
  y.resize(static_cast<std::size_t>(n), 0.35);
  const auto exponent = [](const Values& others) {
    const double u = sum_of(others) / static_cast<double>(others.size());
    const double a = 0.98 / 49.98;
    return 0.02 + 49.98 * (a - (1 - 2 * u) * std::abs(std::floor(0.5 - u) + a));
  };
  for (int i = k; number == 8 && i < n; ++i) {
    y[static_cast<std::size_t>(i)] = std::pow(0.35, 1 / exponent(part(y, 0, i)));
  }
  for (int i = n - 2; number == 9 && i >= k; --i) {
    y[static_cast<std::size_t>(i)] = std::pow(0.35, 1 / exponent(part(y, i + 1, n)));
  }
  return y;
}

TEST(WfgFunctions, HaveTheValuesOfTheirFormulas) {
  std::mt19937_64 random(3);
  for (int number = 1; number <= 9; ++number) {
    for (const auto& [m, k, l] : {std::array{2, 2, 4}, {3, 4, 10}, {5, 8, 6}, {16, 30, 34}}) {
      for (int repeat = 0; repeat < 5; ++repeat) {
        const Values x = random_point(random, k + l);
        Values z = x;
        for (std::size_t i = 0; i < z.size(); ++i) z[i] *= 2 * static_cast<double>(i + 1);
        expect_near(objectives_at(Wfg{number, m, k, l}, x), by_hand(number, m, k, z), 1e-9,
                    "WFG" + std::to_string(number));
      }
    }
  }
}

TEST(WfgFunctions, AreOnTheirFrontAtTheBestDistance) {
  std::mt19937_64 random(4);
  for (int number = 4; number <= 9; ++number) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Values x = best(number, 4, random_point(random, 4), 12);
      Values f = objectives_at(Wfg{number, 3, 4, 8}, x);
      for (std::size_t i = 0; i < f.size(); ++i) f[i] /= 2 * static_cast<double>(i + 1);
      EXPECT_NEAR(squares_of(f), 1, 1e-6) << "WFG" << number;
      Values behind = x;
      behind.back() = 0.9;
      f = objectives_at(Wfg{number, 3, 4, 8}, behind);
      for (std::size_t i = 0; i < f.size(); ++i) f[i] /= 2 * static_cast<double>(i + 1);
      EXPECT_GT(squares_of(f), 1 + 1e-3) << "WFG" << number;
    }
  }
  const Values line = objectives_at(Wfg{3, 2, 2, 4}, {0.25, 0.75, 0.35, 0.35, 0.35, 0.35});
  expect_near(line, {1, 2}, 1e-14, "WFG3");
}

}  // namespace
}  // namespace kiln::wfg_functions_test
