// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/device/philox.hpp"
#include "kiln/errors.hpp"

// What the makers of discrete problems of several objectives share.
namespace kiln::problems::detail {

/// @throws InvalidArgument `problem.size` unless the condition holds.
inline void require_size(bool holds, const std::string& name, const std::string& message,
                         const std::string& expected = {}) {
  if (!holds) throw InvalidArgument("problem.size", name + ": " + message, expected);
}

/// @throws InvalidArgument `problem.value` unless the condition holds.
inline void require_value(bool holds, const std::string& name, const std::string& message,
                          const std::string& expected = {}) {
  if (!holds) throw InvalidArgument("problem.value", name + ": " + message, expected);
}

/// A number that is finite and not negative; false for NaN.
inline bool is_amount(double value) { return value >= 0 && std::isfinite(value); }

/// The whole number `index` of a stream, uniform in [low, high]. The streams of a seed are
/// independent of each other.
/// @param high  at most low + 2^16, so that the bias of the division stays below 2^-16.
inline double draw_whole(std::uint64_t seed, std::uint32_t stream, std::int64_t index, int low,
                         int high) {
  const auto bits = static_cast<std::uint64_t>(index);
  const Words4 words = philox4x32_10(
      {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32), stream, 0}},
      seed);
  const std::int64_t count = std::int64_t{high} - low + 1;
  return low + static_cast<double>((words[0] * static_cast<std::uint64_t>(count)) >> 32);
}

}  // namespace kiln::problems::detail
