// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "family_block.cuh"
#include "family_pattern_warp.cuh"
#include "family_slices.hpp"

namespace kiln::cuda {
namespace {

template <int P>
bool enqueue_placed(const PairwiseFamilySweep& kernel, Queue& queue) {
  using InShared = FamilyPatternWarp<block_words, P, true>;
  const std::optional<SweepShape> shape = family_shape_for(kernel, InShared::table_bytes, queue);
  if (!shape) return false;
  if (shape->in_shared) {
    enqueue_family<true, InShared>(kernel, *shape, queue);
  } else {
    enqueue_family<false, FamilyPatternWarp<block_words, P, false>>(kernel, *shape, queue);
  }
  return true;
}

}  // namespace

bool launch_family_patterns(const PairwiseFamilySweep& kernel, Queue& queue) {
  const PairwiseFamilyView& model = kernel.model;
  if (model.sequential) return false;
  const int bits = model.max_neighbors + (model.has_fields ? 1 : 0);
  if (bits > 6) return false;
  return bits <= 4 ? enqueue_placed<4>(kernel, queue) : enqueue_placed<6>(kernel, queue);
}

}  // namespace kiln::cuda
