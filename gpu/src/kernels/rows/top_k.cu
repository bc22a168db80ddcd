// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "kiln/errors.hpp"
#include "kiln/kernels/rows/top_k.hpp"

#include "kernels/grid.cuh"
#include "kernels/rows/top_k_select.cuh"
#include "kernels/rows/top_k_tree.cuh"

namespace kiln::cuda {
namespace {

// Keys of which ascending order is that of the results, for a sort of a whole row.
struct DescendingKeys {
  static constexpr const char* name = TopK::name;
  Elements value;
  std::int64_t row = 0;
  std::uint64_t* keys = nullptr;
  std::int64_t* columns = nullptr;

  __device__ void operator()(std::int64_t i) const {
    keys[i] = ~TopK::key_of(value(row, i));
    columns[i] = i;
  }
};

struct PutSorted {
  static constexpr const char* name = TopK::name;
  TopK kernel;
  std::int64_t row = 0;
  const std::int64_t* columns = nullptr;

  __device__ void operator()(std::int64_t i) const {
    kernel.put(row, i, i < kernel.value.columns ? columns[i] : TopK::no_column);
  }
};

[[noreturn]] void refuse_room() {
  throw InvalidArgument("kernel.room", "a selection on the GPU has too little room");
}

void sort_rows(const TopK& kernel, Queue& queue) {
  const std::int64_t n = kernel.value.columns;
  const std::int64_t part = (8 * n + 255) / 256 * 256;
  if (kernel.room.size < 4 * part) refuse_room();
  std::byte* const room = kernel.room.data;
  const auto keys_at = [&](int i) { return reinterpret_cast<std::uint64_t*>(room + i * part); };
  const auto columns_at = [&](int i) {
    return reinterpret_cast<std::int64_t*>(room + (2 + i) * part);
  };
  for (std::int64_t row = 0; row < kernel.value.rows; ++row) {
    cub::DoubleBuffer<std::uint64_t> keys(keys_at(0), keys_at(1));
    cub::DoubleBuffer<std::int64_t> columns(columns_at(0), columns_at(1));
    launch_for_each(DescendingKeys{kernel.value, row, keys.Current(), columns.Current()}, n, queue);
    std::size_t needed = 0;
    const auto sort = [&](void* rest) {
      cuda_check(
          cub::DeviceRadixSort::SortPairs(rest, needed, keys, columns, n, 0, 64, stream_of(queue)),
          "sort");
    };
    sort(nullptr);
    if (static_cast<std::int64_t>(needed) > kernel.room.size - 4 * part) refuse_room();
    sort(room + 4 * part);
    launch_for_each(PutSorted{kernel, row, columns.Current()}, kernel.k(), queue);
  }
}

template <class T>
void select_rows(const TopK& kernel, Queue& queue) {
  if (kernel.room.size < TopK::room_bytes(kernel.value.rows, kernel.value.columns, kernel.k())) {
    refuse_room();
  }
  reserve_shared(queue, sort_candidates, sort_bytes(TopK::sorted_at_once), TopK::name);
  const cudaStream_t stream = stream_of(queue);
  const std::int64_t filling = std::int64_t{4} * limits_of(queue).multiprocessors;
  for (std::int64_t first = 0; first < kernel.value.rows; first += TopK::rows_at_once) {
    const std::int64_t rows = std::min(TopK::rows_at_once, kernel.value.rows - first);
    const SelectionPass pass{kernel, first};
    const std::int64_t wanted = (kernel.value.columns + select_tile - 1) / select_tile;
    const dim3 grid(static_cast<unsigned>(std::clamp<std::int64_t>(
                        std::min(wanted, (filling + rows - 1) / rows), 1, 1 << 16)),
                    static_cast<unsigned>(rows));
    begin_selection<<<static_cast<unsigned>(rows), block_size, 0, stream>>>(pass);
    check_launch(TopK::name);
    for (int digit = 0; digit < select_digits; ++digit) {
      count_digits<T><<<grid, block_size, 0, stream>>>(pass, digit);
      check_launch(TopK::name);
    }
    collect_candidates<T><<<grid, block_size, 0, stream>>>(pass);
    check_launch(TopK::name);
    sort_candidates<<<static_cast<unsigned>(rows), sort_threads, sort_bytes(TopK::sorted_at_once),
                      stream>>>(pass);
    check_launch(TopK::name);
  }
}

void sort_short_rows(const TopK& kernel, Queue& queue) {
  const auto places = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(2, kernel.value.columns))));
  const std::size_t bytes = sort_bytes(places);
  reserve_shared(queue, sort_whole_rows, sort_bytes(TopK::sorted_at_once), TopK::name);
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>(kernel.value.rows, std::int64_t{1} << 30));
  const auto threads =
      static_cast<unsigned>(std::clamp<std::int64_t>(places / 2, warp_size, sort_threads));
  sort_whole_rows<<<blocks, threads, bytes, stream_of(queue)>>>(kernel, static_cast<int>(places));
  check_launch(TopK::name);
}

template <class T>
void select_by_type(const TopK& kernel, Queue& queue) {
  const std::int64_t columns = kernel.value.columns;
  const bool is_short = columns <= TopK::sorted_at_once;
  if (!is_short && kernel.k() > TopK::max_in_tree) return select_rows<T>(kernel, queue);
  if (kernel.room.size < TopK::room_bytes(kernel.value.rows, columns, kernel.k())) refuse_room();
  select_in_rows<T>(
      kernel, limits_of(queue).multiprocessors, stream_of(queue),
      [&](auto* function, std::size_t bytes) {
        reserve_shared(queue, function, bytes, TopK::name);
      },
      [] { check_launch(TopK::name); });
}

}  // namespace

template <>
void launch(const TopK& kernel, Queue& queue) {
  if (!kernel.valid()) throw InvalidArgument("kernel.top_k", TopK::refusal);
  if (kernel.value.rows <= 0 || kernel.k() <= 0) return;
  const std::int64_t columns = kernel.value.columns;
  if (columns <= TopK::sorted_at_once) {
    // A block has memory for few candidates and the keys, or for all values as candidates.
    if (TopK::capacity(columns, kernel.k()) > max_candidates) return sort_short_rows(kernel, queue);
  } else if (kernel.k() > TopK::max_selected) {
    return sort_rows(kernel, queue);
  }
  if (kernel.value.type == ElementType::float64) return select_by_type<double>(kernel, queue);
  select_by_type<float>(kernel, queue);
}

}  // namespace kiln::cuda
