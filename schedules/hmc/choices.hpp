// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/schedules/hmc.hpp"

#include "shared/chain_mover.hpp"

// What the options of hmc mean: which are refused, and what those become that were left open.
namespace kiln::hmc {

/// Whether options were given that sampling alone has.
bool asks_for_draws(const HmcOptions& options);

/// Everything that contradicts something else. The mode may still be open.
std::vector<std::string> complaints_about(const HmcOptions& options);

/// What the choices depend on.
struct Circumstances {
  std::int64_t chains = 0;
  std::int64_t dimension = 0;
  bool descends = false;      ///< whether the objective has a descent
  bool nuts = true;           ///< whether the objective can make such transitions
  bool walls = false;         ///< whether coordinates have bounds
  bool random_starts = true;  ///< whether chains begin at random, not where the user said
};

/// Settles what is open of how chains begin and move; mode and lengths are known.
/// @throws InvalidArgument `hmc.super_chains` if the chains cannot be that many equal groups.
void settle(HmcOptions& options, const Circumstances& at);

/// How chains move under options that are settled; the pools are left to the caller.
MoverSetting mover_setting(const HmcOptions& options, std::int64_t dimension);

}  // namespace kiln::hmc
