// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Sums in an order of the backend's own, amplified by the condition of a matrix.
KILN_CONFORMANCE_CASE(BatchedTriangularSolve, reordered)

namespace kiln::test::batched_triangular_solve_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr TriangularForm all_forms[] = {TriangularForm::forward, TriangularForm::backward,
                                        TriangularForm::both};

struct Systems {
  TriangularForm form = TriangularForm::forward;
  std::int64_t items = 1, n = 1, columns = 1, gap = 0;  ///< gap: values between rows of both
  std::vector<double> factor, right;
  bool in_place = false;

  double l(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return factor[idx((item * n + i) * (n + gap) + j)];
  }
  std::int64_t place(std::int64_t item, std::int64_t i, std::int64_t c) const {
    return (item * n + i) * (columns + gap) + c;
  }
};

std::vector<double> solve(Queue& queue, const Systems& in, const RunControl& state = {}) {
  const DeviceArray<double> factor(queue, in.factor);
  DeviceArray<double> right(queue, in.right);
  DeviceArray<double> out(queue, std::vector<double>(in.right.size(), 4711));
  const auto control = upload_control(queue, state);
  DeviceArray<double>& target = in.in_place ? right : out;
  const std::int64_t n = in.n, wide = n + in.gap, stride = in.columns + in.gap;
  BatchedTriangularSolve kernel;
  kernel.form = in.form;
  kernel.factor = {factor.data(), in.items, n, n, wide, n * wide};
  kernel.right = {right.data(), in.items, n, in.columns, stride, n * stride};
  kernel.solution = {target.data(), in.items, n, in.columns, stride, n * stride};
  kernel.control = control.data();
  queue.launch(kernel);
  return target.download();
}

// Factors with diagonals in [1, 2] and rows that add up to less than 1 beside it, so that solutions
// keep their digits; above the diagonal NaN, which is not to be read.
Systems make_systems(std::int64_t n, std::int64_t columns, std::int64_t items = 1,
                     std::int64_t gap = 0) {
  Systems in;
  in.items = items, in.n = n, in.columns = columns, in.gap = gap;
  in.factor.assign(idx(items * n * (n + gap)), nan);
  TestRandom random(idx(n + columns));
  for (std::int64_t row = 0; row < items * n; ++row) {
    const std::int64_t i = row % n;
    for (std::int64_t j = 0; j <= i; ++j) {
      const double u = random.unit();
      in.factor[idx(row * (n + gap) + j)] = i == j ? 1 + u : (2 * u - 1) / static_cast<double>(n);
    }
  }
  for (std::int64_t i = 0; i < items * n * (columns + gap); ++i) {
    in.right.push_back(2 * random.unit() - 1);
  }
  return in;
}

// L x, L^T x or L L^T x of a column, as sums along rows and columns of L.
std::vector<double> multiplied(const Systems& in, std::int64_t item, std::vector<double> x) {
  const std::int64_t n = in.n;
  const auto product = [&](bool transposed) {
    std::vector<double> y(x.size(), 0);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        const double l = in.l(item, i, j);
        y[idx(transposed ? j : i)] += l * x[idx(transposed ? i : j)];
      }
    }
    x = y;
  };
  if (in.form != TriangularForm::forward) product(true);
  if (in.form != TriangularForm::backward) product(false);
  return x;
}

void expect_solution(const Systems& in, const std::vector<double>& x) {
  for (std::int64_t item = 0; item < in.items; ++item) {
    for (std::int64_t c = 0; c < in.columns + in.gap; ++c) {
      std::vector<double> column;
      for (std::int64_t i = 0; i < in.n; ++i) column.push_back(x[idx(in.place(item, i, c))]);
      const bool gap = c >= in.columns;
      if (!gap) column = multiplied(in, item, column);
      for (std::int64_t i = 0; i < in.n; ++i) {
        const double b = in.right[idx(in.place(item, i, c))];
        ASSERT_NEAR(column[idx(i)], gap && !in.in_place ? 4711 : b, double_tolerance)
            << item << ", " << i << ", " << c;
      }
    }
  }
}

class BatchedTriangularSolveKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BatchedTriangularSolveKernel);

TEST_P(BatchedTriangularSolveKernel, SolvesByHand) {
  Systems in{TriangularForm::forward, 1, 3, 2, 0, {2, nan, nan, 1, 4, nan, -1, 2, 8}, {}, false};
  // L (1, 2, 3) and L (0, 1, 0), then the same for the transpose and the product.
  in.right = {2, 0, 9, 4, 27, 2};
  EXPECT_EQ(solve(queue(), in), (std::vector<double>{1, 0, 2, 1, 3, 0}));
  in.form = TriangularForm::backward;
  in.right = {1, 1, 14, 4, 24, 0};
  EXPECT_EQ(solve(queue(), in), (std::vector<double>{1, 0, 2, 1, 3, 0}));
  in.form = TriangularForm::both;
  in.right = {2, 2, 57, 17, 219, 7};
  EXPECT_EQ(solve(queue(), in), (std::vector<double>{1, 0, 2, 1, 3, 0}));
}

TEST_P(BatchedTriangularSolveKernel, SolvesEverySize) {
  for (const TriangularForm form : all_forms) {
    for (const std::int64_t n : {1, 2, 31, 32, 33, 64, 65, 128, 150}) {
      for (const std::int64_t columns : {1, 31, 32, 33, 70}) {
        for (const std::int64_t gap : {0, 3}) {
          SCOPED_TRACE(std::to_string(int(form)) + ": " + std::to_string(n) + " x " +
                       std::to_string(columns) + ", gap " + std::to_string(gap));
          Systems in = make_systems(n, columns, 2, gap);
          in.form = form;
          const std::vector<double> x = solve(queue(), in);
          expect_solution(in, x);
          in.in_place = true;
          const std::vector<double> same_place = solve(queue(), in);
          expect_solution(in, same_place);
          ASSERT_EQ(x[0], same_place[0]);
        }
      }
    }
  }
}

TEST_P(BatchedTriangularSolveKernel, GivesAColumnTheSameBitsAloneAndAmongOthers) {
  for (const TriangularForm form : all_forms) {
    Systems all = make_systems(70, 75, 20);
    all.form = form;
    const std::vector<double> x = solve(queue(), all);
    for (const std::int64_t item : {0, 13}) {
      for (const std::int64_t c : {0, 40, 74}) {
        Systems alone = make_systems(70, 1);
        alone.form = form;
        const auto begin = all.factor.begin() + item * 4900;
        alone.factor = {begin, begin + 4900};
        std::vector<double> wanted;
        for (std::int64_t i = 0; i < 70; ++i) {
          alone.right[idx(i)] = all.right[idx(all.place(item, i, c))];
          wanted.push_back(x[idx(all.place(item, i, c))]);
        }
        EXPECT_EQ(bits_of(solve(queue(), alone)), bits_of(wanted)) << item << ", " << c;
      }
    }
  }
}

TEST_P(BatchedTriangularSolveKernel, SolvesLargeSystems) {
  for (const TriangularForm form : all_forms) {
    for (const std::int64_t n : {129, 192, 193, 255, 256, 258, 320, 1000}) {
      for (const std::int64_t columns : {3, 34}) {
        if (n == 1000 && columns == 34) continue;
        SCOPED_TRACE(std::to_string(int(form)) + ": " + std::to_string(n) + " x " +
                     std::to_string(columns));
        Systems in = make_systems(n, columns, 2, columns == 3 ? 1 : 0);
        in.form = form;
        const std::vector<double> x = solve(queue(), in);
        expect_solution(in, x);
        in.in_place = true;
        const std::vector<double> same_place = solve(queue(), in);
        expect_solution(in, same_place);
      }
    }
  }
}

TEST_P(BatchedTriangularSolveKernel, GivesAColumnOfManyUnknownsTheSameBitsAlone) {
  constexpr std::int64_t n = 258;
  for (const TriangularForm form : all_forms) {
    Systems all = make_systems(n, 75, 2);
    all.form = form;
    all.right[idx(all.place(1, 200, 41))] = nan;
    const std::vector<double> x = solve(queue(), all);
    for (const std::int64_t c : {0, 40, 74}) {
      Systems alone = make_systems(n, 1);
      alone.form = form;
      alone.factor = {all.factor.begin() + n * n, all.factor.end()};
      std::vector<double> wanted;
      for (std::int64_t i = 0; i < n; ++i) {
        alone.right[idx(i)] = all.right[idx(all.place(1, i, c))];
        wanted.push_back(x[idx(all.place(1, i, c))]);
      }
      EXPECT_TRUE(std::isfinite(wanted[0] + wanted.back()));
      EXPECT_EQ(bits_of(solve(queue(), alone)), bits_of(wanted)) << c;
    }
    EXPECT_TRUE(std::isnan(x[idx(all.place(1, 200, 41))]));
  }
}

TEST_P(BatchedTriangularSolveKernel, KeepsWhatIsNotFiniteInItsColumnOrItem) {
  for (const TriangularForm form : all_forms) {
    Systems in = make_systems(60, 40, 3);
    in.form = form;
    in.right[idx(in.place(1, 30, 7))] = nan;
    in.factor[idx(2 * 3600 + 20 * 60 + 20)] = 0;
    const std::vector<double> x = solve(queue(), in);
    for (std::int64_t c = 0; c < 40; ++c) {
      bool finite[3] = {true, true, true};
      for (std::int64_t item = 0; item < 3; ++item) {
        for (std::int64_t i = 0; i < 60; ++i) {
          finite[item] = finite[item] && std::isfinite(x[idx(in.place(item, i, c))]);
        }
      }
      EXPECT_TRUE(finite[0]) << c;
      EXPECT_EQ(finite[1], c != 7) << c;
      EXPECT_FALSE(finite[2]) << c;
    }
  }
}

TEST_P(BatchedTriangularSolveKernel, AgreesWithTheCpu) {
  for (const TriangularForm form : all_forms) {
    Systems in = make_systems(300, 100, 2);
    in.form = form;
    const std::vector<double> here = solve(queue(), in), there = solve(cpu_queue(), in);
    for (std::size_t i = 0; i < here.size(); ++i) {
      ASSERT_NEAR(here[i], there[i], double_tolerance) << i;
    }
    EXPECT_EQ(bits_of(here), bits_of(solve(queue(), in)));
  }
}

TEST_P(BatchedTriangularSolveKernel, TakesSystemsWithoutUnknownsOrColumns) {
  EXPECT_TRUE(solve(queue(), make_systems(0, 3, 2)).empty());
  EXPECT_TRUE(solve(queue(), make_systems(3, 0, 2)).empty());
}

TEST_P(BatchedTriangularSolveKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  EXPECT_EQ(solve(queue(), make_systems(3, 2), stopped), std::vector<double>(6, 4711));
}

}  // namespace
}  // namespace kiln::test::batched_triangular_solve_test
