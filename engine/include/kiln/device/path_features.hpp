// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/covariance.hpp"
#include "kiln/device/exact_math.hpp"
#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"

namespace kiln {

/// One number for each of four consecutive features.
struct Features4 {
  double value[4] = {0, 0, 0, 0};
  KILN_HD double operator[](int i) const { return value[i]; }
};

/// Random features of one path: draws from the spectral density of a correlation for which E[2
/// cos(scale z.x/l + phase) cos(scale z.x'/l + phase)] is the correlation of x and x'.
///
/// z is standard normal, and the scale gives it the spectral density: 1 for the squared
/// exponential. For the Matern kinds z scale has Student's t distribution with 2 nu degrees of
/// freedom. The rational quadratic is a mixture of squared exponentials whose precisions have the
/// gamma distribution of shape and rate alpha; the scale is the root of such a precision. All
/// arithmetic is exact: a path is the same on every backend.
/// @par Source  Rahimi, Recht, NIPS 20 (2007); Rasmussen, Williams, Gaussian Processes for Machine
/// Learning, MIT Press (2006), 4.2; gamma distribution: Marsaglia, Tsang, ACM Trans. Math. Softw.
/// 26 (2000) 363.
struct PathFeatures {
  CovarianceKind kind = CovarianceKind::matern52;
  double alpha = 1;
  std::uint64_t key = 0;
  std::uint64_t step = 0;
  std::uint32_t path = 0;

  enum Block : std::uint8_t { of_frequency, of_scale, of_phase, of_category, of_name, of_noise };
  KILN_HD DrawName draws(Block block) const {
    return {key, step, path, RngDomain::features, block};
  }

  /// z of features 4 group to 4 group + 3 along axis k.
  KILN_HD Features4 frequencies(std::uint32_t group, std::uint32_t k,
                                std::uint32_t dimension) const {
    return normals(draw_quad(draws(of_frequency), group * dimension + k));
  }

  /// The term of a category of axis k in place of z x. The axis is replaced by one axis per
  /// category, on which the point is at 1 or 0, scaled by 1 / sqrt(2), so that points of different
  /// categories are at distance 1. The bits of a category identify it.
  KILN_HD Features4 category(std::uint32_t group, std::uint32_t k, double value) const {
    const std::uint64_t bits = exact::double_to_bits(exact::add(value, 0.0));  // -0 is 0
    const DrawName name{key, k, static_cast<std::uint32_t>(bits >> 32), RngDomain::features,
                        of_name};
    const Words4 id = draw_quad(name, static_cast<std::uint32_t>(bits));
    DrawName named = draws(of_category);
    named.step += static_cast<std::uint64_t>(id[0]) << 16 ^ id[1];
    Features4 all = normals(draw_quad(named, group));
    for (double& z : all.value) z = exact::mul(z, 0.70710678118654752440);
    return all;
  }

  KILN_HD double scale(std::uint32_t feature) const {
    switch (kind) {
      case CovarianceKind::squared_exponential:
        return 1.0;
      case CovarianceKind::matern12:
        return student(feature, 1);
      case CovarianceKind::matern32:
        return student(feature, 3);
      case CovarianceKind::matern52:
        return student(feature, 5);
      case CovarianceKind::rational_quadratic:
        break;
    }
    return exact::sqrt(exact::div(gamma(feature), alpha));
  }
  /// Phase of a feature, in turns.
  KILN_HD double phase(std::uint32_t feature) const {
    return open_unit(draw_word(draws(of_phase), 2 * feature));
  }
  KILN_HD double weight(std::uint32_t feature) const {
    return standard_normal(draws(of_phase), 2 * feature + 1);
  }
  /// Noise of the observation at a point, in units of its standard deviation.
  KILN_HD double noise(std::uint32_t point) const {
    return standard_normal(draws(of_noise), point);
  }

 private:
  KILN_HD static Features4 normals(const Words4& words) {
    Features4 all;
    for (std::uint32_t i = 0; i < 4; ++i) all.value[i] = normal_quantile(open_unit(words[i]));
    return all;
  }

  // sqrt(degrees / chi^2).
  KILN_HD double student(std::uint32_t feature, std::uint32_t degrees) const {
    double sum = 0;
    for (std::uint32_t i = 0; i < degrees; ++i) {
      const double z = standard_normal(draws(of_scale), 8 * feature + i);
      sum = exact::add(sum, exact::mul(z, z));
    }
    return exact::sqrt(exact::div(static_cast<double>(degrees), sum));
  }

  // A gamma variate of shape alpha and rate 1. At least 19 of 20 attempts are accepted, so
  // accepting the last one unconditionally is of no consequence. Below shape 1 it is a variate of
  // shape alpha + 1 times u^(1 / alpha).
  KILN_HD double gamma(std::uint32_t feature) const {
    constexpr std::uint32_t attempts = 16;
    const double d = exact::sub(alpha < 1 ? exact::add(alpha, 1.0) : alpha, 1.0 / 3.0);
    const double c = exact::div(1.0, exact::sqrt(exact::mul(9.0, d)));
    double value = d, u = 0.5;
    for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
      const Words4 words = draw_quad(draws(of_scale), attempts * feature + attempt);
      const double z = normal_quantile(open_unit(words[0]));
      const double t = exact::add(1.0, exact::mul(c, z));
      if (!(t > 0)) continue;
      const double v = exact::mul(t, exact::mul(t, t));
      const double bound = exact::add(exact::mul(0.5, exact::mul(z, z)),
                                      exact::mul(d, exact::add(exact::sub(1.0, v), exact::log(v))));
      if (!(exact::log(open_unit(words[1])) < bound)) continue;
      value = exact::mul(d, v);
      u = open_unit(words[2]);
      break;
    }
    return alpha < 1 ? exact::mul(value, exact::exp(exact::div(exact::log(u), alpha))) : value;
  }
};

}  // namespace kiln
