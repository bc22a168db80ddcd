// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "kiln/export.hpp"

// Exported for the unit tests only; the header is not installed.
namespace kiln::problems::detail {

inline constexpr std::int64_t palubeckis_modulus = 2147483647;

/// What decides an instance, and what the published ones are called.
struct PalubeckisSpec {
  std::string_view name;
  std::int32_t n = 0;
  double density_percent = 0.0;
  std::int64_t seed = 0;
};

/// A published instance. @throws InvalidArgument `problem.unknown` with the nearest name.
KILN_API PalubeckisSpec named_palubeckis(std::string_view name);

/// Draws an instance and calls diagonal(i, q) and coupler(i, j, q) in the order of the draws, also
/// for q = 0.
///
/// @return the state of the generator after the last draw.
template <class Diagonal, class Coupler>
std::int64_t draw_palubeckis(const PalubeckisSpec& spec, Diagonal diagonal, Coupler coupler) {
  std::int64_t state = spec.seed;
  const auto draw = [&] {
    state = 16807 * state % palubeckis_modulus;
    return static_cast<double>(state) / 2147483648.0;
  };
  const auto coefficient = [&] { return std::floor(201.0 * draw() - 100.0); };
  const auto limit = static_cast<float>(spec.density_percent);
  // In single precision, and rounded before it is compared: in double precision some instances
  // would become others.
  const auto passes = [&] {
    const float percent = static_cast<float>(draw()) * 100.0F;
    return percent <= limit;
  };
  for (std::int32_t i = 0; i < spec.n; ++i) {
    diagonal(i, coefficient());
    for (std::int32_t j = i + 1; j < spec.n; ++j) {
      if (passes()) coupler(i, j, coefficient());
    }
  }
  return state;
}

}  // namespace kiln::problems::detail
