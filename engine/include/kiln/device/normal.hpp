// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"

namespace kiln {

namespace detail {

/// c[0] + c[1] x + ... + c[7] x^7.
KILN_HD inline double polynomial7(const double (&c)[8], double x) {
  double sum = c[7];
  for (int i = 6; i >= 0; --i) sum = exact::add(exact::mul(sum, x), c[i]);
  return sum;
}

}  // namespace detail

/// The quantile of the standard normal distribution at u in (0, 1), relative error about 1e-16,
/// with the same bits on every device.
/// @par Source  Wichura, "Algorithm AS 241: the percentage points of the normal distribution",
/// Appl. Statist. 37 (1988) 477, routine PPND16.
KILN_HD inline double normal_quantile(double u) {
  constexpr double centre_top[8] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                    1.9715909503065514427e3, 1.3731693765509461125e4,
                                    4.5921953931549871457e4, 6.7265770927008700853e4,
                                    3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double centre_bottom[8] = {1.0,
                                       4.2313330701600911252e1,
                                       6.8718700749205790830e2,
                                       5.3941960214247511077e3,
                                       2.1213794301586595867e4,
                                       3.9307895800092710610e4,
                                       2.8729085735721942674e4,
                                       5.2264952788528545610e3};
  constexpr double near_top[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                  5.76949722146069140550e0,  3.64784832476320460504e0,
                                  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double near_bottom[8] = {1.0,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};
  constexpr double far_top[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double far_bottom[8] = {1.0,
                                    5.99832206555887937690e-1,
                                    1.36929880922735805310e-1,
                                    1.48753612908506148525e-2,
                                    7.86869131145613259100e-4,
                                    1.84631831751005468180e-5,
                                    1.42151175831644588870e-7,
                                    2.04426310338993978564e-15};
  const double q = exact::sub(u, 0.5);
  if (q >= -0.425 && q <= 0.425) {
    const double r = exact::sub(0.180625, exact::mul(q, q));
    return exact::div(exact::mul(q, detail::polynomial7(centre_top, r)),
                      detail::polynomial7(centre_bottom, r));
  }
  const double tail = q < 0 ? u : exact::sub(1.0, u);
  const double depth = exact::sqrt(-exact::log(tail));
  double value = 0;
  if (depth <= 5.0) {
    const double r = exact::sub(depth, 1.6);
    value = exact::div(detail::polynomial7(near_top, r), detail::polynomial7(near_bottom, r));
  } else {
    const double r = exact::sub(depth, 5.0);
    value = exact::div(detail::polynomial7(far_top, r), detail::polynomial7(far_bottom, r));
  }
  return q < 0 ? -value : value;
}

/// The standard normal number for `index` of a named draw. It uses one word, so its resolution is
/// 2^-32 and its size below 6.4.
KILN_HD inline double standard_normal(const DrawName& name, std::uint32_t index) {
  return normal_quantile(open_unit(draw_word(name, index)));
}

}  // namespace kiln
