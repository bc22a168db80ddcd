// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln {

/// A Potts model E(x) = sum_i h_i(x_i) + sum_{i<j} J_ij [x_i == x_j], x_i = 0 .. values - 1, on the
/// device, in update order.
///
/// Sites, quads, classes and rows are those of PairwiseView. The local energy of a value v at a
/// site is (sum of the weights of neighbours with value v, in the order of the row) + h(v). Sums of
/// weights are exact in single precision unless the model is Arithmetic::wide; fields are always
/// added in double.
struct CategoricalView {
  static constexpr std::int32_t max_values = 127;  ///< limit of a signed byte

  std::int32_t n_variables = 0;
  std::int32_t values = 2;   ///< 2 .. max_values
  std::int32_t n_sites = 0;  ///< multiple of 4
  std::int32_t n_classes = 0;
  double max_coupling_sum = 0;               ///< max over sites of sum |J|
  Arithmetic arithmetic = Arithmetic::wide;  ///< of sums of weights
  bool integral = false;    ///< weights and fields are integers, at most 2^52 together
  bool sequential = false;  ///< one class whose sites interact
  View1<const std::int32_t> class_begin;  ///< [n_classes + 1], in quads
  View1<const std::int32_t> variable;     ///< [n_sites], -1 for a filler
  View1<const std::int64_t> row_begin;    ///< [n_sites + 1]; rows have an even number of entries
  View1<const PairEntry> entries;         ///< fillers have weight 0 and the site itself
  View1<const std::int16_t> weights_i16;  ///< like entries; narrow models, CPU only
  View1<const double> weights_f64;        ///< like entries; wide models
  View1<const double> field;              ///< [n_sites][values]; empty: no fields

  /// What a pass over all rows reads at least.
  double bytes() const {
    return bytes_of(entries) + bytes_of(weights_f64) + bytes_of(row_begin) + bytes_of(field);
  }
  KILN_HD double weight(std::int64_t entry) const {
    return weights_f64 ? weights_f64[entry] : static_cast<double>(entries[entry].weight);
  }
  KILN_HD double field_of(std::int32_t site, std::int32_t value) const {
    return field ? field[static_cast<std::int64_t>(site) * values + value] : 0.0;
  }
};

/// A value other than `own`, each of the values - 1 equally likely, by one word.
KILN_HD inline std::int32_t other_value(std::int32_t own, std::int32_t values, std::uint32_t word) {
  const auto drawn = static_cast<std::int32_t>(below(word, static_cast<std::uint32_t>(values - 1)));
  return drawn < own ? drawn : drawn + 1;
}

/// exp(-beta * excess), for an excess over the smallest local energy; 1 at no excess, for any beta.
KILN_HD inline double boltzmann_weight(double beta, double excess) {
  return excess <= 0.0 ? 1.0 : exact::exp(-exact::mul(beta, excess));
}

/// Draws a value from the conditional distribution of one site, by one word.
///
/// `local` has the local energy of value v at local[v * stride]. The weights exp(-beta (local -
/// least)) are cumulated by rising value; the first value whose cumulated weight exceeds (word /
/// 2^32) * (all weights) is taken. At beta = infinity all minimisers are equally likely.
KILN_HD inline std::int32_t draw_value(const double* local, std::int64_t stride,
                                       std::int32_t values, double beta, std::uint32_t word) {
  double least = local[0];
  for (std::int32_t v = 1; v < values; ++v) {
    if (local[v * stride] < least) least = local[v * stride];
  }
  double total = 0;
  for (std::int32_t v = 0; v < values; ++v) {
    total = exact::add(total, boltzmann_weight(beta, exact::sub(local[v * stride], least)));
  }
  const double drawn = exact::mul(exact::mul(static_cast<double>(word), 0x1p-32), total);
  double sum = 0;
  std::int32_t value = 0;
  for (; value < values - 1; ++value) {
    sum = exact::add(sum, boltzmann_weight(beta, exact::sub(local[value * stride], least)));
    if (drawn < sum) break;
  }
  return value;
}

}  // namespace kiln
