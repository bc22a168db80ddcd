// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/math.hpp"
#include "kiln/device/vector_function.hpp"

namespace kiln {

/// ZDT1 to ZDT4 and ZDT6: two objectives of reals, f1 = x_1 (but for ZDT6) and f2 = g h(f1, g); and
/// ZDT5, whose variables are bits: 30 for x_1 and 5 for each of the others.
/// @par Source  Zitzler, Deb, Thiele, Evolutionary Computation 8 (2000) 173.
struct Zdt {
  static constexpr const char* name = "zdt";
  int number = 1;      ///< 1 .. 6
  int variables = 30;  ///< reals; of ZDT5 bits, 30 + 5 (m - 1)

  KILN_HD static constexpr int objectives() { return 2; }
  KILN_HD static constexpr int constraints() { return 0; }

  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double*) const {
    if (number == 5) return bits(x, f);
    const double first = x[0];
    const double rest = sum(x) / (variables - 1);
    f[0] = first;
    double g = 1 + 9 * rest;
    if (number == 4) g = 1 + 10.0 * (variables - 1) + rest * (variables - 1);
    if (number == 6) {
      const double s = math::sin(6 * math::pi * first);
      f[0] = 1 - math::exp(-4 * first) * s * s * s * s * s * s;
      g = 1 + 9 * math::sqrt(math::sqrt(rest));
    }
    const double t = f[0] / g;
    double h = 1 - math::sqrt(t);
    if (number == 2 || number == 6) h = 1 - t * t;
    if (number == 3) h -= t * math::sin(10 * math::pi * f[0]);
    f[1] = g * h;
  }

 private:
  /// The argument of g from all variables but the first.
  template <class Point>
  KILN_HD double sum(const Point& x) const {
    double total = 0;
    for (int i = 1; i < variables; ++i) {
      const double v = x[i];
      total += number == 4 ? v * v - 10 * math::cos(4 * math::pi * v) : v;
    }
    return total;
  }

  template <class Point>
  KILN_HD void bits(const Point& x, double* f) const {
    double ones = 0;
    for (int i = 0; i < 30; ++i) ones += x[i];
    double g = 0;
    for (int begin = 30; begin < variables; begin += 5) {
      double u = 0;
      for (int i = begin; i < begin + 5; ++i) u += x[i];
      g += u < 5 ? 2 + u : 1;
    }
    f[0] = 1 + ones;
    f[1] = g / f[0];
  }
};

}  // namespace kiln
