// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/factor_append.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Sums in an order of the backend's own, amplified by the condition of a matrix.
KILN_CONFORMANCE_CASE(FactorAppend, reordered)

namespace kiln::test::factor_append_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double untouched = 4711;

// Matrices of `capacity` rows, and how many of them are factored and how many follow.
struct Growth {
  std::int64_t items = 1, capacity = 1, added = 1;
  std::vector<std::int32_t> counts;  ///< [items]
  std::vector<double> matrix;        ///< [items][capacity][capacity]

  std::int64_t at(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return (item * capacity + i) * capacity + j;
  }
};

struct Grown {
  std::vector<double> factor;
  std::vector<FactorStatus> status;
};

// Smooth covariances of points at random places, with 1 / 100 on the diagonal.
Growth make_growth(std::int64_t items, std::int64_t capacity, std::int64_t added,
                   std::vector<std::int32_t> counts) {
  Growth in{items, capacity, added, std::move(counts), {}};
  in.matrix.assign(idx(items * capacity * capacity), nan);
  TestRandom random(idx(capacity + added));
  for (std::int64_t item = 0; item < items; ++item) {
    std::vector<double> x;
    for (std::int64_t i = 0; i < capacity; ++i) x.push_back(10 * random.unit());
    for (std::int64_t i = 0; i < capacity; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        const double d = x[idx(i)] - x[idx(j)];
        in.matrix[idx(in.at(item, i, j))] = std::exp(-d * d) + (i == j ? 0.01 : 0);
      }
    }
  }
  return in;
}

// The factors of the first counts[item] rows of all matrices, the rest untouched.
std::vector<double> factored(Queue& queue, const Growth& in,
                             const std::vector<std::int32_t>& counts) {
  std::vector<double> all(in.matrix.size(), untouched);
  for (std::int64_t item = 0; item < in.items; ++item) {
    const std::int64_t m = counts[idx(item)];
    const std::size_t first = idx(in.at(item, 0, 0));
    DeviceArray<double> matrix(queue, in.matrix), out(queue, all);
    BatchedCholesky kernel;
    kernel.matrix = {matrix.data() + first, 1, m, m, in.capacity, 0};
    kernel.factor = {out.data() + first, 1, m, m, in.capacity, 0};
    queue.launch(kernel);
    all = out.download();
  }
  return all;
}

Grown append(Queue& queue, const Growth& in, const std::vector<double>& before,
             const RunControl& state = {}) {
  // New rows of items lie where their matrices have them, so each has an array of its own.
  const std::int64_t wide = in.capacity;
  std::vector<double> new_rows(idx(in.items * in.added * wide), nan);
  for (std::int64_t item = 0; item < in.items; ++item) {
    for (std::int64_t r = 0; r < in.added; ++r) {
      const std::int64_t row = in.counts[idx(item)] + r;
      for (std::int64_t j = 0; row < in.capacity && j <= row; ++j) {
        new_rows[idx((item * in.added + r) * wide + j)] = in.matrix[idx(in.at(item, row, j))];
      }
    }
  }
  DeviceArray<double> factor(queue, before);
  const DeviceArray<double> rows(queue, new_rows);
  const DeviceArray<std::int32_t> counts(queue, in.counts);
  DeviceArray<FactorStatus> status(
      queue, std::vector<FactorStatus>(idx(in.items), FactorStatus::jittered));
  const auto control = upload_control(queue, state);
  FactorAppend kernel;
  kernel.factor = MatrixBatch<double>::dense(factor.data(), in.items, in.capacity, in.capacity);
  kernel.counts = counts.view();
  kernel.rows = MatrixBatch<const double>::dense(rows.data(), in.items, in.added, wide);
  kernel.status = status.view();
  kernel.control = control.data();
  queue.launch(kernel);
  return {factor.download(), status.download()};
}

class FactorAppendKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(FactorAppendKernel);

TEST_P(FactorAppendKernel, AppendsByHand) {
  // The matrix (4, 2, -6; 2, 10, 9; -6, 9, 35) from its first row on.
  const Growth in{1, 3, 2, {1}, {4, nan, nan, 2, 10, nan, -6, 9, 35}};
  const Grown out = append(queue(), in, {2, untouched, untouched, 0, 0, untouched, 0, 0, 0});
  const std::vector<double> wanted{2,  untouched, untouched,      1, 3, untouched,
                                   -3, 4,         std::sqrt(10.0)};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(out.factor[i], wanted[i], 1e-14) << i;
  EXPECT_EQ(out.status, std::vector<FactorStatus>{FactorStatus::ok});
}

TEST_P(FactorAppendKernel, MakesTheFactorOfTheWholeMatrix) {
  for (const std::int64_t added : {1, 3, 16, 20, 65}) {
    const std::vector<std::int32_t> counts{0, 1, 15, 16, 17, 40, 130};
    Growth in = make_growth(7, 200, added, counts);
    const Grown out = append(queue(), in, factored(cpu_queue(), in, counts));
    std::vector<std::int32_t> all = counts;
    for (std::int32_t& m : all) m += static_cast<std::int32_t>(added);
    const std::vector<double> wanted = factored(cpu_queue(), in, all);
    for (std::int64_t item = 0; item < in.items; ++item) {
      EXPECT_EQ(out.status[idx(item)], FactorStatus::ok);
      for (std::int64_t i = 0; i < in.capacity; ++i) {
        for (std::int64_t j = 0; j <= i; ++j) {
          const std::size_t e = idx(in.at(item, i, j));
          ASSERT_NEAR(out.factor[e], wanted[e], 1e-10) << added << ": " << item << ", " << i;
        }
      }
    }
  }
}

TEST_P(FactorAppendKernel, LeavesNoNumbersWhereAPivotIsNotPositive) {
  const std::vector<std::int32_t> counts{30, 30, 30, 30};
  Growth in = make_growth(4, 40, 5, counts);
  in.matrix[idx(in.at(1, 32, 32))] = 0.001;
  // A row again, up to rounding: the pivot is what is left of 0.
  for (std::int64_t j = 0; j <= 33; ++j) {
    const std::int64_t i = 7;
    in.matrix[idx(in.at(2, 33, j))] = in.matrix[idx(j <= i ? in.at(2, i, j) : in.at(2, j, i))];
  }
  in.matrix[idx(in.at(2, 33, 33))] = in.matrix[idx(in.at(2, 7, 7))];
  in.matrix[idx(in.at(3, 31, 4))] = nan;
  const std::vector<double> before = factored(cpu_queue(), in, counts);
  const Grown out = append(queue(), in, before);
  EXPECT_EQ(out.status,
            (std::vector<FactorStatus>{FactorStatus::ok, FactorStatus::indefinite,
                                       FactorStatus::indefinite, FactorStatus::not_finite}));
  const std::int64_t good[] = {35, 32, 33, 31};
  for (std::int64_t item = 0; item < 4; ++item) {
    for (std::int64_t i = 0; i < 40; ++i) {
      for (std::int64_t j = 0; j < 40; ++j) {
        const double value = out.factor[idx(in.at(item, i, j))];
        if (i < 30 || i >= 35 || j > i) {
          ASSERT_EQ(value, before[idx(in.at(item, i, j))]) << item << ", " << i << ", " << j;
        } else {
          ASSERT_EQ(std::isnan(value), i >= good[item]) << item << ", " << i << ", " << j;
        }
      }
    }
  }
}

TEST_P(FactorAppendKernel, LeavesAnItemWithoutRoomAlone) {
  const std::vector<std::int32_t> counts{18, 17};
  const Growth in = make_growth(2, 20, 3, counts);
  const std::vector<double> before = factored(cpu_queue(), in, counts);
  const Grown out = append(queue(), in, before);
  EXPECT_EQ(out.status, (std::vector<FactorStatus>{FactorStatus::indefinite, FactorStatus::ok}));
  EXPECT_EQ(bits_of({out.factor.begin(), out.factor.begin() + 400}),
            bits_of({before.begin(), before.begin() + 400}));
}

TEST_P(FactorAppendKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Growth in = make_growth(1, 6, 2, {3});
  const std::vector<double> before = factored(cpu_queue(), in, in.counts);
  const Grown out = append(queue(), in, before, stopped);
  EXPECT_EQ(bits_of(out.factor), bits_of(before));
  EXPECT_EQ(out.status, std::vector<FactorStatus>{FactorStatus::jittered});
}

}  // namespace
}  // namespace kiln::test::factor_append_test
