// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "objectives/chain_layouts.hpp"

#include <algorithm>

namespace kiln {
namespace {

// A block of 256 threads has a vector of this size at least two elements for each.
constexpr int min_block_dimensions = 512;

// Short vectors whose length the compiler does not know. Lanes win where chains fill the device and
// vectors the shared memory of their block: on an H200 3 times as many gradients of 10 coordinates
// from 65,536 chains, a quarter less by NUTS from 1,024. Single threads repeat no draw and no
// decision: 2.7 times as many sweeps of 10 coordinates from 131,072 chains; from 16,384 there are
// too few of them.
constexpr std::int64_t min_lane_chains = 4096, min_thread_chains = 32768;

bool is_fixed_and_small(const DensitySource& source) {
  return source.fixed_dimension() > 0 && source.fixed_dimension() <= max_dimension_of_thread;
}

// Whether four threads can share the work for a point.
bool is_short(const DensitySource& source) {
  return source.dimension() <= max_short_dimension &&
         (source.works_by_coordinates() || source.fixed_dimension() > 0);
}

}  // namespace

ChainLayout layout_of(const DensitySource& source, std::int64_t chains) {
  if (is_fixed_and_small(source)) return ChainLayout::thread;
  if (is_short(source) && chains >= min_thread_chains) return ChainLayout::thread;
  return without_threads(source, chains);
}

ChainLayout without_threads(const DensitySource& source, std::int64_t chains) {
  if (is_short(source) && chains >= min_lane_chains) return ChainLayout::lanes;
  return source.dimension() < min_block_dimensions ? ChainLayout::warp : ChainLayout::block;
}

ChainLayout of_trajectories(const DensitySource& source, std::int64_t chains) {
  // In registers, or as fast with four threads for each chain. A compiler needs many seconds for
  // trajectories in registers.
  const bool in_registers = is_fixed_and_small(source) && !source.is_compiled_late();
  return in_registers ? ChainLayout::thread : without_threads(source, chains);
}

std::int64_t scratch_of(std::int64_t size, ChainLayout layout, std::int64_t workspace) {
  return layout == ChainLayout::thread ? workspace : size;
}

std::int64_t min_scratch(std::int64_t dimension, std::int64_t workspace, ChainLayout layout) {
  return std::max(scratch_of(DensityEnergy::scratch_size(dimension, workspace), layout, workspace),
                  scratch_of(DensitySweep::scratch_size(dimension, workspace), layout, workspace));
}

}  // namespace kiln
