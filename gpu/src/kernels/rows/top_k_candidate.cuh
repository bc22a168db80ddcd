// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/rows/top_k.hpp"

namespace kiln::cuda {
namespace {

// Of 13 bits: 5 of the key (the last one has 12) and 3 of the column, 2^39 at most.
constexpr int digit_bits = 13;
constexpr int key_digits = 5;
constexpr int select_digits = 8;
constexpr std::uint64_t last_column = (std::uint64_t{1} << 39) - 1;

// A value with its column; the larger one comes first.
struct Candidate {
  std::uint64_t key = 0;
  std::uint64_t place = 0;  // last_column - column

  __device__ bool before(const Candidate& other) const {
    return key != other.key ? key > other.key : place > other.place;
  }
  __device__ static int bits_below(int digit) {
    return digit < key_digits ? max(0, 64 - digit_bits * (digit + 1))
                              : digit_bits * (select_digits - 1 - digit);
  }
  __device__ int digit(int d) const {
    if (d == key_digits - 1) return static_cast<int>(key & 0xFFF);
    const std::uint64_t of = d < key_digits ? key : place;
    return static_cast<int>(of >> bits_below(d)) & static_cast<int>(TopK::bins - 1);
  }
  // What its first `digits` digits say; digits that are not known are 0.
  __device__ Candidate first_digits(int digits) const {
    if (digits == 0) return {};
    if (digits >= key_digits) {
      if (digits == key_digits) return {key, 0};
      const int below = bits_below(digits - 1);
      return {key, place >> below << below};
    }
    const int below = bits_below(digits - 1);
    return {key >> below << below, 0};
  }
};

}  // namespace
}  // namespace kiln::cuda
