// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// What became of a row of boltzmann_probabilities.
enum class RowStatus : std::uint32_t {
  ok = 0,
  bad_temperature,  ///< T < 0 or NaN: the row was left alone
  empty_row,        ///< every energy is +inf: all probabilities are 0
  unbounded,        ///< some energy is -inf: these share the mass
  nan_energy,       ///< an energy is NaN: the whole row is NaN
};

/// Row sums, with the constant k_B = 1; natural logarithms.
struct BoltzmannRow {
  double min_energy = 0;   ///< E_0
  double log_sum = 0;      ///< ln s, s = sum_j exp(-(E_j - E_0) / T); finite also where ln Z is not
  double log_z = 0;        ///< ln s - E_0 / T
  double free_energy = 0;  ///< E_0 - T ln s
  double mean_energy = 0;  ///< <E>
  double entropy = 0;      ///< ln s + (<E> - E_0) / T
  double heat_capacity = 0;  ///< Var(E) / T^2
};

/// Probabilities P_j = exp(-(E_j - E_0) / T) / s of every row, and one drawn index per row.
///
/// T = 0 shares the mass among the minimisers, T = +inf makes all alike. Sums have a fixed order:
/// 256 partial sums over j modulo 256, added as a balanced tree; so a row of a batch has the bits
/// that it has alone, on every backend. The index is drawn by inverting the cumulative sum with the
/// word named by (key, RngDomain::choose, step, row), in the order of the partial sums. Class E
/// between backends (exact::exp); against the mathematics 1e-6 in single, 1e-12 in double.
struct BoltzmannProbabilities {
  static constexpr const char* name = "boltzmann_probabilities";
  static constexpr std::int32_t parts = 256;

  View2<const double> energy;       ///< [rows][candidates]; candidates > 0
  View1<const double> temperature;  ///< [rows], in units of the energy
  View2<float> probability_f32;     ///< [rows][candidates] or empty
  View2<double> probability_f64;    ///< [rows][candidates] or empty
  View1<BoltzmannRow> sums;         ///< [rows] or empty
  View1<std::int32_t> drawn;        ///< [rows] or empty; -1 where a row has no probabilities
  View1<RowStatus> status;          ///< [rows]
  std::uint64_t key = 0;
  std::uint64_t step = 0;

  /// Weight of one candidate relative to the best; E - E_0 >= 0.
  KILN_HD static double weight(double energy, double min_energy, double temperature) {
    if (energy == min_energy) return 1.0;  // also for infinite differences of equals, and at T = 0
    if (temperature == 0.0) return 0.0;
    if (min_energy == -exact::infinity()) return 0.0;
    if (temperature == exact::infinity()) return energy == exact::infinity() ? 0.0 : 1.0;
    return exact::exp(-exact::div(exact::sub(energy, min_energy), temperature));
  }

  /// The status of a row with these extremes.
  KILN_HD static RowStatus judge(double temperature, double min_energy, bool any_nan) {
    if (!(temperature >= 0.0)) return RowStatus::bad_temperature;
    if (any_nan) return RowStatus::nan_energy;
    if (min_energy == exact::infinity()) return RowStatus::empty_row;
    if (min_energy == -exact::infinity()) return RowStatus::unbounded;
    return RowStatus::ok;
  }

  /// The sums of a row from s = sum w, a = sum w (E - E_0) and b = sum w (E - E_0)^2.
  KILN_HD static BoltzmannRow row_sums(double temperature, double min_energy, double s, double a,
                                       double b) {
    BoltzmannRow row;
    const double log_sum = exact::log(s);
    const double mean_excess = exact::div(a, s);
    const bool warm = temperature > 0.0 && temperature < exact::infinity();
    row.min_energy = min_energy;
    row.log_sum = log_sum;
    row.mean_energy = exact::add(min_energy, mean_excess);
    row.free_energy = temperature < exact::infinity()
                          ? exact::sub(min_energy, exact::mul(temperature, log_sum))
                          : -exact::infinity();
    row.log_z = warm ? exact::sub(log_sum, exact::div(min_energy, temperature)) : log_sum;
    row.entropy = warm ? exact::add(log_sum, exact::div(mean_excess, temperature)) : log_sum;
    const double variance = exact::sub(exact::div(b, s), exact::mul(mean_excess, mean_excess));
    const double square = exact::mul(temperature, temperature);
    row.heat_capacity = warm && variance > 0.0 ? exact::div(variance, square) : 0.0;
    return row;
  }
};

}  // namespace kiln
