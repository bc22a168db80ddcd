// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/device/run_control.hpp"
#include "kiln/device/views.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The distribution of points over the unit cube.
enum class PointsKind : std::uint8_t {
  sobol,            ///< a scrambled Sobol sequence
  latin_hypercube,  ///< one point in each of n slices of every axis, n the points of a set
  uniform,          ///< independent
};

/// Generates points in the unit cube for many sets, each with a key, in the layout of PointSets.
///
/// Point i of a set is number first[set] + i of its sequence, so that a sequence can be continued.
/// Sobol numbers repeat after 2^32, uniform ones after 2^34; a Latin hypercube is a design of all
/// points of the launch and ignores `first`.
///
/// Sobol: each coordinate is multiplied by a random lower triangular matrix of binary digits with a
/// unit diagonal, then shifted digit by digit. That keeps every net property of the sequence, and
/// each point is uniform in the cube, so averages over points are unbiased. Numbers are odd
/// multiples of 2^-33. Latin hypercubes: a permutation assigns the slices, uniform among all for up
/// to `ranked` points and a Feistel cipher beyond; within its slice a point is uniform. All values
/// are in (0, 1), and a set has the same bits alone and in any batch.
///
/// @par Source  Matousek, J. Complexity 14 (1998) 527 (scramble); McKay, Beckman, Conover,
/// Technometrics 21 (1979) 239 (Latin hypercubes); Black, Rogaway, CT-RSA 2002 (permutations by
/// walking along cycles of a cipher).
struct KILN_API SpaceFillingPoints {
  static constexpr const char* name = "space_filling_points";
  static constexpr const char* summary =
      "generates scrambled Sobol points, Latin hypercubes or uniform points";
  static constexpr const char* refusal =
      "space_filling_points takes a row of 32 direction numbers for each dimension of a Sobol "
      "sequence, and at most 2^30 points in a Latin hypercube";
  static constexpr int digits = 32;
  static constexpr std::int64_t ranked = 64;

  PointsKind kind = PointsKind::sobol;
  std::int64_t dimension = 1;
  std::int64_t points = 0;
  View2<const std::uint32_t> directions;  ///< [dimension or more][32], sobol: sobol_directions()
  View1<const std::uint64_t> keys;        ///< [sets]
  View1<const std::uint64_t> first;       ///< [sets]; empty: all begin with point 0
  bool by_step = false;  ///< the step of the run also names the draws: other points in each
  double* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t set_stride = 0;
  const RunControl* control = nullptr;  ///< may be null: always active
  std::uint32_t step_offset = 0;

  KILN_HD bool active() const { return control == nullptr || control->active(step_offset); }
  KILN_HD std::int64_t rows() const { return keys.size * dimension; }
  /// Coordinates of a row: the points of set row / dimension along axis row % dimension.
  KILN_HD double* row_of(std::int64_t row) const {
    return data + row / dimension * set_stride + row % dimension * stride;
  }
  KILN_HD std::uint64_t first_of(std::int64_t set) const { return first ? first[set] : 0; }

  /// Whether the launch is possible; backends refuse it otherwise: InvalidArgument.
  bool valid() const {
    if (kind == PointsKind::latin_hypercube) return points <= 1 << 30;
    return kind == PointsKind::uniform ||
           (directions.rows >= dimension && directions.columns >= digits);
  }

  /// The purpose of the draws of a row; rounds of the cipher have the blocks from `round` on.
  enum Block : std::uint8_t { independent, scramble, jitter, ranks, round };
  KILN_HD DrawName draws(std::int64_t row, std::uint8_t block) const {
    const std::uint64_t step = by_step && control != nullptr ? control->step + step_offset : 0;
    return {keys[row / dimension], step, static_cast<std::uint32_t>(row % dimension),
            RngDomain::fill_space, block};
  }

  /// Column `digit` of a random lower triangular matrix with a unit diagonal.
  KILN_HD static std::uint32_t scramble_column(int digit, std::uint32_t word) {
    const std::uint32_t diagonal = 0x80000000u >> digit;
    return diagonal | (word & (diagonal - 1));
  }
  /// The words 0 to 31 of a scramble make its columns; word 32 is the shift.
  static constexpr int shift_word = 32;

  KILN_HD double uniform(std::int64_t row, std::int64_t point) const {
    const std::uint64_t index = first_of(row / dimension) + static_cast<std::uint64_t>(point);
    const Words4 words = draw_quad(draws(row, independent), static_cast<std::uint32_t>(index / 4));
    return open_unit(words[static_cast<std::uint32_t>(index % 4)]);
  }

  KILN_HD double latin(std::int64_t row, std::int64_t point) const {
    const auto index = static_cast<std::uint32_t>(point);
    const std::uint32_t slice =
        points <= ranked ? rank_of(draws(row, ranks), index) : cipher(row, index);
    const double u = open_unit(draw_word(draws(row, jitter), index));
    const double x =
        exact::div(exact::add(static_cast<double>(slice), u), static_cast<double>(points));
    return x < 1.0 ? x : 0x1.fffffffffffffp-1;  // far beyond 2^20 points rounding reaches 1
  }

 private:
  // The rank of a point's word among all words.
  KILN_HD std::uint32_t rank_of(const DrawName& named, std::uint32_t point) const {
    const std::uint32_t own = draw_word(named, point);
    std::uint32_t rank = 0;
    for (std::uint32_t quad = 0; 4 * quad < points; ++quad) {
      const Words4 words = draw_quad(named, quad);
      for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t other = 4 * quad + i;
        if (other >= points) continue;
        rank += words[i] < own || (words[i] == own && other < point) ? 1 : 0;
      }
    }
    return rank;
  }

  // A permutation of the smallest power of two that holds all points, applied until it gives a
  // number below `points`: on these it is a permutation too.
  KILN_HD std::uint32_t cipher(std::int64_t row, std::uint32_t x) const {
    constexpr int rounds = 12;
    int bits = 0;
    while ((std::int64_t{1} << bits) < points) ++bits;
    const int low_bits = bits - bits / 2;
    const std::uint32_t low_mask = (1u << low_bits) - 1, high_mask = (1u << bits / 2) - 1;
    do {
      std::uint32_t low = x & low_mask, high = x >> low_bits;
      for (int r = 0; r < rounds; r += 2) {
        const auto block = static_cast<std::uint8_t>(round + r);
        low ^= draw_word(draws(row, block), high) & low_mask;
        high ^= draw_word(draws(row, static_cast<std::uint8_t>(block + 1)), low) & high_mask;
      }
      x = high << low_bits | low;
    } while (x >= points);
    return x;
  }
};

}  // namespace kiln
