// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/rows/gather_rows.hpp"

#include <gtest/gtest.h>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "row_data.hpp"

// Copies.
KILN_CONFORMANCE_CASE(GatherRows, exact)

namespace kiln::test::gather_rows_test {
namespace {

struct Gathered {
  std::vector<unsigned char> bytes;
  std::int64_t missing = 0;
  bool operator==(const Gathered&) const = default;
};

struct Table {
  std::int64_t rows = 1, columns = 1, gap = 0;  ///< bytes
  std::vector<unsigned char> bytes = {};
};

Table make_table(std::int64_t rows, std::int64_t columns, std::int64_t gap) {
  TestRandom random(static_cast<std::uint64_t>(rows + 7 * columns + gap));
  Table table{rows, columns, gap, {}};
  for (std::int64_t i = 0; i < rows * (columns + gap); ++i) {
    table.bytes.push_back(static_cast<unsigned char>(random.word()));
  }
  return table;
}

Gathered gather(Queue& queue, const Table& table, const std::vector<std::int64_t>& ids) {
  const DeviceArray<unsigned char> from(queue, table.bytes);
  const DeviceArray<std::int64_t> id(queue, ids);
  const auto n = static_cast<std::int64_t>(ids.size());
  DeviceArray<unsigned char> to(queue, std::vector<unsigned char>(idx(n * table.columns), 99));
  DeviceArray<std::int64_t> missing(queue, std::vector<std::int64_t>{1000});
  GatherRows kernel;
  kernel.table = GatherRows::bytes_of_rows(View2<const unsigned char>{
      from.data(), table.rows, table.columns, table.columns + table.gap});
  kernel.id = id.view();
  kernel.result =
      GatherRows::bytes_of_rows(View2<unsigned char>{to.data(), n, table.columns, table.columns});
  kernel.missing = missing.data();
  queue.launch(kernel);
  return {to.download(), missing.download().front() - 1000};
}

class GatherRowsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(GatherRowsKernel);

TEST_P(GatherRowsKernel, CopiesRowsOfEachWidth) {
  TestRandom random(1);
  for (const std::int64_t columns : {1, 3, 4, 8, 15, 16, 24, 32, 100, 512, 2048, 5000, 100000}) {
    for (const std::int64_t gap : {0, 1, 16}) {
      const std::int64_t rows = 20;
      const Table table = make_table(rows, columns, gap);
      std::vector<std::int64_t> ids;
      for (int i = 0; i < 50; ++i) ids.push_back(random.between(-3, rows + 2));
      std::vector<unsigned char> expected;
      std::int64_t missing = 0;
      for (const std::int64_t id : ids) {
        const bool is_row = id >= 0 && id < rows;
        missing += is_row ? 0 : 1;
        for (std::int64_t c = 0; c < columns; ++c) {
          expected.push_back(is_row ? table.bytes[idx(id * (columns + gap) + c)]
                                    : static_cast<unsigned char>(0));
        }
      }
      EXPECT_TRUE(gather(queue(), table, ids) == (Gathered{expected, missing}))
          << columns << " bytes, gap " << gap;
    }
  }
}

TEST_P(GatherRowsKernel, KnowsIdsBeyondThirtyTwoBits) {
  const Table table = make_table(2, 16, 0);
  constexpr std::int64_t far = std::int64_t{1} << 32;
  const Gathered gathered = gather(queue(), table, {far, far + 1, -far, 1});
  EXPECT_EQ(gathered.missing, 3);
  EXPECT_EQ(std::vector<unsigned char>(gathered.bytes.begin() + 48, gathered.bytes.end()),
            std::vector<unsigned char>(table.bytes.begin() + 16, table.bytes.end()));
  EXPECT_EQ(std::vector<unsigned char>(gathered.bytes.begin(), gathered.bytes.begin() + 48),
            std::vector<unsigned char>(48, 0));
}

TEST_P(GatherRowsKernel, TakesNothingOutOfNothing) {
  EXPECT_TRUE(gather(queue(), make_table(3, 8, 0), {}).bytes.empty());
  const Gathered none = gather(queue(), Table{0, 4, 0, {}}, {0, 1});
  EXPECT_EQ(none.missing, 2);
  EXPECT_EQ(none.bytes, std::vector<unsigned char>(8, 0));
}

}  // namespace
}  // namespace kiln::test::gather_rows_test
