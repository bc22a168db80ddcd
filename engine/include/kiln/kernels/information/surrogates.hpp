// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/rng_domains.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/information/kernels.hpp"
#include "kiln/kernels/information/sorted_orders.hpp"

namespace kiln {

/// How surrogates of a series are made.
enum class SurrogateKind : std::uint8_t {
  permutation,  ///< all orders are equally likely: for rows that are independent of each other
  rotation      ///< the series begins elsewhere and goes on at its start: keeps its dynamics
};

/// Draws the places from which surrogates take the values of a series.
///
/// A permutation sorts random numbers of 48 bits: element i of a surrogate takes value order[i]. A
/// rotation takes value (i + shift) mod n, with a shift in [closest, n - closest]. Draws are named
/// by seed, surrogate and place.
///
/// Numbers of surrogates with the same number / 2^24 belong to one series. Its rotations differ, as
/// long as there are no more of them than shifts: they step through the shifts by a number that
/// has no divisor in common with how many there are. Class E.
struct KILN_API Surrogates {
  static constexpr const char* name = "surrogates";
  static constexpr const char* summary = "draws permutations and rotations of series";

  View2<std::int32_t> places;  ///< [surrogates][n], written; n < 2^31
  std::uint64_t seed = 0;
  std::int64_t first = 0;    ///< number of the first surrogate, below 2^40
  std::int64_t closest = 1;  ///< of rotations: 1 <= closest <= n / 2
  SurrogateKind kind = SurrogateKind::permutation;
  /// SortedOrders::room_bytes(n) bytes or more, for permutations by a GPU, which sorts as many at
  /// once as there is room for.
  View1<std::uint8_t> room;

  KILN_HD DrawName name_of(std::int64_t surrogate) const {
    const std::int64_t number = first + surrogate;
    return {seed, static_cast<std::uint64_t>(number >> 32), static_cast<std::uint32_t>(number),
            RngDomain::surrogate, 0};
  }
  static constexpr int key_bits = 48;
  /// What a permutation sorts.
  KILN_HD std::uint64_t key(std::int64_t surrogate, std::int64_t place) const {
    const auto index = static_cast<std::uint32_t>(place);
    const Words4 words = draw_quad(name_of(surrogate), index / 2);
    const std::uint32_t at = index % 2 * 2;
    return (std::uint64_t{words[at] & 0xFFFFu} << 32) | words[at + 1];
  }
  static constexpr int series_bits = 24;
  KILN_HD std::int64_t shift(std::int64_t surrogate) const {
    const std::int64_t number = first + surrogate, series = number >> series_bits;
    const std::int64_t shifts = places.columns - 2 * closest + 1;
    const DrawName of_series{seed, static_cast<std::uint64_t>(series >> 32),
                             static_cast<std::uint32_t>(series), RngDomain::surrogate, 2};
    const Words4 words = draw_quad(of_series, 0);
    const std::int64_t begin = below(words[0], static_cast<std::uint32_t>(shifts));
    std::int64_t step = 1 + below(words[1], static_cast<std::uint32_t>(shifts));
    while (common_divisor(step, shifts) != 1) step = step % shifts + 1;
    const std::int64_t place = number & ((std::int64_t{1} << series_bits) - 1);
    return closest + (begin + place % shifts * step) % shifts;
  }
  KILN_HD static std::int64_t common_divisor(std::int64_t a, std::int64_t b) {
    while (b != 0) {
      const std::int64_t rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
  KILN_HD std::int32_t rotated(std::int64_t shift, std::int64_t place) const {
    return static_cast<std::int32_t>((place + shift) % places.columns);
  }
};

}  // namespace kiln
