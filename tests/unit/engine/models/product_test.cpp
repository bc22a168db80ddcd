// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Products under a contract: what the probe sees, and matrices in host memory.
#include "kiln/models/product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::product_test {
namespace {

using kiln::Accuracy;

HostMatrix random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                         double mean = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(mean);
  HostMatrix m{rows, columns, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i) m.values.push_back(normal(random));
  return m;
}

HostMatrix product_of(const HostMatrix& a, const HostMatrix& b) {
  HostMatrix c{a.rows, b.columns,
               std::vector<double>(static_cast<std::size_t>(a.rows * b.columns))};
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t n = 0; n < b.columns; ++n) {
      long double sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k) {
        sum += static_cast<long double>(a.view()(r, k)) * b.view()(k, n);
      }
      c.values[static_cast<std::size_t>(r * c.columns + n)] = static_cast<double>(sum);
    }
  }
  return c;
}

double norm_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x * x;
  return std::sqrt(sum);
}

class ProductProbes : public testing::Test {
 protected:
  double probed(const HostMatrix& a, const HostMatrix& b, const HostMatrix& c,
                std::int32_t columns = 8, std::uint64_t seed = 1) {
    const ContractProduct product(*queue_, {a.rows, a.columns, b.columns}, {},
                                  Accuracy::within(1e-4));
    return product.probe(a.view(), b.view(), c.view(), columns, seed).error;
  }

  std::unique_ptr<Queue> queue_ = test::cpu_queue();
};

TEST_F(ProductProbes, EstimateTheErrorWithinAFactor) {
  for (const double mean : {0.0, 2.0}) {
    const HostMatrix a = random_matrix(90, 120, 1, mean), b = random_matrix(120, 70, 2, mean);
    const HostMatrix right = product_of(a, b);
    for (const double size : {1e-12, 1e-6, 1e-2}) {
      HostMatrix c = right;
      const HostMatrix wrong = random_matrix(90, 70, 3);
      const double unit = norm_of(right.values) / norm_of(wrong.values);
      for (std::size_t i = 0; i < c.values.size(); ++i) {
        c.values[i] += size * unit * wrong.values[i];
      }
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const double error = probed(a, b, c, 8, seed);
        EXPECT_GT(error, size / 1.5) << mean;
        EXPECT_LT(error, size * 1.5) << mean;
      }
    }
    EXPECT_LT(probed(a, b, right), 1e-14);
  }
}

TEST_F(ProductProbes, SeeOneWrongElement) {
  const HostMatrix a = random_matrix(64, 64, 1), b = random_matrix(64, 64, 2);
  const HostMatrix right = product_of(a, b);
  for (const std::size_t at : {std::size_t{0}, std::size_t{2000}, right.values.size() - 1}) {
    HostMatrix c = right;
    const double size = 1e-4 * norm_of(right.values);
    c.values[at] += size;
    EXPECT_NEAR(probed(a, b, c), 1e-4, 0.6e-4);
    c.values[at] = std::nan("");
    EXPECT_TRUE(std::isnan(probed(a, b, c)));
  }
}

TEST_F(ProductProbes, ReadSinglePrecision) {
  const HostMatrix a = random_matrix(40, 30, 1), b = random_matrix(30, 50, 2);
  const HostMatrix right = product_of(a, b);
  const std::vector<float> rounded(right.values.begin(), right.values.end());
  const ProductShape shape{40, 30, 50};
  const ContractProduct product(*queue_, shape, {}, Accuracy::within(1e-4));
  const ProductProbe probe = product.probe(a.view(), b.view(), {rounded.data(), 40, 50, 50});
  EXPECT_GT(probe.error, 1e-8);  // 0.41 2^-24 of roundings, by the root of 1.5
  EXPECT_LT(probe.error, 4e-8);
  const std::vector<std::int8_t> small(2000);
  EXPECT_THROW(product.probe(a.view(), b.view(), {small.data(), 40, 50, 50}), InvalidArgument);
}

// A B is 0, so that no error is small against it.
TEST_F(ProductProbes, MeasureCancellingProductsByTheirFactors) {
  HostMatrix a = random_matrix(32, 64, 1), b = random_matrix(64, 32, 2);
  for (std::int64_t k = 0; k < 32; ++k) {
    for (std::int64_t i = 0; i < 32; ++i) {
      a.values[static_cast<std::size_t>(i * 64 + 32 + k)] = a.view()(i, k);
      b.values[static_cast<std::size_t>((32 + k) * 32 + i)] = -b.view()(k, i);
    }
  }
  HostMatrix c{32, 32, std::vector<double>(1024, 1e-6)};
  const double expected = 32e-6 / (norm_of(a.values) * norm_of(b.values) / 8);
  EXPECT_NEAR(probed(a, b, c) / expected, 1, 0.5);
}

TEST(MultiplyMatrices, MeetsItsContract) {
  const OpenedBackend cpu = open_backend("cpu", 2);
  const HostMatrix a = random_matrix(33, 50, 1), b = random_matrix(50, 21, 2);
  const ProductAnswer answer = multiply_matrices(*cpu.backend, a, b, Accuracy::within(1e-4));
  const HostMatrix right = product_of(a, b);
  ASSERT_EQ(answer.c.values.size(), right.values.size());
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    EXPECT_NEAR(answer.c.values[i], right.values[i], 1e-12);
  }
  EXPECT_TRUE(answer.met);
  EXPECT_LT(answer.probe.error, 1e-14);
  EXPECT_GT(answer.seconds, 0);
}

TEST(MultiplyMatrices, IsExactForIntegers) {
  const OpenedBackend cpu = open_backend("cpu", 2);
  HostMatrix a = random_matrix(9, 40, 1), b = random_matrix(40, 11, 2);
  for (double& x : a.values) x = std::clamp(std::round(60 * x), -128.0, 127.0);
  for (double& x : b.values) x = std::clamp(std::round(60 * x), -128.0, 127.0);
  a.values[0] = -128;
  const HostMatrix right = product_of(a, b);
  for (const Accuracy& accuracy : {Accuracy::exact_integers(), Accuracy::automatic(1e-3)}) {
    const ProductAnswer answer = multiply_matrices(*cpu.backend, a, b, accuracy);
    EXPECT_TRUE(answer.plan.exact) << "on the CPU doubles are, and faster than bytes";
    EXPECT_EQ(answer.c.values, right.values);
    EXPECT_EQ(answer.probe.error, 0);
    EXPECT_TRUE(answer.met);
  }
  a.values[0] = 4000;
  const ProductAnswer large = multiply_matrices(*cpu.backend, a, b, Accuracy::automatic(1e-3));
  EXPECT_TRUE(large.plan.exact);
  EXPECT_EQ(large.plan.path, ProductPath::float64);
  EXPECT_EQ(large.c.values, product_of(a, b).values);
}

TEST(MultiplyMatrices, ClaimsNothingOfProductsBeyondTheRangeOfDoubles) {
  const auto backend = open_backend("cpu", 1).backend;
  const auto multiplied = [&](const HostMatrix& a, const HostMatrix& b) {
    return multiply_matrices(*backend, a, b, Accuracy::within(1e-12));
  };
  const ProductAnswer small = multiplied({2, 2, {1e-200, 2e-200, 3e-200, 1e-200}},
                                         {2, 2, {1e-200, 1e-180, 1e-190, 3e-200}});
  EXPECT_FALSE(small.met) << small.probe.error;
  EXPECT_NE(small.note.find("too small"), std::string::npos) << small.note;
  const ProductAnswer large = multiplied({1, 1, {1e200}}, {1, 1, {1e200}});
  EXPECT_FALSE(large.met) << large.probe.error;
  EXPECT_NE(large.note.find("beyond the range"), std::string::npos) << large.note;
  // The product of the norms overflows, that of the matrices does not.
  const ProductAnswer within =
      multiplied({2, 3, {1e200, 0.1, 0, 0, 0.3, 0}}, {3, 2, {0, 0, 0.7, 0.25, 1e200, 1e200}});
  EXPECT_TRUE(within.met) << within.probe.error;
  EXPECT_TRUE(multiplied({1, 1, {0}}, {1, 1, {1e-300}}).met) << "0 is exact";
}

TEST(MultiplyMatrices, GivesEmptyResults) {
  const OpenedBackend cpu = open_backend("cpu", 1);
  const auto multiplied = [&](std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    return multiply_matrices(*cpu.backend, random_matrix(rows, inner, 1),
                             random_matrix(inner, columns, 2), Accuracy::automatic(1e-6));
  };
  EXPECT_TRUE(multiplied(0, 3, 4).c.values.empty());
  EXPECT_EQ(multiplied(0, 3, 4).c.columns, 4);
  EXPECT_TRUE(multiplied(3, 4, 0).c.values.empty());
  EXPECT_EQ(multiplied(2, 0, 2).c.values, std::vector<double>(4, 0.0));
  EXPECT_TRUE(multiplied(2, 0, 2).met);
}

TEST(MultiplyMatrices, NamesTheElementThatItRefuses) {
  const OpenedBackend cpu = open_backend("cpu", 1);
  const auto refused = [&](const HostMatrix& a, const HostMatrix& b, const Accuracy& accuracy) {
    try {
      static_cast<void>(multiply_matrices(*cpu.backend, a, b, accuracy));
    } catch (const InvalidArgument& error) {
      return error.message();
    }
    return std::string("accepted");
  };
  const HostMatrix a{2, 2, {1, 2, 3, 4}};
  HostMatrix b{2, 3, {1, 2, 3, 4, 5, std::nan("")}};
  EXPECT_EQ(refused(a, b, Accuracy::within(1e-4)), "matrix B has nan in row 2, column 3");
  b.values[5] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refused(a, b, Accuracy::automatic(1e-4)), "matrix B has inf in row 2, column 3");
  b.values[5] = 128;
  EXPECT_EQ(refused(a, b, Accuracy::exact_integers()), "matrix B has 128 in row 2, column 3");
  b.values[5] = 0.5;
  EXPECT_EQ(refused(a, b, Accuracy::exact_integers()), "matrix B has 0.5 in row 2, column 3");
  EXPECT_EQ(refused(b, b, Accuracy::within(1e-4)), "A has 3 columns and B has 2 rows");
}

// The probe reads the same elements as the product, and would confirm those beyond the end.
TEST(MultiplyMatrices, RefusesMatricesWithOtherElementsThanTheirSizeSays) {
  const OpenedBackend cpu = open_backend("cpu", 1);
  const HostMatrix two{2, 1, {1, 2}};
  constexpr std::int64_t huge = std::int64_t{1} << 32;
  for (const HostMatrix& wrong :
       {HostMatrix{2, 2, {1, 2, 3}}, HostMatrix{2, 2, {1, 2, 3, 4, 0.5}}, HostMatrix{2, 0, {1}},
        HostMatrix{-1, 2, {}}, HostMatrix{huge, huge, {}}}) {
    for (const bool is_first : {true, false}) {
      const HostMatrix other = is_first ? HostMatrix{wrong.columns, 0, {}} : two;
      try {
        static_cast<void>(is_first ? examine_operands(wrong, other, false)
                                   : examine_operands(other, wrong, false));
        ADD_FAILURE() << wrong.rows << " x " << wrong.columns << " was accepted";
      } catch (const InvalidArgument& error) {
        EXPECT_EQ(error.code(), "product.shape");
        EXPECT_NE(error.message().find(is_first ? "matrix A has " : "matrix B has "),
                  std::string::npos);
      }
    }
  }
  EXPECT_THROW(static_cast<void>(
                   multiply_matrices(*cpu.backend, {2, 2, {1, 2, 3}}, two, Accuracy::within(1e-4))),
               InvalidArgument);
}

TEST(MatrixProduct, RefusesEpiloguesOfOtherSizes) {
  double values[6] = {};
  MatrixProduct kernel;
  kernel.a = {values, 2, 3, 3};
  kernel.b = {values, 3, 2, 2};
  kernel.c = {values, 2, 2, 2};
  ASSERT_TRUE(kernel.valid());
  kernel.epilogue.scale = {values, 2};
  kernel.epilogue.bias = {values, 2};
  kernel.epilogue.stopped = {values, 2, 2, 2};
  EXPECT_TRUE(kernel.valid());
  kernel.epilogue.scale.size = 1;
  EXPECT_FALSE(kernel.valid()) << "the second column would read beyond the end";
  kernel.epilogue.scale.size = 2;
  kernel.epilogue.bias.size = 3;
  EXPECT_FALSE(kernel.valid());
  kernel.epilogue.bias = {};
  kernel.epilogue.stopped.rows = 1;
  EXPECT_FALSE(kernel.valid());
}

}  // namespace
}  // namespace kiln::product_test
