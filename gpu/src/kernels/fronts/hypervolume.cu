// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/hypervolume.hpp"

#include "group_sort.cuh"
#include "hypervolume_samples.cuh"

namespace kiln::cuda {
namespace {

constexpr int lanes = 1024;  // of a block that goes over a whole group

// Points that count by their first coordinate, the others behind them.
struct MakeVolumeEntries {
  Hypervolume kernel;
  __device__ bool active() const { return kernel.active(); }
  __device__ EntryOrder order() const { return {}; }
  __device__ SortEntry entry(std::int32_t column) const {
    return {ObjectivePoints::order_of(kernel.value(0, column)), kernel.counts(column) ? 0u : 1u,
            column};
  }
};

// Places are columns in sorted order.
struct VolumeScratch {
  int* counted;  // [groups], points that count; zero at the start
  SortEntry *entries, *spare;
  double* coordinate[4];  // [columns]
  double* term;           // [columns], what a point adds to the volume
  double* least;          // [columns], two objectives: least y before a place
  std::size_t counted_bytes;

  explicit VolumeScratch(const Hypervolume& kernel) {
    std::byte* next = kernel.scratch.data;
    const auto take = [&](std::int64_t bytes) {
      std::byte* const begin = next;
      next += (bytes + 255) / 256 * 256;
      return begin;
    };
    const std::int64_t columns = kernel.value.columns;
    counted = reinterpret_cast<int*>(take(4 * kernel.groups.groups));
    counted_bytes = static_cast<std::size_t>(next - kernel.scratch.data);
    entries = reinterpret_cast<SortEntry*>(take(16 * columns));
    spare = reinterpret_cast<SortEntry*>(take(16 * columns));
    for (double*& one : coordinate) one = reinterpret_cast<double*>(take(8 * columns));
    term = reinterpret_cast<double*>(take(8 * columns));
    least = reinterpret_cast<double*>(take(8 * columns));
  }

  __device__ SortedPoints points(const Hypervolume& kernel, std::int64_t group) const {
    const std::int64_t begin = kernel.groups.begin(group);
    SortedPoints all{coordinate[0] + begin, coordinate[1] + begin, coordinate[2] + begin,
                     coordinate[3] + begin, counted[group],        {1, 1, 1, 1}};
    for (std::int64_t k = 0; k < kernel.value.rows; ++k) all.reference[k] = kernel.reference[k];
    return all;
  }
};

__global__ void __launch_bounds__(block_size)
    place_coordinates(const __grid_constant__ Hypervolume kernel,
                      const __grid_constant__ VolumeScratch scratch) {
  if (!kernel.active()) return;
  const PointGroups& groups = kernel.groups;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const std::int64_t begin = groups.begin(group), count = groups.count(group);
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      const SortEntry mine = scratch.entries[begin + i];
      for (std::int64_t k = 0; k < Hypervolume::max_exact; ++k) {
        scratch.coordinate[k][begin + i] =
            k < kernel.value.rows ? kernel.value(k, mine.column) : 0.0;
      }
      const bool last = i + 1 == count || scratch.entries[begin + i + 1].first != 0;
      if (mine.first == 0 && last) scratch.counted[group] = static_cast<int>(i + 1);
    }
  }
}

// Two objectives: the least y of the points before each place. A block per group goes along it.
__global__ void __launch_bounds__(lanes) scan_least(const __grid_constant__ Hypervolume kernel,
                                                    const __grid_constant__ VolumeScratch scratch) {
  if (!kernel.active()) return;
  __shared__ double of_warp[lanes / warp_size];
  const SortedPoints all = scratch.points(kernel, blockIdx.x);
  double* const least = scratch.least + kernel.groups.begin(blockIdx.x);
  const int me = static_cast<int>(threadIdx.x), lane = me % warp_size, warp = me / warp_size;
  double carried = all.reference[1];
  for (std::int64_t chunk = 0; chunk < all.size; chunk += lanes) {
    const std::int64_t i = chunk + me;
    double up_to = i < all.size ? all.y[i] : all.reference[1];
    for (int offset = 1; offset < warp_size; offset *= 2) {
      const double other = __shfl_up_sync(full_warp, up_to, offset);
      if (lane >= offset && other < up_to) up_to = other;
    }
    if (lane == warp_size - 1) of_warp[warp] = up_to;
    const double neighbor = __shfl_up_sync(full_warp, up_to, 1);
    __syncthreads();
    double before = carried;
    for (int w = 0; w < lanes / warp_size; ++w) {
      if (w < warp && of_warp[w] < before) before = of_warp[w];
      if (of_warp[w] < carried) carried = of_warp[w];
    }
    if (lane > 0 && neighbor < before) before = neighbor;
    if (i < all.size) least[i] = before;
    __syncthreads();  // of_warp is used again
  }
}

// What every point adds to the volume, and what it contributes.
__global__ void __launch_bounds__(block_size)
    find_terms(const __grid_constant__ Hypervolume kernel,
               const __grid_constant__ VolumeScratch scratch) {
  if (!kernel.active()) return;
  const PointGroups& groups = kernel.groups;
  const std::int64_t objectives = kernel.value.rows;
  for (std::int64_t group = blockIdx.y; group < groups.groups; group += gridDim.y) {
    const SortedPoints all = scratch.points(kernel, group);
    const std::int64_t begin = groups.begin(group), count = groups.count(group);
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      const bool counts = i < all.size;
      double term = 0, contribution = 0;
      if (counts && objectives <= 2) {
        const double least = scratch.least[begin + i];
        term = least > all.y[i] ? (all.reference[0] - all.x[i]) * (least - all.y[i]) : 0.0;
        if (kernel.contribution) {
          contribution = all.exclusive_area(i, least, [](std::int64_t) { return true; });
        }
      } else if (counts) {
        term = objectives == 3 ? all.term3(i) : all.term4(i);
        if (kernel.contribution) contribution = all.contribution3(i);
      }
      scratch.term[begin + i] = term;
      if (kernel.contribution) {
        kernel.contribution[scratch.entries[begin + i].column] = contribution;
      }
    }
  }
}

// A block per group; the order of the sum is fixed.
__global__ void __launch_bounds__(lanes) add_terms(const __grid_constant__ Hypervolume kernel,
                                                   const __grid_constant__ VolumeScratch scratch) {
  if (!kernel.active()) return;
  __shared__ double sums[lanes];
  const std::int64_t group = blockIdx.x, begin = kernel.groups.begin(group);
  const int me = static_cast<int>(threadIdx.x);
  double sum = 0;
  for (std::int64_t i = me; i < kernel.groups.count(group); i += lanes) {
    sum += scratch.term[begin + i];
  }
  sums[me] = sum;
  for (int half = lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) sums[me] += sums[me + half];
  }
  if (me != 0) return;
  kernel.volume[group] = sums[0];
  if (kernel.half_width) kernel.half_width[group] = 0;
}

void measure_exactly(const Hypervolume& kernel, cudaStream_t stream) {
  VolumeScratch scratch(kernel);
  const PointGroups& groups = kernel.groups;
  cuda_check(cudaMemsetAsync(scratch.counted, 0, scratch.counted_bytes, stream),
             "clear counts of hypervolume");
  scratch.entries = sort_groups(MakeVolumeEntries{kernel}, groups, scratch.entries, scratch.spare,
                                stream, Hypervolume::name);
  const dim3 grid = group_grid(groups, block_size);
  place_coordinates<<<grid, block_size, 0, stream>>>(kernel, scratch);
  check_launch(Hypervolume::name);
  const auto blocks = static_cast<unsigned>(groups.groups);
  if (kernel.value.rows <= 2) {
    scan_least<<<blocks, lanes, 0, stream>>>(kernel, scratch);
    check_launch(Hypervolume::name);
  }
  // A point is a long way for one thread: small blocks spread few points over the device.
  constexpr int threads = 64;
  find_terms<<<group_grid(groups, threads), threads, 0, stream>>>(kernel, scratch);
  check_launch(Hypervolume::name);
  add_terms<<<blocks, lanes, 0, stream>>>(kernel, scratch);
  check_launch(Hypervolume::name);
}

}  // namespace

template <>
void launch(const Hypervolume& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.hypervolume", Hypervolume::refusal);
  if (kernel.groups.groups <= 0) return;
  const std::int64_t needed =
      Hypervolume::scratch_bytes(kernel.groups, kernel.value.columns, kernel.value.rows);
  if (kernel.scratch.size < needed) {
    throw InvalidArgument("kernel.scratch", "hypervolume needs " + std::to_string(needed) +
                                                " bytes of scratch memory for these points and "
                                                "has " +
                                                std::to_string(kernel.scratch.size) +
                                                ": see scratch_bytes()");
  }
  if (kernel.exact_volume()) return measure_exactly(kernel, stream_of(queue));
  sample_volume(kernel, queue);
}

}  // namespace kiln::cuda
