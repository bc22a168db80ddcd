// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"
#include "kiln/large_vector.hpp"
#include "kiln/objective.hpp"
#include "kiln/problems/pairwise.hpp"

namespace kiln::problems {

/// The arrays of PairwiseView on the host: a model laid out in update order.
struct PairwisePlan {
  std::int32_t n_variables = 0;
  std::int32_t n_classes = 0;
  double max_coupling_sum = 0;
  double max_sum = 0;  ///< max over variables of |h| + sum |J|
  double total_sum = 0;
  Arithmetic arithmetic = Arithmetic::wide;
  bool integral = false;
  bool sequential = false;
  bool dense = false;  ///< at least an eighth of all pairs is coupled; then sequential, too
  bool has_fields = false;
  std::int64_t longest_row = 0;  ///< neighbours, without fillers
  std::vector<std::int32_t> class_begin;
  LargeVector<std::int32_t> variable;
  LargeVector<std::int64_t> row_begin;
  LargeVector<PairEntry> entries;
  LargeVector<double> weights_f64, base, field;

  double weight(std::int64_t entry) const {
    const auto e = static_cast<std::size_t>(entry);
    return weights_f64.empty() ? static_cast<double>(entries[e].weight) : weights_f64[e];
  }
  /// The greatest common divisor of the couplings of a site, 0 if it has none. @pre they are
  /// integers.
  std::int64_t divisor_of_row(std::size_t site) const;
  std::int32_t n_sites() const { return static_cast<std::int32_t>(variable.size()); }
};

/// Of all fields and couplings of a model.
struct CoefficientSizes {
  double sum = 0;      ///< of the sizes, in their order
  double largest = 0;  ///< size
  bool integers = true;

  /// Whether sums of them are exact in every order. An energy is summed over both ends of each
  /// coupling, so twice the sum stays within 2^53.
  bool exact() const { return integers && sum <= 0x1p52; }
};
CoefficientSizes sizes_of(const Ising& model);

/// Lays out a model. Weights and fields are taken as they are (scaled by the caller); without
/// fields all are 0.
///
/// Greedy colouring, variables of the highest degree first, gives classes without inner edges;
/// within a class the order is by falling degree, then by number. Models that need more than n / 8
/// colours are walked in their own order. The layout depends on the model alone.
KILN_TEST_API PairwisePlan plan_pairwise(const Ising& model);
/// @param sizes  sizes_of(model)
PairwisePlan plan_pairwise(const Ising& model, const CoefficientSizes& sizes);

/// The power of two that makes all values integers within 2^52 altogether, or 0 if there is none
/// below 2^20: then the values are taken as reals.
KILN_TEST_API double integer_scale(const Ising& model);
double integer_scale(const Ising& model, const CoefficientSizes& sizes);

/// Objective over spins, or over bits with x = (1 - s) / 2. `model` holds stored units; its offset
/// is ignored.
KILN_TEST_API std::shared_ptr<const Objective> make_pairwise_objective(std::string name,
                                                                       const Ising& model,
                                                                       BlockKind kind);
/// @param sizes  sizes_of(model)
/// @param plan   plan_pairwise(model)
std::shared_ptr<const Objective> make_pairwise_objective(std::string name, const Ising& model,
                                                         const CoefficientSizes& sizes,
                                                         PairwisePlan plan, BlockKind kind);

}  // namespace kiln::problems
