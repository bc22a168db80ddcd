// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pairwise/pairwise_objective.hpp"

namespace kiln::problems {

/// |J| of an entry. @pre the plan's arithmetic is narrow or medium.
inline std::uint32_t size_of(const PairEntry& entry) {
  return static_cast<std::uint32_t>(std::abs(entry.weight));
}

/// Bits that are set in the size of a coupling: mostly it is 1.
inline std::uint32_t n_bits(std::uint32_t size) {
  return size <= 1 ? size : static_cast<std::uint32_t>(std::popcount(size));
}

/// The entries of a site, fillers included.
inline std::span<const PairEntry> row_of(const PairwisePlan& plan, std::size_t site) {
  const auto begin = static_cast<std::size_t>(plan.row_begin[site]);
  const auto end = static_cast<std::size_t>(plan.row_begin[site + 1]);
  return std::span(plan.entries).subspan(begin, end - begin);
}

}  // namespace kiln::problems
