// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The scalarisation of several objectives.
enum class ScalarizationKind : std::uint8_t {
  weighted_sum,           ///< sum_i w_i y_i: finds convex parts of a front only
  chebyshev,              ///< max_i w_i y_i
  augmented_chebyshev,    ///< max_i w_i y_i + rho sum_i y_i: no weakly dominated points
  boundary_intersection,  ///< along the line + theta times the distance from it (PBI)
};

/// Scalarises a point in units of a box: y_i = (f_i - ideal_i) / (nadir_i - ideal_i).
/// @par Source  Miettinen, Nonlinear Multiobjective Optimization, 1999; PBI: Zhang, Li, IEEE Trans.
/// Evol. Comput. 11 (2007) 712.
struct KILN_API Scalarization {
  ScalarizationKind kind = ScalarizationKind::chebyshev;
  double rho = 1e-3;  ///< of augmented_chebyshev
  double theta = 5;   ///< of boundary_intersection

  /// y(i) gives the normalised objectives, w(i) the weights; a weight of 0 counts as 1e-6 in
  /// maxima.
  template <class Y, class W>
  KILN_HD double operator()(std::int64_t objectives, const Y& y, const W& w) const {
    if (kind == ScalarizationKind::boundary_intersection) return intersection(objectives, y, w);
    double sum = 0, plain = 0, most = -exact::infinity();
    for (std::int64_t i = 0; i < objectives; ++i) {
      const double value = y(i), weight = w(i);
      const double term = exact::mul(weight > 1e-6 ? weight : 1e-6, value);
      sum = exact::add(sum, exact::mul(weight, value));
      plain = exact::add(plain, value);
      if (term > most || term != term) most = term;  // a NaN stays
    }
    if (kind == ScalarizationKind::weighted_sum) return sum;
    if (kind == ScalarizationKind::chebyshev) return most;
    return exact::add(most, exact::mul(rho, plain));
  }

 private:
  template <class Y, class W>
  KILN_HD double intersection(std::int64_t objectives, const Y& y, const W& w) const {
    double along = 0, length = 0, away = 0;
    for (std::int64_t i = 0; i < objectives; ++i) {
      along = exact::add(along, exact::mul(y(i), w(i)));
      length = exact::add(length, exact::mul(w(i), w(i)));
    }
    const double t = exact::div(along, length);
    for (std::int64_t i = 0; i < objectives; ++i) {
      const double rest = exact::sub(y(i), exact::mul(t, w(i)));
      away = exact::add(away, exact::mul(rest, rest));
    }
    return exact::add(exact::mul(t, exact::sqrt(length)), exact::mul(theta, exact::sqrt(away)));
  }
};

}  // namespace kiln
