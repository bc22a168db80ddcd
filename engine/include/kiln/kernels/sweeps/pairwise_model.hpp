// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"

namespace kiln {

/// One neighbour of a site, as the sweep reads it.
struct PairEntry {
  std::uint32_t site = 0;  ///< the neighbour's site
  float weight = 0;        ///< its coupling, exact unless the model is Arithmetic::wide
};

/// The arithmetic of local fields. All kinds are exact for integer models; wide is also the
/// arithmetic of real weights, summed in the order of the row.
enum class Arithmetic : std::uint8_t {
  narrow,  ///< 2 (|h| + sum |J|) <= 32767: 16-bit integers
  medium,  ///< ... <= 2^24: single precision, exact
  wide,    ///< double precision
};

/// A row of an integral model for counting with vertical counters, one bit for each replica.
///
/// The terms of a site are its neighbours in runs: a run adds the bits of its neighbours to the
/// plane of one power of two, or their complements, where the coupling is negative. A coupling has
/// a term for each bit that is set in its size. With c the number that the planes hold, the local
/// field is base - 2 c.
struct SliceSite {
  std::int64_t first_term = 0;
  std::int64_t first_run = 0;
  std::int32_t base = 0;  ///< h_i + sum_j |J_ij|
  std::int16_t n_runs = 0;
  std::int16_t n_planes = 0;  ///< bits of sum_j |J_ij|
};

/// One run of a SliceSite, in a word.
struct SliceRun {
  std::uint32_t n_terms = 0;  ///< below 2^24
  int plane = 0;              ///< of the power of two
  bool negative = false;      ///< complements are added
};
KILN_HD inline SliceRun slice_run(std::uint32_t word) {
  return {word >> 8, static_cast<int>((word >> 1) & 127u), (word & 1u) != 0};
}
KILN_HD inline std::uint32_t slice_run_word(const SliceRun& run) {
  return run.n_terms << 8 | static_cast<std::uint32_t>(run.plane) << 1 | (run.negative ? 1u : 0u);
}

/// All rows of a model whose arithmetic is narrow or medium.
struct SliceView {
  std::int32_t max_local = 0;    ///< max over sites of |h| + sum |J|
  View1<const SliceSite> sites;  ///< [n_sites + 1], the last one ends the rows; empty: none
  View1<const std::uint32_t> runs;
  View1<const std::uint32_t> terms;  ///< sites of neighbours
};

/// A row of an integral model for counting with vertical counters on a GPU, in one load.
///
/// The terms of a site are the variables of its neighbours, with the plane of a power of two in the
/// highest five bits; a coupling has a term for each bit that is set in its size. Terms come in
/// groups of four of one plane, first those of negative couplings, then those of positive
/// couplings, both by rising plane. The variable n_variables fills up groups: its bit is 0.
///
/// With m = 1 if sum |J| + |h| is even, else 0, let u = centre + start + (the sum of the terms,
/// those of negative couplings subtracted) + m (the site's own bit), centre half of the range of
/// the planes. Complemented where the site's own bit is 1, u is at least `centre` if and only if a
/// flip raises the energy, and the change is 2 (2 (u - centre) + 1 + m). So start is the sum of
/// |J| over negative couplings, plus |h| if h < 0, minus (sum |J| + |h| + m + 1) / 2.
struct alignas(16) GroupSite {
  std::uint32_t first_group = 0;
  std::uint16_t n_negative = 0, n_positive = 0;  ///< groups
  std::int32_t variable = -1;                    ///< -1 for a filler
  std::int32_t start_and_even = 0;               ///< 2 start + m
};

/// All rows of a model whose arithmetic is narrow or medium.
struct GroupView {
  std::int32_t max_sum = 0;          ///< max over sites of |h| + sum |J| + m
  bool one_plane = false;            ///< all couplings are -1, 0 or 1
  std::int32_t n_hubs = 0;           ///< sites of hub_groups groups or more
  View1<const GroupSite> sites;      ///< [n_sites]; empty: there are none
  View1<const std::uint32_t> terms;  ///< multiple of 4
  std::int32_t n_even = 0;           ///< variables with m = 1
};
inline constexpr int hub_groups = 64;         ///< a site of fewer has at most 252 neighbours
inline constexpr int group_plane_shift = 27;  ///< of a term: variables are below 2^27

/// A GroupSite in the order of StagedView.
struct alignas(16) StagedSite {
  std::uint32_t first_group = 0;
  std::uint32_t site = 0;
  std::int32_t variable = -1;
  /// Groups of negative couplings; from bit 8 on those of positive couplings; from bit 16 on
  /// start_and_even.
  std::uint32_t counts = 0;
};

/// The variables of a model in another order with the same sweep, for blocks of a GPU that have
/// their states on the chip.
///
/// A sweep needs one thing of its order: of two neighbours the one of the earlier class comes
/// first. So a stage, which stands for a class, may leave some sites to later stages. Stages fill
/// whole rounds of a block where the model allows it, so that no warp waits while others make a
/// round for a few sites.
struct StagedView {
  View1<const StagedSite> sites;    ///< of variables; empty: there are none
  View1<const std::int32_t> begin;  ///< [n_classes + 1], of stages
};

/// Additional data of a dense model, if a backend can use it: the whole coupling matrix, and the
/// local fields of every replica from one sweep to the next.
///
/// The fields belong to the state in `bits`, a copy of the replica when they were written. A sweep
/// first updates them to the state of the batch, whichever kernel changed it.
struct DenseView {
  const void* matrix = nullptr;       ///< [n_sites][n_sites], null: there is none
  std::int32_t bytes_per_weight = 1;  ///< 1 or 2: signed integers; 8: doubles that hold integers
  /// Bits of half a field, if all couplings are 1 or -1 and their SignRows stand behind the matrix;
  /// else 0.
  std::int32_t sign_planes = 0;
  void* fields = nullptr;  ///< [slots][n_sites], valid where `valid` is set: std::int32_t, or
                           ///< double beside weights of 8 bytes; a backend may keep planes there
  std::uint32_t* bits = nullptr;   ///< [slots][n_sites / 4], four bits each
  std::uint32_t* valid = nullptr;  ///< [slots]
};

/// A pairwise model E(s) = sum_i h_i s_i + sum_{i<j} J_ij s_i s_j on the device, in update order.
///
/// A *site* is a place in the sweep. Sites come in quads (four sites share one Philox block) and
/// quads in classes: the variables of a class do not interact, so a parallel update gives the same
/// result as a sequential one. A dense model has a single class that must be updated in order
/// (`sequential`). Sites that fill up the last quad of a class have no variable.
///
/// With bit b = 0 for s = +1 and 1 for s = -1 the local field is base[site] - 2 * (sum of the
/// weights of neighbours whose bit is 1), summed in the order of the row.
struct PairwiseView {
  std::int32_t n_variables = 0;
  std::int32_t n_sites = 0;  ///< multiple of 4
  std::int32_t n_classes = 0;
  double max_coupling_sum = 0;  ///< max over sites of sum |J|
  double total_sum = 0;         ///< sum over sites of |h| + sum |J|
  Arithmetic arithmetic = Arithmetic::wide;
  bool integral = false;                  ///< weights and fields are integers: energies are exact
  bool sequential = false;                ///< one class whose sites interact
  bool has_fields = true;                 ///< false: h_i is 0 at all sites
  std::int32_t max_neighbors = 0;         ///< of a site; 0: not known
  View1<const std::int32_t> class_begin;  ///< [n_classes + 1], in quads
  View1<const std::int32_t> variable;     ///< [n_sites], -1 for a filler
  View1<const std::int64_t> row_begin;    ///< [n_sites + 1]; rows have an even number of entries
  View1<const PairEntry> entries;         ///< fillers have weight 0 and the site itself
  View1<const double> weights_f64;        ///< like entries; wide models
  View1<const double> base;               ///< [n_sites], h_i + sum_j J_ij
  View1<const double> field;              ///< [n_sites], h_i
  SliceView slices;                       ///< CPU only
  GroupView groups;                       ///< GPU only
  GroupView half_groups;                  ///< GPU only: each coupling once, at one of its sites
  StagedView staged;                      ///< GPU only, of groups; models of moderate size
  DenseView dense;

  /// What a pass over all rows reads at least, in the most compact form that the model has. Of a
  /// dense model with kept fields a sweep need read no row.
  double bytes() const {
    if (dense.matrix != nullptr) return 0;
    if (groups.sites) return bytes_of(groups.sites) + bytes_of(groups.terms);
    if (slices.sites)
      return bytes_of(slices.sites) + bytes_of(slices.runs) + bytes_of(slices.terms);
    return bytes_of(entries) + bytes_of(weights_f64) + bytes_of(row_begin) + bytes_of(base);
  }
};

}  // namespace kiln
