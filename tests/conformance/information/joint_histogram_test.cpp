// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/joint_histogram.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Counts.
KILN_CONFORMANCE_CASE(JointHistogram, exact)

namespace kiln::test::joint_histogram_test {
namespace {

using Counts = std::vector<std::int32_t>;

struct Inputs {
  std::int64_t n = 1, columns = 1, surrogates = 0;
  std::vector<std::uint8_t> codes;  // [column][n]
  std::vector<std::int32_t> surrogate;
  std::vector<JointHistogram::Pair> pairs;
  std::int32_t y_codes = 1, x_codes = 1;

  std::uint8_t code(std::int32_t column, std::int64_t i) const {
    return codes[idx(column * n + i)];
  }
  std::int64_t cells() const { return std::int64_t{y_codes} * x_codes; }
};

// Even columns have codes of y, odd ones of x.
Inputs make_inputs(std::int64_t n, std::int32_t y_codes, std::int32_t x_codes, std::int64_t pairs,
                   std::uint64_t seed) {
  TestRandom random(seed);
  Inputs in;
  in.n = n;
  in.columns = 6;
  in.surrogates = 3;
  in.y_codes = y_codes;
  in.x_codes = x_codes;
  for (std::int64_t c = 0; c < in.columns; ++c) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t code = random.between(0, (c % 2 == 0 ? y_codes : x_codes) - 1);
      in.codes.push_back(static_cast<std::uint8_t>(code));
    }
  }
  for (std::int64_t i = 0; i < in.surrogates * n; ++i) {
    in.surrogate.push_back(static_cast<std::int32_t>(random.between(0, n - 1)));
  }
  for (std::int64_t p = 0; p < pairs; ++p) {
    in.pairs.push_back({static_cast<std::int32_t>(2 * random.between(0, 2)),
                        static_cast<std::int32_t>(2 * random.between(0, 2) + 1),
                        static_cast<std::int32_t>(random.between(-1, 2))});
  }
  return in;
}

Counts run(Queue& queue, const Inputs& in) {
  const std::int64_t pairs = std::ssize(in.pairs), cells = in.cells();
  const DeviceArray<std::uint8_t> codes(queue, in.codes);
  const DeviceArray<std::int32_t> surrogate(queue, in.surrogate);
  const DeviceArray<JointHistogram::Pair> all(queue, in.pairs);
  DeviceArray<std::int32_t> counts(queue, Counts(idx(pairs * cells), -17));
  JointHistogram kernel;
  kernel.codes = {codes.data(), in.columns, in.n, in.n};
  kernel.pairs = all.view();
  kernel.surrogates = {surrogate.data(), in.surrogates, in.n, in.n};
  kernel.y_codes = in.y_codes;
  kernel.x_codes = in.x_codes;
  kernel.counts = {counts.data(), pairs, cells, cells};
  queue.launch(kernel);
  return counts.download();
}

// Cell by cell: a row counts in the cell of its codes.
Counts by_definition(const Inputs& in) {
  Counts all;
  for (const JointHistogram::Pair& pair : in.pairs) {
    std::map<std::pair<int, int>, std::int32_t> seen;
    for (std::int64_t i = 0; i < in.n; ++i) {
      const std::int64_t from =
          pair.surrogate < 0 ? i : in.surrogate[idx(pair.surrogate * in.n + i)];
      ++seen[{in.code(pair.y, i), in.code(pair.x, from)}];
    }
    for (int y = 0; y < in.y_codes; ++y) {
      for (int x = 0; x < in.x_codes; ++x) all.push_back(seen[{y, x}]);
    }
  }
  return all;
}

class JointHistogramKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(JointHistogramKernel);

TEST_P(JointHistogramKernel, CountsEachPairOfCodes) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 255, 257, 1000, 4097}) {
    for (const auto& [y_codes, x_codes] :
         {std::pair{1, 1}, {2, 3}, {7, 1}, {1, 9}, {20, 16}, {96, 128}, {128, 97}, {256, 256}}) {
      const Inputs in = make_inputs(n, y_codes, x_codes, 5, idx(n));
      EXPECT_EQ(run(queue(), in), by_definition(in)) << n << ", " << y_codes << " x " << x_codes;
    }
  }
}

// Every row in one cell: more than one byte counts, and all threads of a GPU at once.
TEST_P(JointHistogramKernel, CountsARowInOneCell) {
  Inputs in = make_inputs(100000, 4, 5, 3, 1);
  in.codes.assign(in.codes.size(), 3);
  Counts expected(60);
  for (const std::size_t pair : {0, 1, 2}) expected[pair * 20 + 3 * 5 + 3] = 100000;
  EXPECT_EQ(run(queue(), in), expected);
}

// More pairs than a GPU has blocks at once.
TEST_P(JointHistogramKernel, TakesManyPairs) {
  const Inputs in = make_inputs(40, 3, 4, 5000, 2);
  EXPECT_EQ(run(queue(), in), by_definition(in));
}

TEST_P(JointHistogramKernel, MatchesCpu) {
  for (const std::int32_t codes : {5, 110, 111, 256}) {  // 110^2 cells are shared, 111^2 not
    const Inputs in = make_inputs(20000, codes, codes, 300, 3);
    EXPECT_TRUE(run(queue(), in) == run(cpu_queue(), in)) << codes;
  }
}

}  // namespace
}  // namespace kiln::test::joint_histogram_test
