// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/view_bytes.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/run/draw_ids.hpp"

namespace kiln {

/// Number of the last sweep within its tick.
KILN_HD inline std::uint64_t ends_tick(const RunControl& control, std::uint32_t sweeps_per_tick) {
  return (control.tick_sweeps != 0 ? control.tick_sweeps : sweeps_per_tick) - 1;
}

/// Statistics of a population after a resampling.
struct ResampleTotals {
  std::uint64_t weight = 0;          ///< sum of the weights; 0: no resampling
  std::int64_t families = 0;         ///< families with surviving members
  std::uint64_t family_squares = 0;  ///< sum of the squares of their sizes n
  std::uint64_t family_logs = 0;     ///< sum of n floor(2^20 ln n)
  std::uint64_t rounding = 0;        ///< sum of Resample::rounding_of() since the round began
  std::uint64_t spread = 0;          ///< sum of Resample::spread_of() since the round began
};

/// Resamples populations systematically in place: finds the slot that fills each slot.
///
/// With T the sum of the weights W_r of a population of R replicas and one word u, the number of
/// copies of replica r is the number of k in 0 .. R - 1 with
///
///     W_0 + ... + W_{r-1} <= (k + u / 2^32) T / R < W_0 + ... + W_r,
///
/// that is floor or ceil of R W_r / T, R in all, none for weight 0. Replicas with a copy stay in
/// place. The i-th slot whose replica has no copy (in their order) receives the i-th further copy
/// (in the order of the replicas): source[slot] is the slot copied from, -1 for the others. A slot
/// that is copied from is never filled, so GatherStates may work in place. Energies and families
/// are copied; states are not. The name of a family is the initial slot of its ancestor.
///
/// A population whose weights are all 0 is left alone. Class E: sums of integers only, products of
/// 128 bits, so nothing depends on an order. Roundings and spreads become integers one by one. The
/// word is named by (RngDomain::resample, last sweep of the tick, index 0) of the population's
/// first slot. With `opening` it resamples before the first sweep of a tick, for the populations
/// with a flag in `only`; its word has the first sweep and index 1.
/// @par Source  Kitagawa, J. Comput. Graph. Stat. 5 (1996) 1; Weigel et al., Phys. Rev. E 103
/// (2021) 053301 for families.
struct KILN_API Resample {
  static constexpr const char* name = "resample";
  static constexpr const char* summary =
      "finds the source slot of each slot by systematic resampling of populations";
  static constexpr std::int64_t part_size = 1024;
  static constexpr std::int64_t max_replicas = std::int64_t{1} << 22;  ///< of a population
  static constexpr std::uint64_t max_weight = std::uint64_t{1} << 40;  ///< of a replica

  /// Scratch: sums over 1024 replicas, then over all earlier ones in the population.
  struct Part {
    std::uint64_t weight;
    std::int64_t dead;
  };

  View1<const std::uint64_t> weight;  ///< [slots]
  View1<const std::uint32_t> begins;  ///< [groups], 1: each slot becomes a separate family
  View1<double> energy;               ///< [slots]
  View1<std::int32_t> family;         ///< [slots]
  View1<std::int32_t> source;         ///< [slots]; padding stays -1 if it was
  View1<std::int32_t> copies_before;  ///< [slots], scratch: copies of the replicas before
  /// [slots], scratch: copies without the first one of each replica before
  View1<std::int32_t> extra_before;
  View1<std::uint32_t> members;  ///< [slots], number of members of the family
  View1<ResampleTotals> totals;  ///< [groups]
  View1<Part> parts;             ///< [groups * parts_of(group_size)], scratch
  std::int64_t group_size = 0;   ///< replicas of a population, at most max_replicas
  DrawIds draw_ids;
  const RunControl* control = nullptr;
  std::uint32_t sweeps_per_tick = 1;
  bool opening = false;
  View1<const std::uint32_t> active_groups =
      {};  ///< [groups], 0: the population is unchanged; empty: all

  /// Weights and families once, and the sources.
  double bytes() const { return bytes_of(weight) + bytes_of(family) + bytes_of(source); }
  KILN_HD static std::int64_t parts_of(std::int64_t replicas) {
    return (replicas + part_size - 1) / part_size;
  }
  /// Number within the tick of the sweep that names the word.
  KILN_HD std::uint64_t sweep() const { return opening ? 0 : ends_tick(*control, sweeps_per_tick); }
  /// Nothing is resampled in a truncated tick; sources are then -1.
  KILN_HD bool whole() const { return control->active(sweep()); }
  /// Whether a population is resampled.
  KILN_HD bool takes(std::int64_t group) const {
    return active_groups.size == 0 || active_groups[group] != 0;
  }

  KILN_HD std::uint32_t word_of(std::int64_t group) const {
    const std::uint64_t step = control->step + sweep();
    return draw_word(draw_ids.at(group * group_size, step, RngDomain::resample), opening ? 1 : 0);
  }

  /// Copies of all replicas before the one whose cumulated weight is `before`, of `total` > 0: the
  /// number of k >= 0 with (2^32 k + word) total < 2^32 R before.
  KILN_HD static std::int64_t copies_up_to(std::uint64_t before, std::uint64_t total,
                                           std::uint32_t word, std::int64_t replicas) {
    __extension__ using Wide = unsigned __int128;
    const Wide scaled = static_cast<Wide>(before) * (static_cast<std::uint64_t>(replicas) << 32);
    const auto places = static_cast<std::uint64_t>((scaled + (total - 1)) / total);
    return places <= word ? 0 : static_cast<std::int64_t>((places - word - 1) >> 32) + 1;
  }

  /// The replica of a group that has further copy number `copy`: the last one with no more further
  /// copies before it.
  KILN_HD std::int64_t donor_of(std::int64_t first_slot, std::int32_t copy) const {
    std::int64_t low = 0, high = group_size;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (extra_before[first_slot + middle] <= copy) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// The term of a family of n members in ResampleTotals::family_logs.
  KILN_HD static std::uint64_t family_log(std::uint64_t n) {
    if (n < 2) return 0;
    return n * static_cast<std::uint64_t>(exact::mul(exact::log(static_cast<double>(n)), 0x1p20));
  }

  /// Expected number of copies of a replica, R W_r / T, of total weight T > 0.
  KILN_HD static double expected_copies(std::uint64_t weight, std::uint64_t total,
                                        std::int64_t replicas) {
    const double wanted = exact::mul(static_cast<double>(weight), static_cast<double>(replicas));
    return exact::div(wanted, static_cast<double>(total));
  }

  /// Variance of the copies of a replica about the `expected` number, times 2^20: f (1 - f), f its
  /// fraction. This part of the variance of family sizes carries no information on Z.
  KILN_HD static std::uint64_t rounding_of(double expected) {
    const double f = exact::sub(expected, static_cast<double>(static_cast<std::int64_t>(expected)));
    return static_cast<std::uint64_t>(exact::mul(exact::mul(f, exact::sub(1.0, f)), 0x1p20));
  }

  /// Square of `expected` copies less 1 in units of 2^-26, rounded up, 2^12 at most. The mean is
  /// the relative variance of the weights, which a step adds to the variance of log Z times R.
  KILN_HD static std::uint64_t spread_of(double expected) {
    const double off = exact::sub(expected, 1.0);
    const double square = exact::mul(off, off);
    if (!(square < 0x1p12)) return std::uint64_t{1} << 38;
    return static_cast<std::uint64_t>(exact::mul(square, 0x1p26)) + (off != 0 ? 1 : 0);
  }

  /// Fills a slot whose `source` holds its index among the dead, and stores its donor there.
  KILN_HD void fill(std::int64_t group, std::int64_t slot) const {
    const std::int32_t copy = source[slot];
    if (copy < 0) return;
    const std::int64_t donor = group * group_size + donor_of(group * group_size, copy);
    source[slot] = static_cast<std::int32_t>(donor);
    energy[slot] = energy[donor];
    family[slot] = family[donor];
  }
};

}  // namespace kiln
