// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <kiln/device/run_control.hpp>
#include <kiln/kernel_set.hpp>
#include <kiln/kernels/run/draw_ids.hpp>
#include <kiln/kernels/sweeps/pairwise_model.hpp>

namespace threshold_accepting {

#define DEMON_KERNELS(KERNEL) KERNEL(DemonSweep)

KILN_COMPONENT(DemonComponent, "threshold_accepting", DEMON_KERNELS)

/// Makes one sweep of every replica of a pairwise model by threshold accepting with a demon.
///
/// Each replica has a demon, whose energy is drawn uniformly between 0 and `bound` at the start of
/// the sweep: one random word for a sweep of a replica. Sites are tried in their order. A flip that
/// changes the energy by dE is accepted if dE <= demon; then the demon gets -dE, up to `bound`. So
/// a replica climbs no higher than `bound` above the lowest energy of its sweep.
///
/// bound = start (1 - (step mod length) / length).
///
/// Energies are added up from the changes; unless the model is integral, evaluate them afterwards.
/// The same states on every backend.
/// Source: Creutz, Phys. Rev. Lett. 50 (1983) 1411, the demon; Dueck, Scheuer, J. Comput. Phys. 90
/// (1990) 161, the falling threshold.
struct DemonSweep {
  static constexpr const char* name = "demon_sweep";
  static constexpr int word_bits = 32;

  kiln::PairwiseView model;
  kiln::View2<std::uint32_t> state;     ///< packed32 [variable][word], updated in place
  kiln::View1<double> energy;           ///< [slots], stored units
  kiln::View1<std::uint64_t> accepted;  ///< [slots], accepted flips are added
  kiln::DrawIds draw_ids;               ///< [slots]
  const kiln::RunControl* control = nullptr;
  std::uint32_t step_offset = 0;  ///< number of the sweep within the tick
  double start = 0;               ///< bound of the first sweep, stored units
  std::uint64_t length = 1;       ///< sweeps of each fall of the bound

  KILN_HD double bound() const {
    const std::uint64_t done = (control->step + step_offset) % length;
    return start * (1 - static_cast<double>(done) / static_cast<double>(length));
  }
  /// The energy of the demon of a slot when the sweep begins.
  KILN_HD double demon(std::int64_t slot, double bound) const {
    const kiln::DrawName name =
        draw_ids.at(slot, control->step + step_offset, kiln::RngDomain::user);
    return bound * kiln::open_unit(kiln::draw_word(name, 0));
  }
  /// The coupling of entry k of the rows.
  KILN_HD double weight(std::int64_t k) const {
    return model.weights_f64 ? model.weights_f64[k] : static_cast<double>(model.entries[k].weight);
  }
  /// The variable of entry k, whose words the entry reads. Fillers of rows have the weight 0.
  KILN_HD std::int32_t neighbour(std::int64_t k) const {
    return model.variable[model.entries[k].site];
  }
};

}  // namespace threshold_accepting
