// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_radix_sort.cuh>

#include "kiln/errors.hpp"

#include "kernels/grid.cuh"
#include "sort_pairs.cuh"

namespace kiln::cuda {

SortRoom::SortRoom(View1<std::uint8_t> room, std::int64_t n) {
  // Each part begins at a multiple of 256 bytes.
  const auto part_of = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
  const std::int64_t key_bytes = part_of(8 * n), place_bytes = part_of(4 * n);
  const std::int64_t used = 2 * key_bytes + place_bytes;
  if (room.size < used) {
    throw InvalidArgument("kernel.room", "a sort on the GPU has too little room");
  }
  keys = reinterpret_cast<std::uint64_t*>(room.data);
  sorted_keys = reinterpret_cast<std::uint64_t*>(room.data + key_bytes);
  places = reinterpret_cast<std::int32_t*>(room.data + 2 * key_bytes);
  rest = room.data + used;
  rest_bytes = static_cast<std::size_t>(room.size - used);
}

void sort_pairs(const SortRoom& room, std::int64_t n, int bits, std::int32_t* sorted,
                Queue& queue) {
  std::size_t needed = 0;
  const auto sort = [&](void* rest) {
    cuda_check(cub::DeviceRadixSort::SortPairs(rest, needed, room.keys, room.sorted_keys,
                                               room.places, sorted, n, 0, bits, stream_of(queue)),
               "sort");
  };
  sort(nullptr);
  if (needed > room.rest_bytes) {
    throw InvalidArgument("kernel.room", "a sort on the GPU has too little room");
  }
  sort(room.rest);
}

}  // namespace kiln::cuda
