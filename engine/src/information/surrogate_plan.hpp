// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kiln/kernels/information/surrogates.hpp"

namespace kiln {

/// Which surrogates estimates get.
struct SurrogatePlan {
  std::int64_t count = 0;
  SurrogateKind kind = SurrogateKind::permutation;
  std::int64_t theiler = 0;

  /// Rotations by few rows leave slow series nearly as they are.
  std::int64_t closest(std::int64_t n) const {
    constexpr std::int64_t parts = 20;
    return std::clamp<std::int64_t>(std::max(theiler + 1, n / parts), 1,
                                    std::max<std::int64_t>(1, n / 2));
  }
  std::int64_t rotations(std::int64_t n) const {
    return std::max<std::int64_t>(1, n - 2 * closest(n) + 1);
  }
  /// How many there are: no rotation is made twice.
  std::int64_t count_of(std::int64_t n) const {
    return kind == SurrogateKind::rotation ? std::min(count, rotations(n)) : count;
  }
};

}  // namespace kiln
