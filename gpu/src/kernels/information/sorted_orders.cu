// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/sorted_orders.hpp"

#include "kernels/grid.cuh"
#include "kernels/information/sort_pairs.cuh"

namespace kiln::cuda {
namespace {

// Keys of which unsigned order is that of the doubles.
struct RowKeys {
  static constexpr const char* name = SortedOrders::name;

  const double* values = nullptr;
  std::uint64_t* keys = nullptr;
  std::int32_t* places = nullptr;

  __device__ void operator()(std::int64_t i) const {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const double value = values[i] == 0 ? 0.0 : values[i];  // -0 is 0
    const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
    keys[i] = (bits & sign) != 0 ? ~bits : bits | sign;
    places[i] = static_cast<std::int32_t>(i);
  }
};

}  // namespace

template <>
void launch(const SortedOrders& kernel, Queue& queue) {
  const std::int64_t n = kernel.values.columns;
  if (n == 0) return;
  const SortRoom room(kernel.room, n);
  for (std::int64_t row = 0; row < kernel.values.rows; ++row) {
    launch_for_each(RowKeys{&kernel.values(row, 0), room.keys, room.places}, n, queue);
    sort_pairs(room, n, 64, &kernel.order(row, 0), queue);
  }
}

}  // namespace kiln::cuda
