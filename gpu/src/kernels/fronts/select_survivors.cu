// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "kiln/kernels/fronts/select_survivors.hpp"

#include "group_sort.cuh"

namespace kiln::cuda {
namespace {

// Best first: by rank, then by score from above.
struct MakeQuality {
  SelectSurvivors kernel;
  __device__ bool active() const { return kernel.active(); }
  __device__ EntryOrder order() const { return {}; }
  __device__ SortEntry entry(std::int32_t column) const {
    return {~ObjectivePoints::order_of(kernel.score[column]),
            static_cast<std::uint32_t>(kernel.rank[column]), column};
  }
};

// Who takes part in an exchange of places, in the order of the columns: residents that go, then
// newcomers that stay. There are as many of these as of those.
enum : std::uint32_t { goes = 0, comes = 1, rests = 2 };

__device__ std::uint32_t part_of(const SelectSurvivors& kernel, std::int64_t member,
                                 bool survives) {
  if (member < kernel.residents) return survives ? rests : goes;
  return survives ? comes : rests;
}

struct MakeParts {
  SelectSurvivors kernel;
  const unsigned char* survives;
  __device__ bool active() const { return kernel.active(); }
  __device__ EntryOrder order() const { return {}; }
  __device__ SortEntry entry(std::int32_t column) const {
    return {0, part_of(kernel, column % kernel.groups.size, survives[column] != 0), column};
  }
};

// Entries sorted by part: the i-th that goes is replaced by the i-th that comes.
__device__ void exchange(const SelectSurvivors& kernel, std::int64_t group,
                         const SortEntry* entries, std::int64_t i) {
  if (entries[i].first != goes) return;
  std::int64_t low = i + 1, high = kernel.groups.size;  // the first that does not go
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (entries[middle].first == goes) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  kernel.settle(group, entries[i].column, entries[low + i].column);
}

// A block per pool, a thread per point.
__global__ void __launch_bounds__(SelectSurvivors::block_points)
    select_small(const __grid_constant__ SelectSurvivors kernel) {
  if (!kernel.active()) return;
  __shared__ SortEntry entries[SelectSurvivors::block_points];
  __shared__ unsigned char survives[SelectSurvivors::block_points];
  const std::int64_t group = blockIdx.x, begin = kernel.groups.begin(group);
  const std::int64_t count = kernel.groups.size;
  const int me = static_cast<int>(threadIdx.x);
  const SortEntry filler{~0ull, sort_filler, 0x7FFFFFFF};
  entries[me] =
      me < count ? MakeQuality{kernel}.entry(static_cast<std::int32_t>(begin + me)) : filler;
  sort_in_block(EntryOrder{}, entries, static_cast<int>(blockDim.x));
  if (me < count) survives[entries[me].column - begin] = me < kernel.residents ? 1 : 0;
  __syncthreads();
  if (me < count) {
    entries[me] = {0, part_of(kernel, me, survives[me] != 0),
                   static_cast<std::int32_t>(begin + me)};
  }
  if (me < kernel.residents) kernel.source[group * kernel.residents + me] = -1;
  sort_in_block(EntryOrder{}, entries, static_cast<int>(blockDim.x));
  if (me < kernel.residents) exchange(kernel, group, entries, me);
}

template <class Body>
__device__ void for_members(const SelectSurvivors& kernel, const Body& body) {
  for (std::int64_t group = blockIdx.y; group < kernel.groups.groups; group += gridDim.y) {
    for (std::int64_t i = thread_index(); i < kernel.groups.size; i += thread_count()) {
      body(group, kernel.groups.begin(group), i);
    }
  }
}

__global__ void __launch_bounds__(block_size)
    mark_survivors(const __grid_constant__ SelectSurvivors kernel, const SortEntry* entries,
                   unsigned char* survives) {
  if (!kernel.active()) return;
  for_members(kernel, [&](std::int64_t group, std::int64_t begin, std::int64_t i) {
    survives[entries[begin + i].column] = i < kernel.residents ? 1 : 0;
    if (i < kernel.residents) kernel.source[group * kernel.residents + i] = -1;
  });
}

__global__ void __launch_bounds__(block_size)
    exchange_places(const __grid_constant__ SelectSurvivors kernel, const SortEntry* entries) {
  if (!kernel.active()) return;
  for_members(kernel, [&](std::int64_t group, std::int64_t begin, std::int64_t i) {
    exchange(kernel, group, entries + begin, i);
  });
}

void select_large(const SelectSurvivors& kernel, cudaStream_t stream) {
  const std::int64_t needed = SelectSurvivors::scratch_bytes(kernel.groups);
  if (kernel.scratch.size < needed) {
    throw InvalidArgument("kernel.scratch", "select_survivors needs " + std::to_string(needed) +
                                                " bytes of scratch memory for these points and "
                                                "has " +
                                                std::to_string(kernel.scratch.size) +
                                                ": see scratch_bytes()");
  }
  const std::int64_t columns = (kernel.groups.groups * kernel.groups.size + 15) / 16 * 16;
  auto* const a = reinterpret_cast<SortEntry*>(kernel.scratch.data);
  SortEntry* const b = a + columns;
  auto* const survives = reinterpret_cast<unsigned char*>(b + columns);
  const dim3 grid = group_grid(kernel.groups, block_size);
  const char* const name = SelectSurvivors::name;
  const SortEntry* sorted = sort_groups(MakeQuality{kernel}, kernel.groups, a, b, stream, name);
  mark_survivors<<<grid, block_size, 0, stream>>>(kernel, sorted, survives);
  check_launch(name);
  sorted = sort_groups(MakeParts{kernel, survives}, kernel.groups, a, b, stream, name);
  exchange_places<<<grid, block_size, 0, stream>>>(kernel, sorted);
  check_launch(name);
}

}  // namespace

template <>
void launch(const SelectSurvivors& kernel, Queue& queue) {
  if (kernel.groups.groups <= 0 || kernel.groups.size <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  if (kernel.groups.size > SelectSurvivors::block_points) return select_large(kernel, stream);
  int threads = warp_size;
  while (threads < kernel.groups.size) threads *= 2;
  select_small<<<static_cast<unsigned>(kernel.groups.groups), threads, 0, stream>>>(kernel);
  check_launch(SelectSurvivors::name);
}

}  // namespace kiln::cuda
