// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"
#include "kiln/problems/densities/scale_prior.hpp"

namespace kiln {

/// Returns whose log volatility is an autoregressive process: y_t ~ N(0, e^{h_t}),
/// h_t = mu + sigma v_t, v_1 = z_1 / sqrt(1 - phi^2), v_t = phi v_{t-1} + z_t, z_t ~ N(0, 1).
///
/// (phi + 1) / 2 ~ Beta(20, 1.5), mu ~ Cauchy(0, 5), sigma ~ half-Cauchy(2). Coordinates:
/// logit((phi + 1) / 2), mu, log sigma, z_1 .. z_T. base is the negative log prior with the
/// Jacobians, term the negative log likelihood; constants are dropped.
///
/// Each thread of a team has a stretch of time; the state that the process carries from one to the
/// next is combined from the ends of all stretches.
/// @par Source  Kim, Shephard and Chib, Review of Economic Studies 65 (1998) 361.
struct StochasticVolatility {
  static constexpr const char* name = "stochastic_volatility";
  static constexpr int fixed_dimension = 0;
  static constexpr int head = 3;  ///< coordinates before z_1

  int length = 0;             ///< T
  const double* y = nullptr;  ///< [T]
  ScalePrior sigma_prior = {ScalePriorKind::half_cauchy, 2};

  KILN_HD int dimension() const { return head + length; }
  KILN_HD int workspace() const { return 3 * length; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    const double u = at.x[0], mu = at.x[1], sigma = math::exp(at.x[2]);
    const double b = math::logistic(u), other = math::logistic(-u);  // b + other = 1
    const double phi = 2 * b - 1, stationary = 4 * b * other;        // 1 - phi^2
    const double* z = at.x + head;
    double* v = at.work;
    double* pull = at.work + length;      // slope of the likelihood along h_t
    double* ends = at.work + 2 * length;  // [stretches]
    const Stretch mine = stretch_of(team);
    const double first = 1 / math::sqrt(stationary);

    run_forward(
        mine, z, phi, first, 0.0, [](int, double) {}, ends);
    team.sync();
    double sums[4] = {0, 0, 0, 0};  // prior, likelihood, pull, pull times v
    run_forward(
        mine, z, phi, first, carried_forward(mine, phi, ends),
        [&](int t, double vt) {
          v[t] = vt;
          const double h = mu + sigma * vt;
          const double square = y[t] * y[t] * math::exp(-h);
          sums[0] += 0.5 * z[t] * z[t];
          sums[1] += 0.5 * (h + square);
          pull[t] = 0.5 - 0.5 * square;
          sums[2] += pull[t];
          sums[3] += pull[t] * vt;
        },
        nullptr);
    team.sum(sums);

    const double wide = mu / 5;
    double slope = 0;
    const double scale_energy = sigma_prior.energy(at.x[2], sigma, slope);
    if constexpr (wants_gradient(want)) {
      team.sync();  // v of all threads, and `ends` has been read by all
      const double along =
          run_backward(team, mine, at, {phi, sigma, first, stationary}, v, pull, ends);
      if (team.rank() == 0) {
        at.gradient[0] =
            at.weights.base * (1.5 * b - 20 * other) + at.weights.term * along * 2 * b * other;
        at.gradient[1] =
            at.weights.base * 2 * wide / (5 * (1 + wide * wide)) + at.weights.term * sums[2];
        at.gradient[2] = at.weights.base * slope + at.weights.term * sigma * sums[3];
      }
      team.sync();
    }
    const double prior =
        20 * math::softplus(-u) + 1.5 * math::softplus(u) + math::log1p(wide * wide) + scale_energy;
    return {sums[0] + prior, sums[1]};
  }

 private:
  struct Stretch {
    int index = 0;  // of the thread's stretch
    int begin = 0;
    int end = 0;
    int size = 0;   // of every stretch but the last
    int count = 0;  // of stretches that are not empty
  };
  struct Process {
    double phi, sigma, first, stationary;
  };

  template <class Team>
  KILN_HD Stretch stretch_of(const Team& team) const {
    Stretch s;
    s.size = (length + team.size() - 1) / team.size();
    s.count = (length + s.size - 1) / s.size;
    s.index = team.rank();
    s.begin = s.index < s.count ? s.index * s.size : length;
    s.end = s.begin + s.size < length ? s.begin + s.size : length;
    return s;
  }

  // v over a stretch that begins with the carried state; its last value goes to ends.
  template <class Use>
  KILN_HD void run_forward(const Stretch& s, const double* z, double phi, double first,
                           double carried, const Use& use, double* ends) const {
    double v = carried;
    for (int t = s.begin; t < s.end; ++t) {
      v = t == 0 ? first * z[0] : phi * v + z[t];
      use(t, v);
    }
    if (ends != nullptr && s.begin < s.end) ends[s.index] = v;
  }

  KILN_HD static double power(double x, int n) {
    double result = 1;
    for (int i = 0; i < n; ++i) result *= x;
    return result;
  }

  KILN_HD double carried_forward(const Stretch& s, double phi, const double* ends) const {
    if (s.index == 0 || s.begin >= s.end) return 0;
    const double decay = power(phi, s.size);
    double carried = 0;
    for (int k = 0; k < s.index; ++k) carried = decay * carried + ends[k];
    return carried;
  }

  // Writes the slopes along z; returns the slope of the likelihood along phi. With a_t the slope
  // along v_t and all that follows from it, a_t = sigma pull_t + phi a_{t+1}.
  template <class Team>
  KILN_HD double run_backward(const Team& team, const Stretch& s, const DensityPoint& at,
                              const Process& p, const double* v, const double* pull,
                              double* ends) const {
    double a = 0;
    for (int t = s.end - 1; t >= s.begin; --t) a = p.sigma * pull[t] + p.phi * a;
    if (s.begin < s.end) ends[s.index] = a;
    team.sync();
    double carried = 0;
    if (s.begin < s.end) {
      const double decay = power(p.phi, s.size);
      for (int k = s.count - 1; k > s.index; --k) carried = decay * carried + ends[k];
    }
    double along = 0;
    a = carried;
    for (int t = s.end - 1; t >= s.begin; --t) {
      a = p.sigma * pull[t] + p.phi * a;
      along += t > 0 ? a * v[t - 1] : a * v[0] * p.phi / p.stationary;
      at.gradient[head + t] =
          at.weights.base * at.x[head + t] + at.weights.term * (t > 0 ? a : a * p.first);
    }
    return team.sum(along);
  }
};

}  // namespace kiln
