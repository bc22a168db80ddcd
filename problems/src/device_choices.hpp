// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace kiln::problems {

/// Replicas of a sparse model on a CUDA device: `words` words of 32 for each of the 132
/// multiprocessors of an H200, fewer where a model has more than 2000 variables.
inline std::int64_t replicas_of_words(double words, std::int64_t variables) {
  constexpr std::int64_t step = 132 * 32;
  const double share = std::min(1.0, 2000.0 / static_cast<double>(variables));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(words * share)) * step;
}

}  // namespace kiln::problems
