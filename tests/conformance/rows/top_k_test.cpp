// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/top_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "row_data.hpp"

// Comparisons.
KILN_CONFORMANCE_CASE(TopK, exact)

namespace kiln::test::top_k_test {
namespace {

struct Best {
  std::vector<double> value;
  std::vector<std::int64_t> column;
  bool operator==(const Best& other) const {
    return bits_of(value) == bits_of(other.value) && column == other.column;
  }
};

Best select(Queue& queue, const Rows& rows, std::int64_t k, bool single = false,
            std::int64_t rows_apart = 0, std::int64_t step = 1) {
  const DeviceArray<double> value(queue, rows.values);
  const std::vector<float> rounded(rows.values.begin(), rows.values.end());
  const DeviceArray<float> value_single(queue, rounded);
  DeviceArray<double> largest(queue, std::vector<double>(idx(rows.rows * k), 4711));
  DeviceArray<std::int64_t> column(queue, std::vector<std::int64_t>(idx(rows.rows * k), 4711));
  DeviceArray<std::byte> room(queue, TopK::room_bytes(rows.rows, rows.columns, k));
  TopK kernel;
  kernel.value = View2<const double>{value.data(), rows.rows, rows.columns, rows.stride()};
  if (single) {
    kernel.value = View2<const float>{value_single.data(), rows.rows, rows.columns, rows.stride()};
  }
  kernel.value.step = step;
  kernel.largest = {largest.data(), rows.rows, k, k};
  kernel.column = {column.data(), rows.rows, k, k};
  kernel.rows_apart = rows_apart;
  kernel.room = room.view();
  queue.launch(kernel);
  return {largest.download(), column.download()};
}

// By a stable sort. @param late  a planted mistake: of equal values the later one first
Best by_definition(const Rows& rows, std::int64_t k, bool late = false) {
  Best best;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    std::vector<std::int64_t> order(idx(rows.columns));
    std::iota(order.begin(), order.end(), 0);
    if (late) std::ranges::reverse(order);
    std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
      const double x = rows(r, a), y = rows(r, b);
      return std::isnan(y) ? !std::isnan(x) : x > y;
    });
    for (std::int64_t i = 0; i < k; ++i) {
      best.column.push_back(i < rows.columns ? order[idx(i)] : TopK::no_column);
      best.value.push_back(i < rows.columns ? rows(r, order[idx(i)]) : row_nan);
    }
  }
  return best;
}

enum class Kind { spread, normal, few, equal };

Rows draw_rows(std::int64_t count, std::int64_t columns, Kind kind, TestRandom& random) {
  return make_rows(count, columns, 1, [&]() -> double {
    if (kind == Kind::spread) {
      const double any = std::bit_cast<double>(random.word());
      return std::isnan(any) ? row_nan : any;
    }
    if (kind == Kind::normal) return random.unit() + random.unit() - random.unit() - random.unit();
    if (kind == Kind::equal) return 0.25;
    const auto level = static_cast<double>(random.between(-3, 3));
    return level == 3 ? row_nan : level == 0 && random.between(0, 1) == 0 ? -0.0 : level;
  });
}

class TopKKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(TopKKernel);

TEST_P(TopKKernel, IsTheBeginOfAStableSort) {
  TestRandom random(1);
  bool late_differs = false;
  for (const std::int64_t columns : {1, 2, 31, 257, 1000, 4096, 4097, 20000, 150000}) {
    for (const Kind kind : {Kind::spread, Kind::normal, Kind::few, Kind::equal}) {
      const Rows rows = draw_rows(3, columns, kind, random);
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, columns / 3 + 1, columns}) {
        if (k > columns) continue;
        const Best expected = by_definition(rows, k);
        ASSERT_TRUE(select(queue(), rows, k) == expected)
            << columns << " columns, k " << k << ", kind " << static_cast<int>(kind);
        late_differs |= !(by_definition(rows, k, true) == expected);
      }
    }
  }
  EXPECT_TRUE(late_differs);
}

TEST_P(TopKKernel, SelectsInManyRowsAtOnce) {
  TestRandom random(2);
  const Rows rows = draw_rows(150, 5000, Kind::few, random);
  EXPECT_TRUE(select(queue(), rows, 100) == by_definition(rows, 100));
  EXPECT_TRUE(select(queue(), rows, 2048) == by_definition(rows, 2048));
}

// Numbers of which a selection by digits, by groups of neighbours or by tiles has the most to do.
double awkward(int kind, std::int64_t i, TestRandom& random) {
  switch (kind) {
    case 0:
      return row_nan;
    case 1:
      return static_cast<double>(i);  // ascending
    case 2:
      return -static_cast<double>(i);
    case 3:  // values that differ in the last bit
      return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) + (random.word() & 3));
    case 4:
      return static_cast<double>(random.between(-1000, 1000)) * 5e-324;
    case 5:
      return i % 32 == 0 ? 5 : 1;  // one in each group
    case 6:
      return i % 1024 == 1023 || i % 1024 == 0 ? 7 : random.unit();
    case 7:
      return i % 4096 >= 4000 ? 7 : random.unit();
    case 8:
      return random.between(0, 999) == 0 ? row_infinity : random.unit() - 0.5;
    default:
      return random.between(0, 1) == 0 ? 1 : 2;
  }
}

TEST_P(TopKKernel, SelectsAmongAwkwardNumbers) {
  TestRandom random(3);
  for (int kind = 0; kind < 10; ++kind) {
    for (const std::int64_t columns : {100, 2000, 4096, 5000, 33000, 270000}) {
      std::int64_t i = 0;
      const Rows rows =
          make_rows(2, columns, 0, [&] { return awkward(kind, i++ % columns, random); });
      for (const std::int64_t k : {2, 50, 128, 192, 193}) {
        if (k > columns) continue;
        ASSERT_TRUE(select(queue(), rows, k) == by_definition(rows, k))
            << columns << " columns, k " << k << ", kind " << kind;
      }
    }
  }
}

TEST_P(TopKKernel, SelectsAroundTheBordersOfGroups) {
  TestRandom random(4);
  for (const std::int64_t border : {32, 64, 128, 256, 512, 1024, 4096, 5120, 262144}) {
    for (const std::int64_t columns : {border - 1, border, border + 1}) {
      const Rows rows = draw_rows(2, columns, Kind::few, random);
      for (const std::int64_t k : {1, 31, 64, 65, 192}) {
        EXPECT_TRUE(select(queue(), rows, k) == by_definition(rows, k))
            << columns << " columns, k " << k;
      }
    }
  }
  // As many candidates as a block has room for, and one more.
  const Rows whole = draw_rows(2, 4096, Kind::few, random);
  for (const std::int64_t k : {1587, 1588, 2048, 4095}) {
    EXPECT_TRUE(select(queue(), whole, k) == by_definition(whole, k)) << k;
  }
}

TEST_P(TopKKernel, SelectsInMoreRowsThanHaveATreeAtOnce) {
  TestRandom random(5);
  const std::int64_t columns = 300000, at_once = TopK::tree_rows(columns);
  const Rows rows = draw_rows(at_once + 1, columns, Kind::normal, random);
  const Best all = select(queue(), rows, 3);
  const auto begin = rows.values.begin() + at_once * rows.stride();
  const Rows last{1, columns, 0, {begin, begin + columns}};
  const Best of_last = by_definition(last, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t place = idx(at_once * 3) + i;
    EXPECT_EQ(all.column[place], of_last.column[i]);
    EXPECT_EQ(all.value[place], of_last.value[i]);
  }
}

TEST_P(TopKKernel, ReadsColumnsOfAMatrix) {
  for (const std::int64_t columns : {300, 4096, 9000}) {
    const Rows apart = normal_rows(2, columns * 3, 0, 6);
    Rows picked{2, columns, 0, {}};
    for (std::size_t i = 0; i < apart.values.size(); i += 3) {
      picked.values.push_back(apart.values[i]);
    }
    Rows strided = apart;  // columns with a step of 3: the gap is what the other two take
    strided.columns = columns;
    strided.gap = 2 * columns;
    for (const std::int64_t k : {5, 100}) {
      EXPECT_TRUE(select(queue(), strided, k, false, 0, 3) == by_definition(picked, k))
          << columns << " columns, k " << k;
    }
  }
}

TEST_P(TopKKernel, PutsNaNLastAndTiesFirst) {
  const Rows rows{1, 8, 0, {row_nan, -0.0, 0.0, -row_infinity, row_infinity, row_nan, 0.0, 5}};
  const Best best = select(queue(), rows, 10);
  EXPECT_EQ(best.column, (std::vector<std::int64_t>{4, 7, 1, 2, 6, 3, 0, 5, -1, -1}));
  EXPECT_EQ(bits_of(best.value), bits_of({row_infinity, 5, -0.0, 0.0, 0.0, -row_infinity, row_nan,
                                          row_nan, row_nan, row_nan}));
}

TEST_P(TopKKernel, CountsColumnsThroughAllRows) {
  const Rows rows{3, 2, 0, {1, 2, 4, 3, 5, 6}};
  EXPECT_EQ(select(queue(), rows, 3, false, 10).column,
            (std::vector<std::int64_t>{1, 0, -1, 10, 11, -1, 21, 20, -1}));
  const Rows longer = normal_rows(2, 5000, 0, 7);
  std::vector<std::int64_t> expected = by_definition(longer, 7).column;
  for (std::size_t i = 7; i < 14; ++i) expected[i] += 5000;
  EXPECT_EQ(select(queue(), longer, 7, false, 5000).column, expected);
}

TEST_P(TopKKernel, TakesNothing) {
  EXPECT_TRUE(select(queue(), normal_rows(2, 5, 0, 1), 0).column.empty());
  EXPECT_EQ(select(queue(), Rows{2, 0, 1, {1, 2}}, 1).column, (std::vector<std::int64_t>{-1, -1}));
}

TEST_P(TopKKernel, MatchesCpu) {
  for (const std::int64_t columns : {100, 4097, 300000}) {
    const Rows rows = normal_rows(2, columns, 0, 5);
    for (const bool single : {false, true}) {
      for (const std::int64_t k : {1, 64, 100}) {
        EXPECT_TRUE(select(queue(), rows, k, single) == select(cpu_queue(), rows, k, single));
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test::top_k_test
