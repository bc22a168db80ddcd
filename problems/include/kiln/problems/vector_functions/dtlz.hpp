// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/math.hpp"
#include "kiln/device/vector_function.hpp"

namespace kiln {

/// The three types of constraints that C-DTLZ adds to DTLZ: c1 a barrier of infeasible states in
/// front of an unchanged front, c2 only parts of the front, c3 a front formed by the constraints.
enum class DtlzConstraints : std::int32_t { none, c1, c2, c3 };

/// DTLZ1 to DTLZ7, and C1-DTLZ1, C1-DTLZ3, C2-DTLZ2, C3-DTLZ1 and C3-DTLZ4: any number of
/// objectives of reals in [0, 1]. The first M - 1 variables are the position along the front, the
/// others the distance from it.
/// @par Source  Deb, Thiele, Laumanns, Zitzler, in Evolutionary Multiobjective Optimization
/// (Springer 2005) 105; Jain, Deb, IEEE Transactions on Evolutionary Computation 18 (2014) 602.
struct Dtlz {
  static constexpr const char* name = "dtlz";
  int number = 1;        ///< 1 .. 7
  int n_objectives = 3;  ///< M, 2 .. max_objectives
  int variables = 7;     ///< at least M
  /// c1 goes with the numbers 1 and 3, c2 with 2, c3 with 1 and 4.
  DtlzConstraints kind = DtlzConstraints::none;

  KILN_HD int objectives() const { return n_objectives; }
  KILN_HD int constraints() const {
    if (kind == DtlzConstraints::none) return 0;
    return kind == DtlzConstraints::c3 ? n_objectives : 1;
  }

  template <class Point>
  KILN_HD void operator()(const Point& x, double* f, double* g) const {
    const double behind = distance(x);
    if (number == 1) {
      plane(x, behind, f);
    } else if (number == 7) {
      pieces(x, behind, f);
    } else {
      sphere(x, behind, f);
    }
    constrain(f, g);
  }

  /// For C1-DTLZ3, the outer radius of the barrier, whose inner radius is 4. The paper gives it for
  /// 3, 5, 8, 10 and 15 objectives; other numbers use that of the next smaller one, and 2 uses 6.
  KILN_HD static double barrier_radius(int objectives) {
    if (objectives < 3) return 6;
    if (objectives < 5) return 9;
    return objectives < 10 ? 12.5 : 15;
  }

  /// For C2-DTLZ2, the radius of the balls around the corners and the middle of the sphere. The
  /// value for 2 objectives is customary, the others are those of the paper.
  KILN_HD static double ball_radius(int objectives) {
    if (objectives < 3) return 0.2;
    return objectives < 4 ? 0.4 : 0.5;
  }

 private:
  /// The function g of the papers: 0 on the front, but 1 on the front of DTLZ7.
  template <class Point>
  KILN_HD double distance(const Point& x) const {
    const int rest = variables - n_objectives + 1;
    double sum = 0;
    for (int i = n_objectives - 1; i < variables; ++i) {
      const double v = x[i];
      const double d = v - 0.5;
      if (number == 7) {
        sum += v;
      } else if (number == 6) {
        sum += math::pow(v, 0.1);
      } else {
        sum += d * d;
        // The waves of DTLZ1 and DTLZ3, each added separately, so that they cancel in the middle.
        if (number == 1 || number == 3) sum += 1 - math::cos(20 * math::pi * d);
      }
    }
    if (number == 7) return 1 + 9 * sum / rest;
    return number == 1 || number == 3 ? 100 * sum : sum;
  }

  template <class Point>
  KILN_HD void plane(const Point& x, double behind, double* f) const {
    double product = 0.5 * (1 + behind);
    for (int j = 0; j < n_objectives - 1; ++j) {
      const double v = x[j];
      f[n_objectives - 1 - j] = product * (1 - v);
      product *= v;
    }
    f[0] = product;
  }

  template <class Point>
  KILN_HD void sphere(const Point& x, double behind, double* f) const {
    double product = 1 + behind;
    for (int j = 0; j < n_objectives - 1; ++j) {
      double v = x[j];
      if (number == 4) v = math::pow(v, 100);
      // All angles but the first approach 45 degrees towards the front, which thus is a curve.
      if (number > 4 && j > 0) v = (1 + 2 * behind * v) / (2 * (1 + behind));
      const double angle = 0.5 * math::pi * v;
      f[n_objectives - 1 - j] = product * math::sin(angle);
      product *= math::cos(angle);
    }
    f[0] = product;
  }

  template <class Point>
  KILN_HD void pieces(const Point& x, double behind, double* f) const {
    double h = n_objectives;
    for (int j = 0; j < n_objectives - 1; ++j) {
      const double v = x[j];
      f[j] = v;
      h -= v / (1 + behind) * (1 + math::sin(3 * math::pi * v));
    }
    f[n_objectives - 1] = (1 + behind) * h;
  }

  KILN_HD void constrain(const double* f, double* g) const {
    if (kind == DtlzConstraints::none) return;
    double sum = 0, squares = 0, largest = f[0];
    for (int i = 0; i < n_objectives; ++i) {
      sum += f[i];
      squares += f[i] * f[i];
      largest = f[i] > largest ? f[i] : largest;
    }
    const double last = f[n_objectives - 1];
    if (kind == DtlzConstraints::c1) {
      const double r = barrier_radius(n_objectives);
      g[0] = number == 1 ? last / 0.6 + (sum - last) / 0.5 - 1 : (16 - squares) * (squares - r * r);
    } else if (kind == DtlzConstraints::c2) {
      const double r = ball_radius(n_objectives);
      const double corner = squares - 2 * largest + 1;
      const double middle = squares - 2 * sum / math::sqrt(n_objectives) + 1;
      g[0] = (corner < middle ? corner : middle) - r * r;
    } else {
      for (int i = 0; i < n_objectives; ++i) {
        g[i] = number == 1 ? 1 - sum - f[i] : 1 - squares + 0.75 * f[i] * f[i];
      }
    }
  }
};

}  // namespace kiln
