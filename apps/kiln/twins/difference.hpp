// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::cli {

/// How two copies of the same memory differ.
struct Difference {
  std::uint64_t words = 0;    ///< of 8 bytes, compared
  std::uint64_t unequal = 0;  ///< that have other bits; two NaN are equal
  /// Largest difference of two numbers, relative to the largest number of the memory; infinity for
  /// words that are no numbers, such as counts, and for numbers that are not finite.
  double worst = 0;

  Difference& operator+=(const Difference& other) noexcept;
};

/// Compares bytes of the same array from two devices. The type of its elements is not known: words
/// that differ are taken for float64, of which all kernels are that may differ in their last bits.
/// @param a, b  of the same size
Difference difference_of(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace kiln::cli
