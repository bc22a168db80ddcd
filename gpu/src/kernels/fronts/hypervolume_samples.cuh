// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/fronts/hypervolume.hpp"

#include "group_sort.cuh"

/// Hypervolume of five objectives and more.
namespace kiln::cuda {

struct SampleScratch {
  unsigned long long* hits;  // [groups][shifts], zero at the start
  double* least;             // [groups][objectives]
  std::size_t hit_bytes;

  explicit SampleScratch(const Hypervolume& kernel) {
    const std::int64_t count = kernel.groups.groups * VolumeSamples::shifts;
    hit_bytes = static_cast<std::size_t>(count) * sizeof(unsigned long long);
    hits = reinterpret_cast<unsigned long long*>(kernel.scratch.data);
    least = reinterpret_cast<double*>(kernel.scratch.data + (hit_bytes + 255) / 256 * 256);
  }
};

namespace detail {

// The lower end of the sampled box: the smallest values of the points that count. One block per
// group.
__global__ void __launch_bounds__(block_size)
    find_box(const __grid_constant__ Hypervolume kernel,
             const __grid_constant__ SampleScratch scratch) {
  if (!kernel.active()) return;
  __shared__ unsigned long long least[Hypervolume::max_objectives];  // as ordered integers
  const std::int64_t group = blockIdx.x, objectives = kernel.value.rows;
  for (std::int64_t k = threadIdx.x; k < objectives; k += block_size) {
    least[k] = ObjectivePoints::order_of(kernel.reference[k]);
  }
  __syncthreads();
  for (std::int64_t p = kernel.groups.begin(group) + threadIdx.x; p < kernel.groups.end(group);
       p += block_size) {
    if (!kernel.counts(p)) continue;
    for (std::int64_t k = 0; k < objectives; ++k) {
      const unsigned long long mine = ObjectivePoints::order_of(kernel.value(k, p));
      if (mine < least[k]) atomicMin(&least[k], mine);
    }
  }
  __syncthreads();
  for (std::int64_t k = threadIdx.x; k < objectives; k += block_size) {
    scratch.least[group * objectives + k] = exact::from_order_key(least[k]);
  }
}

// Counts samples that some point dominates. Blocks y handle the shifts of all groups, blocks x
// share the samples of one.
__global__ void __launch_bounds__(block_size)
    count_hits(const __grid_constant__ Hypervolume kernel,
               const __grid_constant__ SampleScratch scratch, double base) {
  if (!kernel.active()) return;
  extern __shared__ double samples_of_block[];  // [objectives][thread]
  __shared__ std::uint64_t first[Hypervolume::max_objectives], step_of[Hypervolume::max_objectives];
  const int me = static_cast<int>(threadIdx.x);
  const std::int64_t objectives = kernel.value.rows;
  if (me < objectives) step_of[me] = VolumeSamples::step(base, me);
  const std::uint64_t count = kernel.samples_per_shift();
  const std::int64_t rows = kernel.groups.groups * VolumeSamples::shifts;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const std::int64_t group = row / VolumeSamples::shifts;
    const int shift = static_cast<int>(row % VolumeSamples::shifts);
    const std::int64_t begin = kernel.groups.begin(group), end = kernel.groups.end(group);
    __syncthreads();  // the samples of the shift before are done
    if (me < objectives) first[me] = VolumeSamples::shift(kernel.key, group, shift, me);
    __syncthreads();
    int hits = 0;
    for (std::uint64_t s = static_cast<std::uint64_t>(thread_index()); s < count;
         s += static_cast<std::uint64_t>(thread_count())) {
      for (std::int64_t k = 0; k < objectives; ++k) {
        samples_of_block[k * block_size + me] = VolumeSamples::place(
            first[k] + s * step_of[k], scratch.least[group * objectives + k], kernel.reference[k]);
      }
      bool hit = false;
      for (std::int64_t p = begin; p < end && !hit; ++p) {
        hit = true;
        for (std::int64_t k = 0; k < objectives && hit; ++k) {
          hit = kernel.value(k, p) <= samples_of_block[k * block_size + me];
        }
      }
      hits += hit ? 1 : 0;
    }
    for (int step = warp_size / 2; step > 0; step /= 2) {
      hits += __shfl_xor_sync(full_warp, hits, step);
    }
    if (me % warp_size == 0 && hits > 0) {
      atomicAdd(&scratch.hits[row], static_cast<unsigned long long>(hits));
    }
  }
}

__global__ void __launch_bounds__(block_size)
    conclude(const __grid_constant__ Hypervolume kernel,
             const __grid_constant__ SampleScratch scratch) {
  if (!kernel.active()) return;
  const std::int64_t objectives = kernel.value.rows;
  for (std::int64_t group = thread_index(); group < kernel.groups.groups; group += thread_count()) {
    double box = 1;  // 0 if no point counts, because the box then has no width
    for (std::int64_t k = 0; k < objectives; ++k) {
      const double least = scratch.least[group * objectives + k];
      box = exact::mul(box, exact::sub(kernel.reference[k], least));
    }
    std::uint64_t hits[VolumeSamples::shifts];
    for (int s = 0; s < VolumeSamples::shifts; ++s) {
      hits[s] = scratch.hits[group * VolumeSamples::shifts + s];
    }
    const auto found = VolumeSamples::conclude(hits, kernel.samples_per_shift(), box);
    kernel.volume[group] = found.volume;
    if (kernel.half_width) kernel.half_width[group] = found.half_width;
  }
}

}  // namespace detail

inline void sample_volume(const Hypervolume& kernel, Queue& queue) {
  const cudaStream_t stream = stream_of(queue);
  const SampleScratch scratch(kernel);
  cuda_check(cudaMemsetAsync(scratch.hits, 0, scratch.hit_bytes, stream),
             "clear counts of hypervolume");
  const auto groups = static_cast<unsigned>(kernel.groups.groups);
  detail::find_box<<<groups, block_size, 0, stream>>>(kernel, scratch);
  check_launch(Hypervolume::name);
  const std::int64_t rows = kernel.groups.groups * VolumeSamples::shifts;
  const auto per_shift = static_cast<std::int64_t>(kernel.samples_per_shift());
  // Four samples per thread, if that fills the device, to amortise the numbers of a shift.
  const std::int64_t across = std::max<std::int64_t>(4 * filling_blocks / rows, 1);
  const dim3 grid(blocks_for(per_shift, across),
                  static_cast<unsigned>(std::min<std::int64_t>(rows, 65535)));
  const std::size_t bytes =
      static_cast<std::size_t>(kernel.value.rows) * block_size * sizeof(double);
  reserve_shared(queue, detail::count_hits, bytes, Hypervolume::name);
  const double base = VolumeSamples::base(kernel.value.rows);
  detail::count_hits<<<grid, block_size, bytes, stream>>>(kernel, scratch, base);
  check_launch(Hypervolume::name);
  detail::conclude<<<blocks_for(kernel.groups.groups), block_size, 0, stream>>>(kernel, scratch);
  check_launch(Hypervolume::name);
}

}  // namespace kiln::cuda
