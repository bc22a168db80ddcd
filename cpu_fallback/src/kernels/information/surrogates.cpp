// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/surrogates.hpp"

#include "kernels/information/sort_places.hpp"
#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const Surrogates& kernel, Queue& queue) {
  const std::int64_t n = kernel.places.columns;
  pool_of(queue).for_each(kernel.places.rows, [&](std::int64_t surrogate) {
    if (n == 0) return;
    std::int32_t* const places = &kernel.places(surrogate, 0);
    if (kernel.kind == SurrogateKind::permutation) {
      sort_places(n, places, [&](std::int64_t i) { return kernel.key(surrogate, i); });
      return;
    }
    const std::int64_t shift = kernel.shift(surrogate);
    for (std::int64_t i = 0; i < n; ++i) places[i] = kernel.rotated(shift, i);
  });
}

}  // namespace kiln::cpu
