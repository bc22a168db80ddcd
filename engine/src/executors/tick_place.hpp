// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>

namespace kiln {

/// What is known of the number of ticks before a tick when it is enqueued: `number`, modulo
/// `modulus`. 0: the number itself; 1: nothing.
struct TickPlace {
  std::uint64_t number = 0;
  std::uint64_t modulus = 1;

  /// Whether the number may be a multiple of `ticks`, at least 1.
  bool may_be_multiple_of(std::uint64_t ticks) const noexcept {
    return number % std::gcd(modulus, ticks) == 0;
  }
  /// After so many ticks, at least 1, it may be one again.
  std::uint64_t until_multiple_of(std::uint64_t ticks) const noexcept {
    const std::uint64_t apart = std::gcd(modulus, ticks);
    return apart - number % apart;
  }
};

}  // namespace kiln
