// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/queue.hpp"

#include "backends/backends_blocks.hpp"
#include "models/models.hpp"

namespace kiln::test {

/// A Potts model of q values with the couplings of a pairwise model; `field` is asked for each
/// variable and value (constant(0) gives no fields).
Potts potts_of(const Ising& pairs, std::int32_t q, const WeightSource& field);

/// Everything that categorical_sweep reads, on the host.
struct PottsInputs {
  Potts model;
  SweepRule rule = SweepRule::metropolis;
  std::int64_t slots = 32;          ///< any number, also none
  std::int64_t extra_stride = 0;    ///< unused bytes after those of a variable
  std::vector<std::int8_t> values;  ///< [variable][slot]
  std::vector<double> beta;         ///< [rungs]
  std::vector<std::int32_t> rung;   ///< [slots]
  HostNames names;
  double inverse_scale = 1;
  RunControl control;
  std::uint32_t sweeps = 1;
  bool count_accepted = true;
};

/// What it leaves behind.
struct PottsOutputs {
  std::vector<std::int8_t> values;
  std::vector<double> energy;
  std::vector<std::uint64_t> accepted;
  friend bool operator==(const PottsOutputs&, const PottsOutputs&) = default;
};

inline constexpr double potts_energy_before = 17;
inline constexpr std::uint64_t potts_accepted_before = 3;

/// Random values; betas 0, small, middling, large and infinite, a rung for each slot.
PottsInputs make_potts_sweep(Potts model, SweepRule rule, std::int64_t slots, std::uint64_t seed);

/// The sweeps on a backend.
PottsOutputs run_potts_sweeps(Queue& queue, const PottsInputs& inputs);

/// The sweeps as the header of the kernel defines them: one slot, one site, one word at a time.
PottsOutputs plain_potts_sweeps(const PottsInputs& inputs);

/// Where two outputs differ first; empty if they do not.
std::string first_difference(const PottsOutputs& got, const PottsOutputs& expected);

/// The values of one slot.
std::vector<std::int32_t> values_of(const std::vector<std::int8_t>& values, std::int64_t slots,
                                    std::int64_t slot);

}  // namespace kiln::test
