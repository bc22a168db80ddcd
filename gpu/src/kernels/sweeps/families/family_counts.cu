// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "family_block.cuh"
#include "family_count_warp.cuh"
#include "family_slices.hpp"

namespace kiln::cuda {

bool launch_family_counts(const PairwiseFamilySweep& kernel, Queue& queue) {
  const PairwiseFamilyView& model = kernel.model;
  constexpr std::int32_t limit = 1 << family_planes;
  if (model.sequential || model.base_groups.sites.size == 0 || model.term_groups.sites.size == 0 ||
      model.base_groups.max_sum >= limit || model.term_groups.max_sum >= limit) {
    return false;
  }
  const std::optional<SweepShape> shape = family_shape_for(kernel, 0, queue);
  if (!shape) return false;
  if (shape->in_shared) {
    enqueue_family<true, FamilyCountWarp<block_words, true>>(kernel, *shape, queue);
  } else {
    enqueue_family<false, FamilyCountWarp<block_words, false>>(kernel, *shape, queue);
  }
  return true;
}

}  // namespace kiln::cuda
