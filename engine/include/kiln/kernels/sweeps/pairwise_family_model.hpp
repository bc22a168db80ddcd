// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln {

/// One neighbour of a site in both models of a family.
struct FamilyEntry {
  std::int64_t variable = 0;  ///< the neighbour
  double base = 0;            ///< its coupling in A
  double term = 0;            ///< its coupling in B
};

/// Values of both models of a family.
struct FamilyPair {
  double base = 0;
  double term = 0;
};

/// A family of pairwise models E_lambda(s) = A(s) + lambda B(s) over the same spins, on the device,
/// in update order: A and B are of the form sum_i h_i s_i + sum_{i<j} J_ij s_i s_j.
///
/// Sites, quads and classes are those of PairwiseView, for the graph that has the couplings of
/// both. Rows have no fillers. The local field of a site is h + the sum of +-J in the order of the
/// row, in double, for A and B apart.
struct PairwiseFamilyView {
  std::int32_t n_variables = 0;
  std::int32_t n_sites = 0;  ///< multiple of 4
  std::int32_t n_classes = 0;
  std::int32_t max_neighbors = 0;         ///< of a site
  bool sequential = false;                ///< one class whose sites interact
  bool has_fields = true;                 ///< false: all fields of A and B are 0
  double target = 1;                      ///< the lambda of the problem
  View1<const std::int32_t> class_begin;  ///< [n_classes + 1], in quads
  View1<const std::int32_t> variable;     ///< [n_sites], -1 for a filler
  View1<const std::int64_t> row_begin;    ///< [n_sites + 1]
  View1<const FamilyEntry> entries;       ///< by rising site of the neighbour
  View1<const FamilyPair> field;          ///< [n_sites], h
  GroupView base_groups, term_groups;     ///< rows of A and of B; GPU only, small integers only

  /// What a pass over all rows reads at least.
  double bytes() const {
    if (base_groups.sites) {
      return bytes_of(base_groups.sites) + bytes_of(base_groups.terms) +
             bytes_of(term_groups.sites) + bytes_of(term_groups.terms);
    }
    return bytes_of(entries) + bytes_of(row_begin) + (has_fields ? bytes_of(field) : 0);
  }

  /// E_lambda of a state, or its change, from those of A and B. For lambda = 0 it is A, even if B
  /// is infinite.
  KILN_HD static double combine(double base, double term, double lambda) {
    return lambda == 0.0 ? base : exact::add(base, exact::mul(lambda, term));
  }
};

}  // namespace kiln
