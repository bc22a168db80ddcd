// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The products, factors and solutions of each instruction set of this processor: their error, and
// which of their bits agree.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/kernels/linear_algebra/batched_cholesky.hpp"
#include "kiln/kernels/linear_algebra/batched_triangular_solve.hpp"
#include "kiln/kernels/linear_algebra/matrix_product.hpp"

#include "backends/backends.hpp"
#include "densities/batched_chains.hpp"
#include "kernels/isa.hpp"
#include "kernels/linear_algebra/eigen_product.hpp"

namespace kiln::test::matrix_product_variants_test {
namespace {

#if defined(KILN_X86_64) && KILN_X86_64
constexpr const char* all_sets[] = {"baseline", "avx2", ""};
#else
constexpr const char* all_sets[] = {""};
#endif

void multiply(const cpu::ProductBlock<double>& block) { cpu::eigen_products().in_double(block); }

struct Operands {
  std::int64_t rows = 0, inner = 0, columns = 0;
  std::vector<double> a, b;

  Operands(std::int64_t rows_, std::int64_t inner_, std::int64_t columns_)
      : rows(rows_),
        inner(inner_),
        columns(columns_),
        a(BatchedChains::numbers(rows * inner, 1)),
        b(BatchedChains::numbers(inner * columns, 2)) {}
  std::vector<double> turned() const {
    std::vector<double> out(a.size());
    for (std::int64_t i = 0; i < rows * inner; ++i)
      out[idx(i % inner * rows + i / inner)] = a[idx(i)];
    return out;
  }
  cpu::ProductBlock<double> block(std::vector<double>& c) const {
    cpu::ProductBlock<double> block;
    block.a = a.data(), block.a_stride = inner;
    block.b = b.data(), block.b_stride = columns;
    block.c = c.data(), block.c_stride = columns;
    block.rows = rows, block.inner = inner, block.columns = columns;
    return block;
  }
  // Against sums with 11 bits more than a double has.
  void expect(const std::vector<double>& c, long double start, int sign) const {
    constexpr long double unit = std::numeric_limits<double>::epsilon() / 2;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t n = 0; n < columns; ++n) {
        long double sum = start, size = std::abs(start);
        for (std::int64_t k = 0; k < inner; ++k) {
          const long double term =
              static_cast<long double>(a[idx(r * inner + k)]) * b[idx(k * columns + n)];
          sum += sign * term;
          size += std::abs(term);
        }
        const auto found = static_cast<long double>(c[idx(r * columns + n)]);
        ASSERT_LE(std::abs(found - sum), 16 * unit * size) << r << ", " << n;
      }
    }
  }
};

void check_products() {
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 67}) {
    for (const std::int64_t inner : {1, 7, 8, 255, 256, 257, 515}) {
      for (const std::int64_t columns : {1, 2, 4, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 100, 245}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(inner) + " x " +
                     std::to_string(columns));
        const Operands in(rows, inner, columns);
        const std::vector<double> turned = in.turned();
        std::vector<double> c(idx(rows * columns), std::numeric_limits<double>::quiet_NaN()), d = c;
        multiply(in.block(c));
        in.expect(c, 0, 1);
        cpu::ProductBlock<double> other = in.block(d);
        other.a = turned.data(), other.a_stride = rows, other.a_transposed = true;
        multiply(other);
        ASSERT_EQ(c, d) << "transposed";
        d.assign(d.size(), 3);
        other.use = cpu::ProductUse::subtract;
        multiply(other);
        in.expect(d, 3, -1);
        d.assign(d.size(), 3);
        other.use = cpu::ProductUse::add;
        multiply(other);
        in.expect(d, 3, 1);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(MatrixProductVariants, AreAsExactAsTheirPrecision) {
  for (const char* set : all_sets) {
    SCOPED_TRACE(set);
    const ScopedEnvironment chosen("KILN_CPU_ISA", set);
    check_products();
  }
}

void check_blocks() {
  TestRandom random(5);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.unit() * static_cast<double>(n));
  };
  for (int i = 0; i < 60; ++i) {
    const Operands in(1 + below(40), 1 + below(600), 1 + below(300));
    std::vector<double> all(idx(in.rows * in.columns)), one(all.size(), 4711);
    multiply(in.block(all));
    for (int j = 0; j < 8; ++j) {
      cpu::ProductBlock<double> block = in.block(one);
      const std::int64_t row = below(in.rows), column = below(in.columns);
      block.rows = 1 + below(in.rows - row), block.columns = 1 + below(in.columns - column);
      block.a += row * in.inner, block.b += column, block.c += row * in.columns + column;
      multiply(block);
      for (std::int64_t p = 0; p < in.rows * in.columns; ++p) {
        const std::int64_t r = p / in.columns - row, c = p % in.columns - column;
        const bool inside = r >= 0 && r < block.rows && c >= 0 && c < block.columns;
        ASSERT_EQ(one[idx(p)], inside ? all[idx(p)] : 4711) << p;
      }
      one.assign(one.size(), 4711);
    }
  }
}

TEST(MatrixProductVariants, GiveAnElementTheSameBitsInEveryBlock) {
  for (const char* set : all_sets) {
    SCOPED_TRACE(set);
    const ScopedEnvironment chosen("KILN_CPU_ISA", set);
    check_blocks();
  }
}

// A product, the factors of two matrices and the solutions with many right-hand sides.
std::vector<std::uint64_t> all_bits(int threads) {
  const auto owner = open_backend("cpu", threads).backend->make_queue();
  Queue& queue = *owner;
  constexpr std::int64_t n = 300, columns = 130;
  std::vector<double> matrix = BatchedChains::numbers(2 * n * n, 3);
  for (std::int64_t i = 0; i < 2 * n; ++i) matrix[idx(i * n + i % n)] += 2 * n;
  const DeviceArray<double> a(queue, matrix), b(queue, BatchedChains::numbers(2 * n * columns, 4));
  DeviceArray<double> c(queue, n * columns), l(queue, 2 * n * n), x(queue, 2 * n * columns);
  MatrixProduct product;
  product.a = View2<const double>{a.data(), n, n, n};
  product.b = View2<const double>{b.data(), n, columns, columns};
  product.c = View2<double>{c.data(), n, columns, columns};
  queue.launch(product);
  BatchedCholesky cholesky;
  cholesky.matrix = MatrixBatch<const double>::dense(a.data(), 2, n, n);
  cholesky.factor = MatrixBatch<double>::dense(l.data(), 2, n, n);
  queue.launch(cholesky);
  BatchedTriangularSolve solve;
  solve.form = TriangularForm::both;
  solve.factor = MatrixBatch<const double>::dense(l.data(), 2, n, n);
  solve.right = MatrixBatch<const double>::dense(b.data(), 2, n, columns);
  solve.solution = MatrixBatch<double>::dense(x.data(), 2, n, columns);
  queue.launch(solve);
  std::vector<std::uint64_t> bits = bits_of(c.download());
  for (const auto& more : {bits_of(l.download()), bits_of(x.download())}) {
    bits.insert(bits.end(), more.begin(), more.end());
  }
  return bits;
}

TEST(MatrixProductVariants, HaveTheSameBitsForEveryNumberOfThreads) {
  for (const char* set : all_sets) {
    SCOPED_TRACE(set);
    const ScopedEnvironment chosen("KILN_CPU_ISA", set);
    const auto bits = all_bits(1);
    for (const int threads : {2, 3, 7}) EXPECT_EQ(all_bits(threads), bits) << threads;
  }
}

#if defined(KILN_X86_64) && KILN_X86_64
TEST(MatrixProductVariants, HaveTheSameBitsOnProcessorsWithFusedMultiplyAdd) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this processor has no AVX-512";
  const ScopedEnvironment widest("KILN_CPU_ISA", "");
  EXPECT_STREQ(cpu::isa_name(), "AVX-512");
  const auto bits = all_bits(2);
  const ScopedEnvironment chosen("KILN_CPU_ISA", "avx2");
  EXPECT_STREQ(cpu::isa_name(), "AVX2");
  EXPECT_EQ(all_bits(2), bits);
}
#endif

}  // namespace
}  // namespace kiln::test::matrix_product_variants_test
