// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/math.hpp"
#include "kiln/device/vector_function.hpp"

namespace kiln {

/// WFG1 to WFG9: any number of objectives of reals. The variables of the paper are z_i in [0, 2i];
/// here they are x_i = z_i / 2i in [0, 1], as the functions normalise them first. The first
/// `position` of them are the position along the front, the others the distance from it.
/// @par Source  Huband, Hingston, Barone, While, IEEE Transactions on Evolutionary Computation 10
/// (2006) 477, and its toolkit.
struct Wfg {
  static constexpr const char* name = "wfg";
  /// The capacity of the list of variables in the transformations.
  static constexpr int max_variables = 64;

  int number = 1;        ///< 1 .. 9
  int n_objectives = 2;  ///< M, 2 .. max_objectives
  int position = 2;      ///< k, a multiple of M - 1
  int distance = 4;      ///< l, at least 1; even for WFG2 and WFG3; k + l <= max_variables

  KILN_HD int objectives() const { return n_objectives; }
  KILN_HD static constexpr int constraints() { return 0; }
  KILN_HD int variables() const { return position + distance; }

  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double*) const {
    double y[max_variables];
    for (int i = 0; i < variables(); ++i) y[i] = x[i];
    depend(y);
    shift(y);
    double t[max_objectives];
    reduce(y, t);
    shape(t, f);
  }

 private:
  /// Rounding may slightly leave [0, 1]; roots and powers need the interval.
  KILN_HD static double unit(double v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

  // The transformations of the paper by their names there, with its constants. Where it uses
  // floor() to distinguish the two sides of a value, these functions take the two sides.

  KILN_HD static double s_linear(double y, double a) {
    return unit(math::abs(y - a) / (y > a ? 1 - a : a));
  }
  KILN_HD static double s_decept(double y) {
    constexpr double a = 0.35, b = 0.001, c = 0.05;
    if (y < a - b) return unit(1 - (1 - c) * (a - b - y) / (a - b));
    if (y > a + b) return unit(1 - (1 - c) * (y - a - b) / (1 - a - b));
    return unit(math::abs(y - a) / b);
  }
  KILN_HD static double s_multi(double y, double waves, double b) {
    constexpr double c = 0.35;
    const double d = math::abs(y - c) / (2 * (y > c ? 1 - c : c));
    const double wave = math::cos((4 * waves + 2) * math::pi * (0.5 - d));
    return unit((1 + wave + 4 * b * d * d) / (b + 2));
  }
  KILN_HD static double b_flat(double y) {
    constexpr double a = 0.8, b = 0.75, c = 0.85;
    if (y < b) return unit(a - a * (b - y) / b);
    if (y > c) return unit(a + (1 - a) * (y - c) / (1 - c));
    return a;
  }
  KILN_HD static double b_param(double y, double u) {
    constexpr double a = 0.98 / 49.98, b = 0.02, c = 50;
    const double v = a - (1 - 2 * u) * (u > 0.5 ? 1 - a : a);
    return unit(math::pow(y, b + (c - b) * v));
  }

  /// The mean of a few values, weighted by 2i of the variable's number i if `weighted`.
  KILN_HD static double r_sum(const double* y, int begin, int end, bool weighted) {
    double sum = 0, weights = 0;
    for (int i = begin; i < end; ++i) {
      const double w = weighted ? 2 * (i + 1) : 1;
      sum += w * y[i];
      weights += w;
    }
    return unit(sum / weights);
  }
  /// Over n values, each with its distances from the a - 1 that follow it cyclically.
  KILN_HD static double r_nonsep(const double* y, int n, int a) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      sum += y[j];
      for (int k = 1; k < a; ++k) sum += math::abs(y[j] - y[(j + k) % n]);
    }
    const int half = (a + 1) / 2;
    return unit(sum * a / (static_cast<double>(n) * half * (1 + 2 * a - 2 * half)));
  }

  /// The biases that depend on other variables before the bias: on all that follow (WFG7 for the
  /// position, WFG9), or for the distance on all that precede (WFG8).
  KILN_HD void depend(double* y) const {
    double sum = 0;
    if (number == 8) {
      for (int i = 0; i < variables(); ++i) {
        const double before = y[i];
        if (i >= position) y[i] = b_param(before, unit(sum / i));
        sum += before;
      }
    }
    if (number != 7 && number != 9) return;
    for (int i = variables() - 1; i >= 0; --i) {
      const double before = y[i];
      const int following = variables() - 1 - i;
      if (following > 0 && (number == 9 || i < position)) {
        y[i] = b_param(before, unit(sum / following));
      }
      sum += before;
    }
  }

  /// The shifts, each variable for itself, and the biases of WFG1.
  KILN_HD void shift(double* y) const {
    for (int i = 0; i < variables(); ++i) {
      const bool behind = i >= position;
      if (number == 4) {
        y[i] = s_multi(y[i], 30, 10);
      } else if (number == 5 || (number == 9 && !behind)) {
        y[i] = s_decept(y[i]);
      } else if (number == 9) {
        y[i] = s_multi(y[i], 30, 95);
      } else if (behind) {
        y[i] = s_linear(y[i], 0.35);
      }
      if (number == 1 && behind) y[i] = b_flat(y[i]);
      if (number == 1) y[i] = unit(math::pow(y[i], 0.02));
    }
  }

  /// From the variables to one value for each objective; the last is 0 on the front.
  KILN_HD void reduce(double* y, double* t) const {
    int rest = distance;
    if (number == 2 || number == 3) {
      rest = distance / 2;
      for (int j = 0; j < rest; ++j) y[position + j] = r_nonsep(y + position + 2 * j, 2, 2);
    }
    const int gap = position / (n_objectives - 1);
    for (int m = 0; m < n_objectives; ++m) {
      const int begin = m * gap;
      const int end = m + 1 < n_objectives ? begin + gap : position + rest;
      t[m] = number == 6 || number == 9 ? r_nonsep(y + begin, end - begin, end - begin)
                                        : r_sum(y, begin, end, number == 1);
    }
  }

  KILN_HD void shape(const double* t, double* f) const {
    const int last = n_objectives - 1;
    double product = 1;
    double first = 0;
    for (int j = 0; j < last; ++j) {
      // WFG3 degenerates: near its front all but the first of these do not matter.
      const double spread = number == 3 && j > 0 ? t[last] : 1;
      const double x = spread * (t[j] - 0.5) + 0.5;
      if (j == 0) first = x;
      const double angle = 0.5 * math::pi * x;
      double along = math::sin(angle), across = math::cos(angle);
      if (number == 3) along = x, across = 1 - x;
      if (number < 3) {
        const double sine = along;
        along = 1 - across;
        across = 1 - sine;
      }
      f[last - j] = product * unit(across);
      product *= unit(along);
    }
    f[0] = product;
    if (number == 1) f[last] = 1 - first + math::sin(10 * math::pi * first) / (10 * math::pi);
    if (number == 2) f[last] = 1 - first * math::square(math::cos(5 * math::pi * first));
    for (int m = 0; m <= last; ++m) f[m] = t[last] + 2 * (m + 1) * f[m];
  }
};

}  // namespace kiln
