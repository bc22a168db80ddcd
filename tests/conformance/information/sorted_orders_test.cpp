// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/sorted_orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Comparisons.
KILN_CONFORMANCE_CASE(SortedOrders, exact)

namespace kiln::test::sorted_orders_test {
namespace {

using Rows = std::vector<std::vector<double>>;
using Order = std::vector<std::int32_t>;

std::vector<Order> run(Queue& queue, const Rows& rows) {
  const std::int64_t n = std::ssize(rows.front()), count = std::ssize(rows);
  std::vector<double> values;
  for (const std::vector<double>& row : rows) values.insert(values.end(), row.begin(), row.end());
  const DeviceArray<double> device(queue, values);
  DeviceArray<std::int32_t> order(queue, Order(idx(count * n), -1));
  DeviceArray<std::uint8_t> room(queue, SortedOrders::room_bytes(n));
  queue.launch(
      SortedOrders{{device.data(), count, n, n}, {order.data(), count, n, n}, room.view()});
  const Order all = order.download();
  std::vector<Order> orders;
  for (std::int64_t r = 0; r < count; ++r) {
    orders.emplace_back(all.begin() + r * n, all.begin() + (r + 1) * n);
  }
  return orders;
}

Order by_definition(const std::vector<double>& row) {
  Order order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) {  //
    return row[idx(a)] < row[idx(b)];
  });
  return order;
}

// Of each magnitude and sign that a double can have, or few values many times.
std::vector<double> random_row(std::int64_t n, bool few, TestRandom& random) {
  std::vector<double> row;
  for (std::int64_t i = 0; i < n; ++i) {
    double value = static_cast<double>(random.between(-4, 4));
    if (few) {
      if (value == 0 && random.between(0, 1) == 0) value = -0.0;
    } else {
      value = std::bit_cast<double>(random.word());
      if (value != value) value = random.unit();
    }
    row.push_back(value);
  }
  return row;
}

class SortedOrdersKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SortedOrdersKernel);

TEST_P(SortedOrdersKernel, SortsEveryRow) {
  TestRandom random(1);
  for (const std::int64_t n : {1, 2, 3, 31, 32, 33, 255, 257, 1000, 4097, 50000}) {
    Rows rows;
    for (const bool few : {false, true, false}) rows.push_back(random_row(n, few, random));
    const std::vector<Order> orders = run(queue(), rows);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_EQ(orders[r], by_definition(rows[r])) << n << " numbers, row " << r;
    }
  }
}

TEST_P(SortedOrdersKernel, LeavesEqualValuesInTheirOrder) {
  const double inf = std::numeric_limits<double>::infinity();
  const double least = std::numeric_limits<double>::denorm_min();
  const Rows rows{{0.0, -0.0, 0.0, -0.0, -1, -0.0, 0.0, 1},
                  {inf, 5, -inf, 5, inf, -inf, 5, 5},
                  {least, 0.0, -least, -0.0, least, 0.0, -least, 1e308}};
  const std::vector<Order> expected{
      {4, 0, 1, 2, 3, 5, 6, 7}, {2, 5, 1, 3, 6, 7, 0, 4}, {2, 6, 1, 3, 5, 0, 4, 7}};
  EXPECT_EQ(run(queue(), rows), expected);
}

TEST_P(SortedOrdersKernel, MatchesCpu) {
  TestRandom random(2);
  for (const std::int64_t n : {1, 4097, 1000003}) {
    const Rows rows{random_row(n, false, random), random_row(n, true, random)};
    EXPECT_TRUE(run(queue(), rows) == run(cpu_queue(), rows)) << n << " numbers";
  }
}

}  // namespace
}  // namespace kiln::test::sorted_orders_test
