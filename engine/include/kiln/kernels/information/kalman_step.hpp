// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"

namespace kiln {

/// Takes linear Gaussian filters through rows of observations z = H x + noise of covariance R, of a
/// state that moves by x' = F x + noise of covariance Q.
///
/// For each row: the prediction F x, P = F P F' + Q; the innovation v = z - H x of covariance
/// S = H P H' + R; the gain K = P H' S^-1 by a Cholesky factor of S; x + K v; and P in the form of
/// Joseph, (I - K H) P (I - K H)' + K R K', of which the lower half is computed and mirrored.
/// Components of z that are NaN are left out of H, R and v. A row without a component is a
/// prediction alone.
///
/// The logarithm of the likelihood grows by -(m log 2 pi + log det S + v' S^-1 v) / 2 for m
/// components, except in the first `diffuse` rows that have an observation: a prior of very large
/// covariance is given up there. A filter whose S is not positive definite, or not finite, gets the
/// status `not_positive_definite` and stays as it was after the prediction; later launches leave
/// it alone.
///
/// Filters stand side by side in each array. One thread takes one filter. Class E.
/// @par Source  Durbin, Koopman, Time Series Analysis by State Space Methods (2012), chapter 4;
/// Bucy, Joseph, Filtering for Stochastic Processes (1968), for the form of P.
struct KILN_API KalmanStep {
  static constexpr const char* name = "kalman_step";
  static constexpr const char* summary =
      "takes Kalman filters through rows of observations, with the likelihood of these";
  static constexpr std::int32_t max_state = 8;         ///< dimension n of the state
  static constexpr std::int32_t max_observations = 4;  ///< components m of a row
  static constexpr std::uint32_t not_positive_definite = 1;

  std::int32_t state_size = 1;            ///< n
  std::int32_t observation_size = 1;      ///< m
  std::int32_t diffuse = 0;               ///< observed rows that the likelihood leaves out
  std::int64_t filters_per_series = 1;    ///< filter f reads series f / filters_per_series
  View2<const double> transition;         ///< F, [n * n][filters], row-major
  View2<const double> state_noise;        ///< Q, [n * n][filters]
  View2<const double> observation;        ///< H, [m * n][filters]
  View2<const double> observation_noise;  ///< R, [m * m][filters]
  View2<const double> rows;               ///< z, [steps * m][series], NaN: missing
  View2<double> state;                    ///< x, [n][filters], updated
  View2<double> covariance;               ///< P, [n * n][filters], updated
  View1<double> log_likelihood;           ///< [filters], added to
  View1<double> distance;        ///< [filters], sum of v' S^-1 v in the likelihood, added to
  View1<std::int64_t> observed;  ///< [filters], rows that had an observation, added to
  View1<std::uint32_t> status;   ///< [filters], 0 or not_positive_definite
  View2<double> predicted;       ///< H x before each row, [steps * m][filters]; empty: not written
  View2<double> predicted_variance;  ///< diagonal of S, [steps * m][filters]; empty: not written

  KILN_HD std::int64_t filters() const { return log_likelihood.size; }
  KILN_HD std::int64_t steps() const { return rows.rows / observation_size; }
  /// What a launch reads and writes at least.
  double bytes() const {
    const double n = state_size, m = observation_size;
    const double per_filter = 2 * n * n + m * n + m * m + 2 * (n + n * n) + 8;
    return 8 * (per_filter * static_cast<double>(filters()) +
                static_cast<double>(rows.rows * rows.columns) +
                static_cast<double>((predicted.rows + predicted_variance.rows) * filters()));
  }

  /// Takes one filter through all rows.
  KILN_HD void operator()(std::int64_t f) const {
    if (status[f] != 0) return;
    Filter filter;
    load(f, filter);
    for (std::int64_t step = 0; step < steps() && status[f] == 0; ++step) {
      predict(filter);
      update(f, step, filter);
    }
    store(f, filter);
  }

 private:
  static constexpr std::int32_t n_max = max_state, m_max = max_observations;

  /// The matrices of one filter, with rows of n_max or m_max elements.
  struct Filter {
    double f[n_max * n_max], q[n_max * n_max], h[m_max * n_max], r[m_max * m_max];
    double x[n_max], p[n_max * n_max];
    double work[n_max * n_max];
  };
  /// The observed components of one row.
  struct Row {
    std::int32_t size = 0;
    std::int32_t component[m_max];
    double innovation[m_max];
    double ph[n_max * m_max];      // P H'
    double factor[m_max * m_max];  // of S, lower triangle
  };

  KILN_HD static double dot(const double* a, std::int32_t a_stride, const double* b,
                            std::int32_t b_stride, std::int32_t size) {
    double sum = 0;
    for (std::int32_t i = 0; i < size; ++i) {
      sum = exact::add(sum, exact::mul(a[i * a_stride], b[i * b_stride]));
    }
    return sum;
  }

  KILN_HD static void load_matrix(const View2<const double>& from, std::int64_t f,
                                  std::int32_t rows, std::int32_t columns, std::int32_t stride,
                                  double* to) {
    for (std::int32_t i = 0; i < rows; ++i) {
      for (std::int32_t j = 0; j < columns; ++j) to[i * stride + j] = from(i * columns + j, f);
    }
  }

  KILN_HD void load(std::int64_t f, Filter& filter) const {
    const std::int32_t n = state_size, m = observation_size;
    load_matrix(transition, f, n, n, n_max, filter.f);
    load_matrix(state_noise, f, n, n, n_max, filter.q);
    load_matrix(observation, f, m, n, n_max, filter.h);
    load_matrix(observation_noise, f, m, m, m_max, filter.r);
    for (std::int32_t i = 0; i < n; ++i) {
      filter.x[i] = state(i, f);
      for (std::int32_t j = 0; j < n; ++j) filter.p[i * n_max + j] = covariance(i * n + j, f);
    }
  }

  KILN_HD void store(std::int64_t f, const Filter& filter) const {
    const std::int32_t n = state_size;
    for (std::int32_t i = 0; i < n; ++i) {
      state(i, f) = filter.x[i];
      for (std::int32_t j = 0; j < n; ++j) covariance(i * n + j, f) = filter.p[i * n_max + j];
    }
  }

  /// p = a p a' + its former value of `noise`, both halves equal.
  KILN_HD void congruence(const double* a, const double* noise, Filter& filter) const {
    const std::int32_t n = state_size;
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = 0; j < n; ++j) {
        filter.work[i * n_max + j] = dot(a + i * n_max, 1, filter.p + j, n_max, n);
      }
    }
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = 0; j <= i; ++j) {
        const double sum = dot(filter.work + i * n_max, 1, a + j * n_max, 1, n);
        const double value = exact::add(sum, noise[i * n_max + j]);
        filter.p[i * n_max + j] = value;
        filter.p[j * n_max + i] = value;
      }
    }
  }

  KILN_HD void predict(Filter& filter) const {
    const std::int32_t n = state_size;
    double moved[n_max];
    for (std::int32_t i = 0; i < n; ++i) moved[i] = dot(filter.f + i * n_max, 1, filter.x, 1, n);
    for (std::int32_t i = 0; i < n; ++i) filter.x[i] = moved[i];
    congruence(filter.f, filter.q, filter);
  }

  /// H x and the diagonal of S go to the caller, innovations and P H' of what was observed to
  /// `row`.
  KILN_HD void compare(std::int64_t f, std::int64_t step, const Filter& filter, Row& row) const {
    const std::int32_t n = state_size;
    for (std::int32_t k = 0; k < observation_size; ++k) {
      const double* const h = filter.h + k * n_max;
      const std::int64_t at = step * observation_size + k;
      const double expected = dot(h, 1, filter.x, 1, n);
      double* const ph = row.ph + row.size;
      for (std::int32_t i = 0; i < n; ++i) {
        ph[i * m_max] = dot(filter.p + i * n_max, 1, h, 1, n);
      }
      if (predicted.data != nullptr) predicted(at, f) = expected;
      if (predicted_variance.data != nullptr) {
        predicted_variance(at, f) = exact::add(dot(h, 1, ph, m_max, n), filter.r[k * m_max + k]);
      }
      const double z = rows(at, f / filters_per_series);
      if (z != z) continue;
      row.component[row.size] = k;
      row.innovation[row.size] = exact::sub(z, expected);
      ++row.size;
    }
  }

  /// The Cholesky factor of S; whether there is one.
  KILN_HD bool factorize(const Filter& filter, Row& row) const {
    for (std::int32_t i = 0; i < row.size; ++i) {
      const double* const h = filter.h + row.component[i] * n_max;
      for (std::int32_t j = 0; j <= i; ++j) {
        double s = exact::add(dot(h, 1, row.ph + j, m_max, state_size),
                              filter.r[row.component[i] * m_max + row.component[j]]);
        const double* const above = row.factor + i * m_max;
        s = exact::sub(s, dot(above, 1, row.factor + j * m_max, 1, j));
        if (i == j && !(s > 0 && s < exact::infinity())) return false;
        row.factor[i * m_max + j] =
            i == j ? exact::sqrt(s) : exact::div(s, row.factor[j * m_max + j]);
      }
    }
    return true;
  }

  /// x = L^-1 x for the factor L of S.
  KILN_HD static void solve_lower(const Row& row, double* x) {
    for (std::int32_t i = 0; i < row.size; ++i) {
      const double* const l = row.factor + i * m_max;
      x[i] = exact::div(exact::sub(x[i], dot(l, 1, x, 1, i)), l[i]);
    }
  }
  /// x = L'^-1 x.
  KILN_HD static void solve_upper(const Row& row, double* x) {
    for (std::int32_t i = row.size - 1; i >= 0; --i) {
      const double* const l = row.factor + (i + 1) * m_max + i;
      const double rest = dot(l, m_max, x + i + 1, 1, row.size - i - 1);
      x[i] = exact::div(exact::sub(x[i], rest), row.factor[i * m_max + i]);
    }
  }

  KILN_HD void add_likelihood(std::int64_t f, const Row& row) const {
    constexpr double log_two_pi = 1.8378770664093454836;
    if (++observed[f] <= diffuse) return;
    double scaled[m_max], log_determinant = 0;
    for (std::int32_t i = 0; i < row.size; ++i) {
      scaled[i] = row.innovation[i];
      const double log_pivot = exact::log(row.factor[i * m_max + i]);
      log_determinant = exact::add(log_determinant, exact::add(log_pivot, log_pivot));
    }
    solve_lower(row, scaled);
    const double squares = dot(scaled, 1, scaled, 1, row.size);
    const double terms = exact::add(exact::mul(row.size, log_two_pi), log_determinant);
    distance[f] = exact::add(distance[f], squares);
    log_likelihood[f] = exact::sub(log_likelihood[f], exact::mul(0.5, exact::add(terms, squares)));
  }

  KILN_HD void update(std::int64_t f, std::int64_t step, Filter& filter) const {
    const std::int32_t n = state_size;
    Row row;
    compare(f, step, filter, row);
    if (row.size == 0) return;
    if (!factorize(filter, row)) {
      status[f] = not_positive_definite;
      return;
    }
    add_likelihood(f, row);
    double* const gain = row.ph;  // rows of P H' become rows of K
    for (std::int32_t i = 0; i < n; ++i) {
      solve_lower(row, gain + i * m_max);
      solve_upper(row, gain + i * m_max);
    }
    for (std::int32_t i = 0; i < n; ++i) {
      const double step_of_state = dot(gain + i * m_max, 1, row.innovation, 1, row.size);
      filter.x[i] = exact::add(filter.x[i], step_of_state);
    }
    join(row, filter);
  }

  /// The form of Joseph.
  KILN_HD void join(const Row& row, Filter& filter) const {
    const std::int32_t n = state_size;
    const double* const gain = row.ph;
    double rest[n_max * n_max], noise[n_max * n_max];  // I - K H and K R K'
    for (std::int32_t i = 0; i < n; ++i) {
      double kr[m_max];
      for (std::int32_t k = 0; k < row.size; ++k) {
        kr[k] = 0;
        for (std::int32_t l = 0; l < row.size; ++l) {
          const double r = filter.r[row.component[l] * m_max + row.component[k]];
          kr[k] = exact::add(kr[k], exact::mul(gain[i * m_max + l], r));
        }
      }
      for (std::int32_t j = 0; j < n; ++j) {
        double kh = 0;
        for (std::int32_t k = 0; k < row.size; ++k) {
          const double h = filter.h[row.component[k] * n_max + j];
          kh = exact::add(kh, exact::mul(gain[i * m_max + k], h));
        }
        rest[i * n_max + j] = exact::sub(i == j ? 1.0 : 0.0, kh);
        noise[i * n_max + j] = dot(kr, 1, gain + j * m_max, 1, row.size);
      }
    }
    congruence(rest, noise, filter);
  }
};

}  // namespace kiln
