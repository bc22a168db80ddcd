// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Sums in an order of the backend's own, amplified by the condition of a matrix.
KILN_CONFORMANCE_CASE(BatchedCholesky, reordered)

namespace kiln::test::batched_cholesky_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

struct Matrices {
  std::int64_t items = 1, n = 1, gap = 0;  ///< gap: values between rows
  std::vector<double> values;              ///< [items][n][n + gap]
  double first_jitter = 1e-10;
  std::int32_t retries = 7;
  bool in_place = false;

  std::int64_t stride() const { return n + gap; }
  double& at(std::int64_t item, std::int64_t i, std::int64_t j) {
    return values[idx((item * n + i) * stride() + j)];
  }
  double at(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return values[idx((item * n + i) * stride() + j)];
  }
};

struct Factors {
  Matrices factor;
  std::vector<double> jitter, log_determinant;
  std::vector<FactorStatus> status;
};

Factors factor(Queue& queue, const Matrices& in, const RunControl& state = {}) {
  const std::vector<double> untouched(in.values.size(), 4711), none(idx(in.items), 4711);
  DeviceArray<double> matrix(queue, in.values), out(queue, untouched);
  DeviceArray<double> jitter(queue, none), log_determinant(queue, none);
  DeviceArray<FactorStatus> status(queue, std::vector<FactorStatus>(idx(in.items)));
  const auto control = upload_control(queue, state);
  DeviceArray<double>& target = in.in_place ? matrix : out;
  BatchedCholesky kernel;
  kernel.matrix = {matrix.data(), in.items, in.n, in.n, in.stride(), in.n * in.stride()};
  kernel.factor = {target.data(), in.items, in.n, in.n, in.stride(), in.n * in.stride()};
  kernel.first_jitter = in.first_jitter;
  kernel.retries = in.retries;
  kernel.jitter = jitter.view();
  kernel.log_determinant = log_determinant.view();
  kernel.status = status.view();
  kernel.control = control.data();
  queue.launch(kernel);
  Factors result{in, jitter.download(), log_determinant.download(), status.download()};
  result.factor.values = target.download();
  return result;
}

// B B^T / n + I / 10 with B uniform in [-1, 1]; what is above the diagonal is not to be read.
Matrices definite(std::int64_t n, std::int64_t items = 1, std::int64_t gap = 0) {
  Matrices in{items, n, gap, std::vector<double>(idx(items * n * (n + gap)), nan)};
  TestRandom random(idx(n));
  for (std::int64_t item = 0; item < items; ++item) {
    std::vector<double> b;
    for (std::int64_t i = 0; i < n * n; ++i) b.push_back(2 * random.unit() - 1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) sum += b[idx(i * n + k)] * b[idx(j * n + k)];
        in.at(item, i, j) = sum / static_cast<double>(n) + (i == j ? 0.1 : 0);
      }
    }
  }
  return in;
}

// Of rank 1: 1 + i / 10 times 1 + j / 10.
Matrices singular(std::int64_t n) {
  Matrices in{1, n, 0, std::vector<double>(idx(n * n), nan)};
  const auto at = [](std::int64_t i) { return 1 + static_cast<double>(i) / 10; };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) in.at(0, i, j) = at(i) * at(j);
  }
  return in;
}

// The rows of L times each other are those of A with its jitter; the determinant is that of L.
void expect_factor(const Matrices& in, const Factors& out, std::int64_t item) {
  double log_determinant = 0;
  for (std::int64_t i = 0; i < in.n; ++i) {
    ASSERT_GT(out.factor.at(item, i, i), 0);
    log_determinant += 2 * std::log(out.factor.at(item, i, i));
    for (std::int64_t j = 0; j < in.stride(); ++j) {
      if (j >= in.n) {
        const double before = in.in_place ? in.at(item, i, j) : 4711;
        ASSERT_TRUE(out.factor.at(item, i, j) == before || std::isnan(before));
      } else if (j > i) {
        ASSERT_EQ(out.factor.at(item, i, j), 0);
      } else {
        double sum = 0, size = 0;
        for (std::int64_t k = 0; k <= j; ++k) {
          const double t = out.factor.at(item, i, k) * out.factor.at(item, j, k);
          sum += t;
          size += std::abs(t);
        }
        const double wanted = in.at(item, i, j) + (i == j ? out.jitter[idx(item)] : 0);
        ASSERT_NEAR(sum, wanted, double_tolerance * (1 + size)) << i << ", " << j;
      }
    }
  }
  ASSERT_NEAR(out.log_determinant[idx(item)], log_determinant,
              double_tolerance * (1 + static_cast<double>(in.n)));
}

double mean_diagonal(const Matrices& in, std::int64_t item) {
  double sum = 0;
  for (std::int64_t i = 0; i < in.n; ++i) sum += in.at(item, i, i);
  return sum / static_cast<double>(in.n);
}

void expect_nan(const Factors& out, std::int64_t item) {
  for (std::int64_t i = 0; i < out.factor.n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) ASSERT_TRUE(std::isnan(out.factor.at(item, i, j)));
  }
  EXPECT_TRUE(std::isnan(out.log_determinant[idx(item)]));
}

class BatchedCholeskyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BatchedCholeskyKernel);

TEST_P(BatchedCholeskyKernel, FactorsByHand) {
  Matrices in{1, 3, 0, {4, nan, nan, 2, 10, nan, -6, 9, 35}};
  const Factors out = factor(queue(), in);
  const std::vector<double> wanted{2, 0, 0, 1, 3, 0, -3, 4, std::sqrt(10.0)};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(out.factor.values[i], wanted[i], 1e-14) << i;
  EXPECT_NEAR(out.log_determinant[0], std::log(360.0), 1e-14);
  EXPECT_EQ(out.jitter, std::vector<double>{0});
  EXPECT_EQ(out.status, std::vector<FactorStatus>{FactorStatus::ok});
}

TEST_P(BatchedCholeskyKernel, FactorsEverySize) {
  for (const std::int64_t n : {1, 2, 3, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 160, 203}) {
    for (const std::int64_t gap : {0, 3}) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(gap) + " between");
      Matrices in = definite(n, 2, gap);
      for (const bool in_place : {false, true}) {
        if (in_place && n > BatchedCholesky::resident) continue;
        in.in_place = in_place;
        const Factors out = factor(queue(), in);
        for (std::int64_t item = 0; item < 2; ++item) {
          EXPECT_EQ(out.status[idx(item)], FactorStatus::ok);
          EXPECT_EQ(out.jitter[idx(item)], 0);
          expect_factor(in, out, item);
        }
      }
    }
  }
}

TEST_P(BatchedCholeskyKernel, RefusesALargeMatrixInItsOwnPlaceOnEveryBackend) {
  Matrices in = definite(BatchedCholesky::resident + 1, 1, 0);
  in.in_place = true;
  EXPECT_THROW(static_cast<void>(factor(queue(), in)), InvalidArgument);
}

TEST_P(BatchedCholeskyKernel, AddsTheLeastJitterThatHelps) {
  for (const std::int64_t n : {2, 20, 128, 150}) {
    SCOPED_TRACE(n);
    const Matrices in = singular(n);
    const Factors out = factor(queue(), in);
    EXPECT_EQ(out.status[0], FactorStatus::jittered);
    EXPECT_NEAR(out.jitter[0], 1e-10 * mean_diagonal(in, 0), 1e-20 * mean_diagonal(in, 0));
    expect_factor(in, out, 0);
  }
  // Eigenvalues 3 and -1: of jitters 0.003, 0.03, 0.3, 3 the last is the first beyond 1.
  Matrices in{1, 2, 0, {1, nan, 2, 1}};
  in.first_jitter = 3e-3;
  const Factors out = factor(queue(), in);
  EXPECT_EQ(out.status[0], FactorStatus::jittered);
  EXPECT_NEAR(out.jitter[0], 3, 1e-14);
  EXPECT_NEAR(out.log_determinant[0], std::log(16.0 - 4.0), 1e-14);
}

TEST_P(BatchedCholeskyKernel, TakesAPivotThatIsMereRoundingForNone) {
  // Pivots of 2^-52 and 2^-46, where 4 n 2^-52 is 2^-49.
  Matrices in{1, 2, 0, {1, nan, 1, 1 + 0x1p-52}};
  Factors out = factor(queue(), in);
  EXPECT_EQ(out.status[0], FactorStatus::jittered);
  EXPECT_NEAR(out.jitter[0], 1e-10, 1e-24);
  in.values[3] = 1 + 0x1p-46;
  out = factor(queue(), in);
  EXPECT_EQ(out.status[0], FactorStatus::ok);
  EXPECT_EQ(out.jitter[0], 0);
  EXPECT_NEAR(out.factor.values[3], 0x1p-23, 1e-20);
}

TEST_P(BatchedCholeskyKernel, GivesUpAfterTheLastJitter) {
  Matrices in{1, 2, 0, {1, nan, 2, 1}};
  in.first_jitter = 3e-3;
  in.retries = 3;
  const Factors out = factor(queue(), in);
  EXPECT_EQ(out.status[0], FactorStatus::indefinite);
  EXPECT_NEAR(out.jitter[0], 0.3, 1e-15);
  expect_nan(out, 0);
  in.retries = 0;
  EXPECT_EQ(factor(queue(), in).jitter[0], 0);
  // No jitter is in proportion to a diagonal that is not positive.
  in.retries = 7;
  in.values = {0, nan, 0, 0};
  EXPECT_EQ(factor(queue(), in).status[0], FactorStatus::indefinite);
  EXPECT_EQ(factor(queue(), in).jitter[0], 0);
}

TEST_P(BatchedCholeskyKernel, SaysWhatIsNotFinite) {
  for (const double bad : {nan, inf, -inf}) {
    for (const std::int64_t at : {0, 40}) {
      for (const std::int64_t n : {50, 140}) {
        Matrices in = definite(n);
        in.at(0, 45, at) = bad;
        const Factors out = factor(queue(), in);
        EXPECT_EQ(out.status[0], FactorStatus::not_finite) << bad << ", " << at;
        EXPECT_EQ(out.jitter[0], 0);
        expect_nan(out, 0);
      }
    }
  }
}

TEST_P(BatchedCholeskyKernel, LetsOneMatrixFailByItself) {
  for (const std::int64_t n : {40, 135}) {
    Matrices in = definite(n, 40);
    for (std::int64_t i = 0; i < n; ++i) in.at(3, n - 1, i) = in.at(3, n - 2, i);
    in.at(3, n - 1, n - 1) = in.at(3, n - 1, n - 2) = in.at(3, n - 2, n - 2);
    in.at(17, 5, 5) = -1;
    in.at(18, 7, 2) = nan;
    const Factors out = factor(queue(), in);
    for (std::int64_t item = 0; item < 40; ++item) {
      Matrices alone = in;
      alone.items = 1;
      const auto first = in.values.begin() + item * n * n;
      alone.values = {first, first + n * n};
      const Factors single = factor(queue(), alone);
      const auto begin = out.factor.values.begin() + item * n * n;
      EXPECT_EQ(bits_of(single.factor.values), bits_of({begin, begin + n * n})) << item;
      EXPECT_EQ(bits_of(single.log_determinant), bits_of({out.log_determinant[idx(item)]}));
      const FactorStatus wanted = item == 3    ? FactorStatus::jittered
                                  : item == 17 ? FactorStatus::indefinite
                                  : item == 18 ? FactorStatus::not_finite
                                               : FactorStatus::ok;
      EXPECT_EQ(out.status[idx(item)], wanted) << item;
      if (item != 17 && item != 18) expect_factor(in, out, item);
    }
  }
}

TEST_P(BatchedCholeskyKernel, AgreesWithTheCpu) {
  for (const std::int64_t n : {96, 128, 300}) {
    const Matrices in = definite(n, 3);
    const Factors here = factor(queue(), in), there = factor(cpu_queue(), in);
    for (std::size_t i = 0; i < here.factor.values.size(); ++i) {
      // 1e-10 after a factorisation: its rounding grows with the condition of the matrix.
      ASSERT_NEAR(here.factor.values[i], there.factor.values[i], 1e-10) << i;
    }
    EXPECT_EQ(bits_of(here.factor.values), bits_of(factor(queue(), in).factor.values));
  }
}

// K(i, j) = exp(-((i - j) / 2)^2), which is near to singular, with 1 / 1000 on the diagonal.
Matrices banded(std::int64_t n, std::int64_t items, std::int64_t gap) {
  Matrices in{items, n, gap, std::vector<double>(idx(items * n * (n + gap)), nan)};
  for (std::int64_t item = 0; item < items; ++item) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        const double d = static_cast<double>(i - j) / 2;
        in.at(item, i, j) = std::exp(-d * d) + (i == j ? 1e-3 * static_cast<double>(1 + item) : 0);
      }
    }
  }
  return in;
}

TEST_P(BatchedCholeskyKernel, FactorsLargeMatricesAmongBadOnes) {
  for (const std::int64_t n : {191, 192, 193, 255, 256, 257, 258, 320, 321, 513}) {
    for (const std::int64_t gap : {0, 1}) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(gap) + " between");
      Matrices in = banded(n, 5, gap);
      // Row n - 1 of matrix 1 is row n - 2: a pivot of 0 at the very end.
      for (std::int64_t i = 0; i < n - 1; ++i) in.at(1, n - 1, i) = in.at(1, n - 2, i);
      in.at(1, n - 1, n - 1) = in.at(1, n - 1, n - 2) = in.at(1, n - 2, n - 2);
      in.at(2, n - 2, n - 2) = -1;
      in.at(3, n - 1, 70) = nan;
      in.retries = 2;
      const Factors out = factor(queue(), in);
      EXPECT_EQ(out.status, (std::vector<FactorStatus>{
                                FactorStatus::ok, FactorStatus::jittered, FactorStatus::indefinite,
                                FactorStatus::not_finite, FactorStatus::ok}));
      for (const std::int64_t item : {0, 1, 4}) expect_factor(in, out, item);
      for (const std::int64_t item : {2, 3}) {
        expect_nan(out, item);
        EXPECT_EQ(out.factor.at(item, 0, n - 1), 0);
      }
      EXPECT_NEAR(out.jitter[2] / mean_diagonal(in, 2), 1e-9, 1e-20);
      Matrices alone = in;
      alone.items = 1;
      const auto size = n * in.stride();
      const auto begin = out.factor.values.begin() + 4 * size;
      alone.values = {in.values.begin() + 4 * size, in.values.end()};
      EXPECT_EQ(bits_of(factor(queue(), alone).factor.values), bits_of({begin, begin + size}));
    }
  }
}

TEST_P(BatchedCholeskyKernel, FactorsMatricesOfAThousandRows) {
  for (const std::int64_t n : {1000, 1100}) {
    SCOPED_TRACE(n);
    Matrices in = banded(n, 2, 0);
    in.at(1, 700, 700) = inf;
    const Factors out = factor(queue(), in);
    EXPECT_EQ(out.status, (std::vector<FactorStatus>{FactorStatus::ok, FactorStatus::not_finite}));
    expect_factor(in, out, 0);
    expect_nan(out, 1);
  }
}

// Shared memory is reserved in a context, which all objects of one device have together.
TEST_P(BatchedCholeskyKernel, KeepsItsMemoryWhereADeviceIsOpenedTwice) {
  const Matrices large = definite(128), small = definite(100);
  expect_factor(large, factor(queue(), large), 0);
  const OpenedBackend other = open_backend(GetParam() == Device::cpu ? "cpu" : "cuda", 1);
  const std::unique_ptr<Queue> second = other.backend->make_queue();
  expect_factor(small, factor(*second, small), 0);
  expect_factor(large, factor(queue(), large), 0);
}

TEST_P(BatchedCholeskyKernel, TakesMatricesWithoutElements) {
  const Factors out = factor(queue(), Matrices{2, 0, 0, {}});
  EXPECT_EQ(out.log_determinant, (std::vector<double>{0, 0}));
}

TEST_P(BatchedCholeskyKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  const Factors out = factor(queue(), definite(3), stopped);
  EXPECT_EQ(out.factor.values, std::vector<double>(9, 4711));
  EXPECT_EQ(out.jitter, std::vector<double>{4711});
}

}  // namespace
}  // namespace kiln::test::batched_cholesky_test
