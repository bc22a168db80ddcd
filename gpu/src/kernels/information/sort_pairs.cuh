// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/queue.hpp"

namespace kiln::cuda {

/// The parts of a SortedOrders::room_bytes(n) for one sort of n numbers.
struct SortRoom {
  std::uint64_t* keys = nullptr;         // [n], to be filled
  std::uint64_t* sorted_keys = nullptr;  // [n]
  std::int32_t* places = nullptr;        // [n], to be filled
  void* rest = nullptr;
  std::size_t rest_bytes = 0;

  SortRoom(View1<std::uint8_t> room, std::int64_t n);
};

/// Enqueues a stable sort by the lowest `bits` bits of the keys; the places go to `sorted`.
/// @throws InvalidArgument if there is too little room.
void sort_pairs(const SortRoom& room, std::int64_t n, int bits, std::int32_t* sorted, Queue& queue);

}  // namespace kiln::cuda
