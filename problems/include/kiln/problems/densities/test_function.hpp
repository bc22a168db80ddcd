// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// Standard test functions of optimisation on R^d; all term, no base.
/// @par Source  Surjanovic and Bingham, Virtual Library of Simulation Experiments; Dixon and Szego,
/// Towards Global Optimization 2 (1978), for branin and the Hartmann functions.
enum class TestFunctionKind : std::uint8_t {
  sphere,
  rosenbrock,
  rastrigin,
  levy,
  styblinski_tang,
  ackley,
  griewank,
  branin,          ///< of 2 dimensions
  hartmann3,       ///< of 3
  hartmann6,       ///< of 6
  michalewicz,     ///< with m = 10
  six_hump_camel,  ///< of 2
  eggholder,       ///< of 2
  holder_table,    ///< of 2
  drop_wave,       ///< of 2
  branin_hidden,   ///< branin of coordinates n/2 and n - 1, counted from 0; the others have no
                   ///< effect
};

/// A test function, with any number of dimensions if the kind allows it.
struct TestFunction {
  static constexpr const char* name = "test_function";
  static constexpr int fixed_dimension = 0;
  static constexpr bool works_by_coordinates = true;

  TestFunctionKind kind = TestFunctionKind::sphere;
  int n = 1;

  KILN_HD int dimension() const { return n; }
  KILN_HD int workspace() const { return 0; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double value = 0;
    switch (kind) {
      case TestFunctionKind::ackley:
        value = ackley<want>(team, at);
        break;
      case TestFunctionKind::griewank:
        value = griewank<want>(team, at);
        break;
      case TestFunctionKind::branin:
        value = branin<want>(team, at, 0, 1);
        break;
      case TestFunctionKind::branin_hidden:
        value = branin<want>(team, at, n / 2, n - 1);
        break;
      case TestFunctionKind::six_hump_camel:
      case TestFunctionKind::eggholder:
      case TestFunctionKind::holder_table:
      case TestFunctionKind::drop_wave:
        value = of_two<want>(team, at);
        break;
      case TestFunctionKind::hartmann3:
      case TestFunctionKind::hartmann6:
        value = hartmann<want>(team, at);
        break;
      default:
        value = sum_of_parts<want>(team, at);
    }
    if constexpr (wants_gradient(want)) team.sync();
    return {0, value};
  }

 private:
  template <Want want, class Team>
  KILN_HD double sum_of_parts(const Team& team, const DensityPoint& at) const {
    double value = 0;
    for (int i = team.rank(); i < n; i += team.size()) {
      double slope = 0;
      value += part(at.x, i, slope);
      if constexpr (wants_gradient(want)) at.gradient[i] = at.weights.term * slope;
    }
    return wants_energy(want) ? team.sum(value) : 0.0;
  }

  /// The contribution of coordinate i to the value, and the partial derivative of the value.
  KILN_HD double part(const double* x, int i, double& slope) const {
    const double xi = x[i];
    switch (kind) {
      case TestFunctionKind::sphere:
        slope = 2 * xi;
        return xi * xi;
      case TestFunctionKind::rosenbrock: {
        double value = 0;
        slope = 0;
        if (i + 1 < n) {
          const double up = x[i + 1] - xi * xi;
          value = 100 * up * up + (1 - xi) * (1 - xi);
          slope += -400 * xi * up - 2 * (1 - xi);
        }
        if (i > 0) slope += 200 * (xi - x[i - 1] * x[i - 1]);
        return value;
      }
      case TestFunctionKind::rastrigin:
        slope = 2 * xi + 20 * math::pi * math::sin(2 * math::pi * xi);
        return 10 + xi * xi - 10 * math::cos(2 * math::pi * xi);
      case TestFunctionKind::styblinski_tang:
        slope = 2 * xi * xi * xi - 16 * xi + 2.5;
        return 0.5 * xi * (xi * (xi * xi - 16) + 5);
      case TestFunctionKind::michalewicz:
        return michalewicz_part(xi, i, slope);
      default:
        return levy_part(xi, i, slope);
    }
  }

  KILN_HD double levy_part(double xi, int i, double& slope) const {
    const double w = 1 + 0.25 * (xi - 1), off = w - 1;
    const bool last = i == n - 1;
    const double angle = last ? 2 * math::pi * w : math::pi * w + 1;
    const double speed = last ? 2 * math::pi : math::pi;
    const double height = last ? 1 : 10;
    const double s = math::sin(angle), c = math::cos(angle);
    double value = off * off * (1 + height * s * s);
    slope = 0.5 * off * (1 + height * s * s) + 0.5 * off * off * height * s * c * speed;
    if (i == 0) {
      const double s0 = math::sin(math::pi * w);
      value += s0 * s0;
      slope += 0.5 * math::pi * s0 * math::cos(math::pi * w);
    }
    return value;
  }

  KILN_HD double michalewicz_part(double xi, int i, double& slope) const {
    const double angle = (i + 1) * xi * xi / math::pi;
    const double s = math::sin(angle), s2 = s * s, s4 = s2 * s2, s16 = s4 * s4 * s4 * s4;
    const double narrow = s16 * s4;  // the 20th power
    const double wide = math::sin(xi);
    const double steep = 20 * s16 * s2 * s * math::cos(angle) * 2 * (i + 1) * xi / math::pi;
    slope = -math::cos(xi) * narrow - wide * steep;
    return -wide * narrow;
  }

  template <Want want, class Team>
  KILN_HD double ackley(const Team& team, const DensityPoint& at) const {
    double sums[2] = {0, 0};
    for (int i = team.rank(); i < n; i += team.size()) {
      sums[0] += at.x[i] * at.x[i];
      sums[1] += math::cos(2 * math::pi * at.x[i]);
    }
    team.sum(sums);
    const double radius = math::sqrt(sums[0] / n);
    const double well = 20 * math::exp(-0.2 * radius), waves = math::exp(sums[1] / n);
    if constexpr (wants_gradient(want)) {
      // At the optimum the cone has no slope; 0 is one of its subgradients.
      const double cone = radius > 0 ? 0.2 * well / (radius * n) : 0.0;
      for (int i = team.rank(); i < n; i += team.size()) {
        const double wave = waves * 2 * math::pi / n * math::sin(2 * math::pi * at.x[i]);
        at.gradient[i] = at.weights.term * (cone * at.x[i] + wave);
      }
    }
    return (20 - well) + (math::exp(1.0) - waves);
  }

  template <Want want, class Team>
  KILN_HD double griewank(const Team& team, const DensityPoint& at) const {
    // The product of cosines as logarithms and a count of signs, because teams have sums and no
    // products.
    double sums[3] = {0, 0, 0};
    for (int i = team.rank(); i < n; i += team.size()) {
      const double c = math::cos(at.x[i] / math::sqrt(i + 1.0));
      sums[0] += at.x[i] * at.x[i];
      sums[1] += math::log(math::abs(c));
      sums[2] += c < 0 ? 1 : 0;
    }
    team.sum(sums);
    const bool odd = (static_cast<std::int64_t>(sums[2]) & 1) != 0;
    const double product = odd ? -math::exp(sums[1]) : math::exp(sums[1]);
    if constexpr (wants_gradient(want)) {
      for (int i = team.rank(); i < n; i += team.size()) {
        const double width = math::sqrt(i + 1.0), angle = at.x[i] / width;
        const double tangent = math::sin(angle) / math::cos(angle);
        at.gradient[i] = at.weights.term * (at.x[i] / 2000 + product * tangent / width);
      }
    }
    return 1 + sums[0] / 4000 - product;
  }

  // Small functions: every thread computes the whole function.
  template <Want want, class Team>
  KILN_HD double branin(const Team& team, const DensityPoint& at, int first, int second) const {
    const double x = at.x[first], y = at.x[second];
    const double b = 5.1 / (4 * math::pi * math::pi), c = 5 / math::pi;
    const double height = 10 * (1 - 1 / (8 * math::pi));
    const double off = y - b * x * x + c * x - 6;
    if constexpr (wants_gradient(want)) {
      for (int i = team.rank(); i < n; i += team.size()) {
        double slope = 0;
        if (i == first) slope = 2 * off * (c - 2 * b * x) - height * math::sin(x);
        if (i == second) slope = 2 * off;
        at.gradient[i] = at.weights.term * slope;
      }
    }
    return off * off + height * math::cos(x) + 10;
  }

  template <Want want, class Team>
  KILN_HD double of_two(const Team& team, const DensityPoint& at) const {
    const double x = at.x[0], y = at.x[1];
    double slope[2] = {0, 0};
    double value = 0;
    switch (kind) {
      case TestFunctionKind::six_hump_camel:
        value = (4 - 2.1 * x * x + x * x * x * x / 3) * x * x + x * y + (4 * y * y - 4) * y * y;
        slope[0] = 8 * x - 8.4 * x * x * x + 2 * x * x * x * x * x + y;
        slope[1] = x - 8 * y + 16 * y * y * y;
        break;
      case TestFunctionKind::eggholder:
        value = eggholder(x, y, slope);
        break;
      case TestFunctionKind::holder_table:
        value = holder_table(x, y, slope);
        break;
      default:
        value = drop_wave(x, y, slope);
    }
    if constexpr (wants_gradient(want)) {
      if (team.rank() == 0) {
        at.gradient[0] = at.weights.term * slope[0];
        at.gradient[1] = at.weights.term * slope[1];
      }
    }
    return value;
  }

  /// sin(sqrt(abs(u))) and its derivative, which is taken as 0 where it does not exist.
  KILN_HD static double wave(double u, double& slope) {
    const double root = math::sqrt(math::abs(u));
    slope = root > 0 ? math::cos(root) / (2 * root) * (u < 0 ? -1 : 1) : 0.0;
    return math::sin(root);
  }

  KILN_HD static double eggholder(double x, double y, double* slope) {
    double s1 = 0, s2 = 0;
    const double w1 = wave(y + x / 2 + 47, s1), w2 = wave(x - y - 47, s2);
    slope[0] = -(y + 47) * s1 / 2 - w2 - x * s2;
    slope[1] = -w1 - (y + 47) * s1 + x * s2;
    return -(y + 47) * w1 - x * w2;
  }

  KILN_HD static double holder_table(double x, double y, double* slope) {
    const double radius = math::sqrt(x * x + y * y);
    const double off = 1 - radius / math::pi, growth = math::exp(math::abs(off));
    const double waves = math::sin(x) * math::cos(y);
    const double outwards = radius > 0 ? (off < 0 ? 1 : -1) / (math::pi * radius) : 0.0;
    const double sign = waves < 0 ? 1 : -1;
    slope[0] = sign * growth * (math::cos(x) * math::cos(y) + waves * outwards * x);
    slope[1] = sign * growth * (-math::sin(x) * math::sin(y) + waves * outwards * y);
    return sign * growth * waves;
  }

  KILN_HD static double drop_wave(double x, double y, double* slope) {
    const double square = x * x + y * y, radius = math::sqrt(square);
    const double top = 1 + math::cos(12 * radius), bottom = square / 2 + 2;
    // By the radius, divided by it: 12 sin(12 r)/r has the limit 144.
    const double ripple = radius > 0 ? 12 * math::sin(12 * radius) / radius : 144.0;
    const double common = ripple / bottom + top / (bottom * bottom);
    slope[0] = common * x;
    slope[1] = common * y;
    return -top / bottom;
  }

  template <Want want, class Team>
  KILN_HD double hartmann(const Team& team, const DensityPoint& at) const {
    constexpr double weight[4] = {1.0, 1.2, 3.0, 3.2};
    constexpr double steep3[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
    constexpr double centre3[4][3] = {{0.3689, 0.1170, 0.2673},
                                      {0.4699, 0.4387, 0.7470},
                                      {0.1091, 0.8732, 0.5547},
                                      {0.03815, 0.5743, 0.8828}};
    constexpr double steep6[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                     {0.05, 10, 17, 0.1, 8, 14},
                                     {3, 3.5, 1.7, 10, 17, 8},
                                     {17, 8, 0.05, 10, 0.1, 14}};
    constexpr double centre6[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                      {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                      {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                      {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
    const bool three = kind == TestFunctionKind::hartmann3;
    double value = 0;
    double slope[6] = {0, 0, 0, 0, 0, 0};
    for (int k = 0; k < 4; ++k) {
      const double* steep = three ? steep3[k] : steep6[k];
      const double* centre = three ? centre3[k] : centre6[k];
      double distance = 0;
      for (int i = 0; i < n; ++i) distance += steep[i] * math::square(at.x[i] - centre[i]);
      const double bump = weight[k] * math::exp(-distance);
      value -= bump;
      for (int i = 0; i < n; ++i) slope[i] += 2 * bump * steep[i] * (at.x[i] - centre[i]);
    }
    if constexpr (wants_gradient(want)) {
      if (team.rank() == 0) {
        for (int i = 0; i < n; ++i) at.gradient[i] = at.weights.term * slope[i];
      }
    }
    return value;
  }
};

}  // namespace kiln
