// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "kiln/kernels/information/surrogates.hpp"

#include "kernels/grid.cuh"
#include "kernels/information/sort_pairs.cuh"

namespace kiln::cuda {
namespace {

// Keys of some surrogates, one after the other: sorted together, each stays in its own range.
struct PermutationKeys {
  static constexpr const char* name = Surrogates::name;

  Surrogates kernel;
  std::int64_t first = 0;
  std::uint64_t* keys = nullptr;
  std::int32_t* places = nullptr;

  __device__ void operator()(std::int64_t i) const {
    const std::int64_t n = kernel.places.columns, row = i / n, place = i % n;
    keys[i] =
        (static_cast<std::uint64_t>(row) << Surrogates::key_bits) | kernel.key(first + row, place);
    places[i] = static_cast<std::int32_t>(place);
  }
};

struct Rotations {
  static constexpr const char* name = Surrogates::name;

  Surrogates kernel;

  __device__ void operator()(std::int64_t i) const {
    const std::int64_t n = kernel.places.columns, row = i / n, place = i % n;
    kernel.places(row, place) = kernel.rotated(kernel.shift(row), place);
  }
};

// Surrogates that are sorted at once: as many as there is room for, and keys have bits for.
std::int64_t rows_at_once(const Surrogates& kernel) {
  const std::int64_t n = kernel.places.columns;
  std::int64_t rows = std::min<std::int64_t>(kernel.places.rows, 1 << (64 - Surrogates::key_bits));
  while (rows > 1 && SortedOrders::room_bytes(rows * n) > kernel.room.size) rows = (rows + 1) / 2;
  return rows;
}

}  // namespace

template <>
void launch(const Surrogates& kernel, Queue& queue) {
  const std::int64_t n = kernel.places.columns, rows = kernel.places.rows;
  if (n == 0 || rows == 0) return;
  if (kernel.kind == SurrogateKind::rotation) {
    launch_for_each(Rotations{kernel}, rows * n, queue);
    return;
  }
  const std::int64_t at_once = rows_at_once(kernel);
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows - first);
    const SortRoom room(kernel.room, count * n);
    const int row_bits = std::bit_width(static_cast<std::uint64_t>(count - 1));
    launch_for_each(PermutationKeys{kernel, first, room.keys, room.places}, count * n, queue);
    sort_pairs(room, count * n, Surrogates::key_bits + row_bits, &kernel.places(first, 0), queue);
  }
}

}  // namespace kiln::cuda
