// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// A borrowed matrix in either order: [row][column] has column_stride 1, [column][row]
/// row_stride 1.
template <class T>
struct StridedRows {
  T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  KILN_HD T& operator()(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
  KILN_HD explicit operator bool() const { return data != nullptr; }
};

enum class BoltzmannStatus : std::uint8_t {
  ok,
  bad_temperature,  ///< beta is negative or NaN: only status and drawn are written
  empty_row,        ///< no column, or all energies are +inf: all probabilities are 0
  unbounded,        ///< some energies are -inf and share all probability
  nan_energy,       ///< the whole row is NaN
};

/// The normalisation of a row. (e0, log_s) stays finite at every temperature; log_z and the free
/// energy may be infinite: log_z at T = 0 unless e0 = 0, the free energy is -inf at T = inf.
struct BoltzmannNorm {
  double e0 = 0;           ///< smallest energy
  double log_s = 0;        ///< log of the sum of exp(-beta (E_j - e0)), in [0, log N]
  double log_z = 0;        ///< log_s - beta e0
  double free_energy = 0;  ///< e0 - log_s / beta
};

struct BoltzmannMoments {
  double mean_energy = 0;
  double entropy = 0;        ///< in nats
  double heat_capacity = 0;  ///< beta^2 times the variance of the energy
};

/// Computes Boltzmann probabilities of the candidates of each row, and draws one candidate.
///
/// With b = beta[rung_of[row]] inverse_scale and e0 = min_j E_j: w_j = exp(-b (E_j - e0)),
/// s = sum_j w_j, P_j = w_j / s. beta = +inf is T = 0 (the minimisers share, ties alike), beta = 0
/// is T = inf (all energies below +inf share). E_j = +inf has P_j = 0, whatever beta is.
///
/// Class E: exact arithmetic, and sums in one order. Partial sum k adds the columns k, k + 256,
/// k + 512, ... in that order; the 256 partial sums are added as a tree: first k and k + 128, then
/// k and k + 64, and so on. So a row has the same bits alone, in a batch and on every backend.
///
/// The draw descends that tree with t = s (word + 1/2) / 2^32: to the left if t is below the sum of
/// the left side, else to the right with t less that sum; then through the columns of the partial
/// sum in order. The word is named by (RngDomain::choose, sweep, attempt) of the row. A candidate
/// of weight 0 is never drawn.
struct KILN_API BoltzmannProbabilities {
  static constexpr const char* name = "boltzmann_probabilities";
  static constexpr const char* summary =
      "computes the Boltzmann probabilities and moments of each row of energies, and draws a "
      "candidate";
  static constexpr std::int32_t partials = 256;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  StridedRows<const double> energy;
  View1<const double> beta;           ///< [rungs], 1/energy in the user's units; 0 to +inf
  View1<const std::int32_t> rung_of;  ///< [rows]; empty: row r is at beta[r]
  double inverse_scale = 1;

  // Results. An empty view is not computed.
  StridedRows<double> probability;
  StridedRows<float> probability_f32;
  View1<BoltzmannNorm> norm;        ///< [rows]
  View1<BoltzmannMoments> moments;  ///< [rows], two more sums over the row
  View1<std::int32_t> drawn;        ///< [rows], -1 if no candidate has a probability
  View1<BoltzmannStatus> status;    ///< [rows]

  DrawIds draw_ids;  ///< [rows], for the draw
  std::uint32_t attempt = 0;
  const RunControl* control = nullptr;  ///< step and stop flag
  std::uint32_t step_offset = 0;

  static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  static constexpr float not_a_number_f32 = std::numeric_limits<float>::quiet_NaN();

  KILN_HD double beta_of(std::int64_t row) const {
    return exact::mul(beta[rung_of ? rung_of[row] : row], inverse_scale);
  }

  /// Number of stored partial sums for a number of columns: the others are 0.
  KILN_HD static std::int32_t width_of(std::int64_t columns) {
    std::int32_t width = 1;
    while (width < partials && width < columns) width *= 2;
    return width;
  }

  /// The map from the energies of a row to weights.
  struct Row {
    double beta = 0;
    double e0 = 0;

    KILN_HD double excess(double e) const { return e == e0 ? 0.0 : exact::sub(e, e0); }
    KILN_HD double weight(double e) const {
      if (e == e0) return 1.0;
      if (e == exact::infinity() || e0 == -exact::infinity()) return 0.0;
      if (beta == 0.0) return 1.0;
      return exact::exp(-exact::mul(beta, exact::sub(e, e0)));
    }
  };

  /// Sums a tree with its leaves at tree[width + k]; node r of a level of m nodes is at tree[m +
  /// r].
  KILN_HD static void add_up(double* tree, std::int32_t width) {
    for (std::int32_t m = width / 2; m > 0; m /= 2) {
      for (std::int32_t r = 0; r < m; ++r) add_pair(tree, m, r);
    }
  }
  KILN_HD static void add_pair(double* tree, std::int32_t m, std::int32_t r) {
    tree[m + r] = exact::add(tree[2 * m + r], tree[2 * m + r + m]);
  }

  /// The position of a draw.
  struct Draw {
    double target = 0;         ///< relative to the remaining sum
    std::int32_t partial = 0;  ///< index of the partial sum
    std::int64_t column = -1;  ///< the last examined column of positive weight
    bool found = false;

    /// Examines the next column of the partial sum; if none is left, the last one of positive
    /// weight is drawn (the target can be a rounding error beyond the sum).
    KILN_HD void look_at(std::int64_t at, double weight) {
      if (found || !(weight > 0.0)) return;
      column = at;
      found = target < weight;
      target = exact::sub(target, weight);
    }
  };

  /// Descends a summed tree to one of its leaves.
  KILN_HD Draw descend(std::int64_t row, const double* tree, std::int32_t width) const {
    const DrawName draws = draw_ids.at(row, control->step + step_offset, RngDomain::choose);
    Draw draw;
    draw.target = exact::mul(open_unit(draw_word(draws, attempt)), tree[1]);
    for (std::int32_t m = 1; m < width; m *= 2) {
      const double left = tree[2 * m + draw.partial];
      const double right = tree[2 * m + draw.partial + m];
      if (right > 0.0 && !(draw.target < left)) {
        draw.target = exact::sub(draw.target, left);
        draw.partial += m;
      }
    }
    return draw;
  }

  KILN_HD void store(std::int64_t row, std::int64_t column, double p) const {
    if (probability) probability(row, column) = p;
    if (probability_f32) {
      probability_f32(row, column) = p == p ? static_cast<float>(p) : not_a_number_f32;
    }
  }

  /// Stores the results of a row without weights, except its probabilities.
  KILN_HD void store_refused(std::int64_t row, BoltzmannStatus why) const {
    if (status) status[row] = why;
    if (drawn) drawn[row] = -1;
    if (why == BoltzmannStatus::bad_temperature) return;
    const bool empty = why == BoltzmannStatus::empty_row;
    const double high = empty ? exact::infinity() : not_a_number;
    if (norm) norm[row] = {high, -high, -high, high};
    if (moments) moments[row] = {not_a_number, not_a_number, not_a_number};
  }

  KILN_HD void store_norm(std::int64_t row, const Row& of, double s) const {
    if (status) {
      status[row] = of.e0 == -exact::infinity() ? BoltzmannStatus::unbounded : BoltzmannStatus::ok;
    }
    if (!norm) return;
    const double log_s = exact::log(s);
    const double log_z = exact::sub(log_s, product(of.beta, of.e0));
    const double free_energy = log_s == 0.0 ? of.e0 : exact::sub(of.e0, exact::div(log_s, of.beta));
    norm[row] = {of.e0, log_s, log_z, free_energy};
  }

  /// `excess`: mean of E - e0; `variance`: of the energy.
  KILN_HD void store_moments(std::int64_t row, const Row& of, double s, double excess,
                             double variance) const {
    const double entropy = exact::add(exact::log(s), product(of.beta, excess));
    const double capacity = product(of.beta, product(of.beta, variance));
    moments[row] = {number(exact::add(of.e0, excess)), number(entropy), number(capacity)};
  }

  /// The terms of the two sums of the moments; both 0 at weight 0, where the excess can be
  /// infinite.
  KILN_HD static double excess_term(const Row& of, double e, double weight) {
    return weight > 0.0 ? exact::mul(weight, of.excess(e)) : 0.0;
  }
  KILN_HD static double variance_term(const Row& of, double e, double weight, double mean) {
    if (!(weight > 0.0)) return 0.0;
    const double off = exact::sub(of.excess(e), mean);
    return exact::mul(weight, exact::mul(off, off));
  }

  /// Computes a whole row in one thread. Scratch: `weights` [columns], `tree` [2
  /// width_of(columns)].
  KILN_HD void operator()(std::int64_t row, double* weights, double* tree) const {
    Row of;
    of.beta = beta_of(row);
    if (!(of.beta >= 0.0)) return store_refused(row, BoltzmannStatus::bad_temperature);
    of.e0 = exact::infinity();
    bool nan = false;
    for (std::int64_t j = 0; j < columns; ++j) {
      const double e = energy(row, j);
      nan = nan || e != e;
      of.e0 = e < of.e0 ? e : of.e0;
    }
    if (nan || of.e0 == exact::infinity()) {
      for (std::int64_t j = 0; j < columns; ++j) store(row, j, nan ? not_a_number : 0.0);
      return store_refused(row, nan ? BoltzmannStatus::nan_energy : BoltzmannStatus::empty_row);
    }
    of.e0 = exact::add(of.e0, 0.0);  // hides whether -0 or +0 comes first
    const std::int32_t width = width_of(columns);
    for (std::int64_t j = 0; j < columns; ++j) weights[j] = of.weight(energy(row, j));
    sum_columns(tree, width, [&](std::int64_t j) { return weights[j]; });
    const double s = tree[1];
    store_norm(row, of, s);
    if (drawn) draw_column(row, weights, tree, width);
    for (std::int64_t j = 0; j < columns; ++j) store(row, j, exact::div(weights[j], s));
    if (moments) add_moments(row, of, s, weights, tree);
  }

 private:
  // 0 times infinity is 0 here: the limits of T = 0 and T = inf.
  KILN_HD static double product(double a, double b) {
    return a == 0.0 || b == 0.0 ? 0.0 : exact::mul(a, b);
  }
  // Backends differ in the bits of a NaN that arithmetic makes.
  KILN_HD static double number(double x) { return x == x ? x : not_a_number; }

  template <class Term>
  KILN_HD void sum_columns(double* tree, std::int32_t width, Term term) const {
    for (std::int32_t k = 0; k < width; ++k) tree[width + k] = 0.0;
    for (std::int64_t j = 0; j < columns; ++j) {
      double& partial = tree[width + j % partials];
      partial = exact::add(partial, term(j));
    }
    add_up(tree, width);
  }

  KILN_HD void draw_column(std::int64_t row, const double* weights, const double* tree,
                           std::int32_t width) const {
    Draw draw = descend(row, tree, width);
    for (std::int64_t j = draw.partial; j < columns && !draw.found; j += partials) {
      draw.look_at(j, weights[j]);
    }
    drawn[row] = static_cast<std::int32_t>(draw.column);
  }

  KILN_HD void add_moments(std::int64_t row, const Row& of, double s, const double* weights,
                           double* tree) const {
    const std::int32_t width = width_of(columns);
    sum_columns(tree, width,
                [&](std::int64_t j) { return excess_term(of, energy(row, j), weights[j]); });
    const double mean = exact::div(tree[1], s);
    sum_columns(tree, width, [&](std::int64_t j) {
      return variance_term(of, energy(row, j), weights[j], mean);
    });
    store_moments(row, of, s, mean, exact::div(tree[1], s));
  }
};

}  // namespace kiln
