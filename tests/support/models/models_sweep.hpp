// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/device/rng_domains.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"
#include "kiln/queue.hpp"

#include "backends/backends_blocks.hpp"
#include "models/models.hpp"

namespace kiln::test {

/// Everything that metropolis_sweep reads, on the host.
struct SweepInputs {
  Ising model;
  std::int64_t slots = 32;
  std::int64_t extra_stride = 0;   ///< unused words after those of a variable
  std::vector<std::int8_t> spins;  ///< [variable][slot]
  std::vector<double> beta;        ///< [rungs], or [sweeps][rungs]
  std::vector<std::int32_t> rung;  ///< [slots]
  HostNames names;
  double inverse_scale = 1;
  RunControl control;
  std::uint32_t sweeps = 1;      ///< with step offsets 0, 1, ...
  bool in_row = false;           ///< by one launch
  std::int64_t beta_stride = 0;  ///< rungs, if each sweep has betas of its own
  SweepRule rule = SweepRule::metropolis;
  DrawNaming naming = DrawNaming::words;
  bool count_accepted = true;
  bool energies_hold = false;  ///< energies before are those of the states, else energy_before
  bool kept_fields = false;    ///< give the kernel a DenseView
  /// States that replace those of the batch between two sweeps, [variable][slot]; empty: none.
  std::vector<std::int8_t> replacement;
};

/// What it leaves behind.
struct SweepOutputs {
  std::vector<std::int8_t> spins;       ///< [variable][slot]
  std::vector<double> energy;           ///< [slots]
  std::vector<std::uint64_t> accepted;  ///< [slots]
  friend bool operator==(const SweepOutputs&, const SweepOutputs&) = default;
};

/// Energies and counts that are there before the sweep, so that adding differs from replacing.
inline constexpr double energy_before = 17;
inline constexpr std::uint64_t accepted_before = 3;

/// Random spins; every slot with a rung of its own, betas 0, small, middling, large and infinite in
/// units of 1 / (mean of |h| + sum |J|); `groups` keys.
SweepInputs make_sweep(Ising model, std::int64_t slots, std::int64_t groups, std::uint64_t seed);

/// The word of a replica by planes, from the counters that ADR 0047 names.
std::uint32_t word_by_planes(const DrawName& name, std::size_t site);
/// The word that 32 replicas share, from the counter that ADR 0050 names.
std::uint32_t shared_word(const DrawName& name, std::size_t site);
/// The word of an attempt by a naming.
std::uint32_t word_of(DrawNaming naming, const DrawName& name, std::size_t site);

/// The sweeps on a backend.
SweepOutputs run_sweeps(Queue& queue, const SweepInputs& inputs);

/// The sweeps as the header of the kernel defines them: one replica, one site, one word at a time.
SweepOutputs plain_sweeps(const SweepInputs& inputs);

/// Where two outputs differ first, for messages; empty if they do not.
std::string first_difference(const SweepOutputs& got, const SweepOutputs& expected);

/// Spins [variable][slot] as words [variable][word], `extra` unused words after each variable.
std::vector<std::uint32_t> pack_spins(const std::vector<std::int8_t>& spins, std::int64_t slots,
                                      std::int64_t extra = 0);
std::vector<std::int8_t> unpack_spins(const std::vector<std::uint32_t>& words, std::int64_t slots,
                                      std::int64_t extra = 0);

/// The spins of one slot.
std::vector<std::int8_t> spins_of(const std::vector<std::int8_t>& spins, std::int64_t slots,
                                  std::int64_t slot);

}  // namespace kiln::test
