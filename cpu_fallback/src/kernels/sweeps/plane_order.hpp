// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/kernels/sweeps/pairwise_model.hpp"

namespace kiln::cpu {

/// Bits of |h| + sum |J| of a site that a kernel of planes counts.
inline constexpr int planes_of_sum = 8;

/// A site, and what its counter starts from so that the number of the site (GroupSite) is the
/// start, the neighbours of a SliceSite, and the site's own bit if its sum is even.
struct PlanePlace {
  std::int32_t site = 0;
  std::int32_t start = 0;
  std::int64_t first_term = 0;  ///< of SliceView::terms
  // Terms of each power of two, and those of them that are added as they are, the first ones: a
  // byte each.
  std::uint64_t n_terms = 0;
  std::uint64_t n_positive = 0;
};

// In an unnamed namespace: see SliceJob.
namespace {
inline std::uint32_t byte_of(std::uint64_t bytes, int k) {
  return static_cast<std::uint32_t>(bytes >> (8 * k)) & 255u;
}

// Bits of the number of a site, and whether its sum is even.
struct NumberShape {
  int n_planes;
  bool even;
};
inline NumberShape number_shape(const SliceSite& row, std::int32_t field) {
  const std::int32_t sum = row.base - field + (field < 0 ? -field : field);
  const bool even = (sum & 1) == 0;
  return {32 - __builtin_clz(static_cast<std::uint32_t>(sum + (even ? 1 : 0))), even};
}
inline std::int32_t start_of_number(const SliceSite& row, int n_planes, bool even) {
  return (1 << (n_planes - 1)) - (row.base + (even ? 2 : 1)) / 2;
}
}  // namespace

/// Sites of one class that a vector holds side by side: all their sums are even, or all are odd.
struct PlanePack {
  std::int32_t first = 0;  ///< of its places
  std::int16_t n_sites = 0;
  std::uint8_t n_planes = 0;  ///< of the largest number
  bool even = false;
  bool ends_class = false;
  /// Terms can be added for all sites side by side, in groups of four or eight: a row may be read
  /// that far beyond its end.
  bool side_by_side = false;
  bool negative = false;      ///< there are complements
  std::uint8_t n_powers = 0;  ///< powers of two of which a site has terms, at most
  // The most and the fewest terms of a site, of each power of two.
  std::uint8_t max_terms[planes_of_sum] = {};
  std::uint8_t min_terms[planes_of_sum] = {};
};

/// The sites of a model that have a variable, by class, and within a class by the shape of their
/// rows: sites that follow each other take the same branches.
struct PlaneOrder {
  const PlanePlace* places = nullptr;
  const PlanePack* packs = nullptr;
  std::int32_t n_packs = 0;
};

/// Bytes of memory for an order, a multiple of 64.
std::size_t order_bytes(std::int32_t n_sites, std::int32_t n_classes);

/// @param sites_of_pack  2 to 16
/// @param memory         [order_bytes()], aligned to 64 bytes; the order points into it
/// @pre |h| + sum |J| is at most max_sum_of_planes at every site
PlaneOrder order_for_planes(const PairwiseView& model, int sites_of_pack, std::byte* memory);

}  // namespace kiln::cpu
