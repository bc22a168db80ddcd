// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/products/product_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln::cli {
namespace {

// Numbers of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): large factors are made in a moment.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u) {}
  /// In (0, 1).
  double unit() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (static_cast<double>((z ^ z >> 31) >> 12) + 0.5) * 0x1p-52;
  }

 private:
  std::uint64_t state_;
};

/// A sum in twice the precision of a double.
struct ExactSum {
  double high = 0, low = 0;

  // Knuth's sum of two, and a product with its rounding by a fused operation.
  void add(double a, double b) {
    const double p = a * b, of_product = std::fma(a, b, -p);
    const double s = high + p, t = s - high;
    low += (high - (s - t)) + (p - t) + of_product;
    high = s;
  }
  double value() const { return high + low; }
};

double squared_norm(const double* values, std::int64_t count) {
  return std::inner_product(values, values + count, values, 0.0);
}

}  // namespace

const char* name_of(ProductData data) {
  switch (data) {
    case ProductData::zero_mean:
      return "zero-mean";
    case ProductData::positive:
      return "positive";
    case ProductData::graded:
      return "graded";
  }
  return "";
}

HostMatrix random_factor(ProductData data, std::int64_t rows, std::int64_t columns,
                         std::uint64_t seed, bool grade) {
  SplitMix random(seed);
  HostMatrix m{rows, columns, {}};
  m.values.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool graded = grade && data == ProductData::graded;
    const double scale = graded ? std::pow(10.0, 12 * random.unit() - 6) : 1;
    for (std::int64_t c = 0; c < columns; ++c) {
      const double x = random.unit();
      m.values.push_back(scale * (data == ProductData::positive ? x : 2 * x - 1));
    }
  }
  return m;
}

HostMatrix random_integers(ProductData data, std::int64_t rows, std::int64_t columns,
                           std::uint64_t seed) {
  SplitMix random(seed);
  HostMatrix m{rows, columns, {}};
  m.values.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t r = 0; r < rows; ++r) {
    const double scale =
        data == ProductData::graded ? std::exp2(std::floor(8 * random.unit())) : 128;
    for (std::int64_t c = 0; c < columns; ++c) {
      const double x = random.unit();
      const double value = std::floor(scale * (data == ProductData::positive ? x : 2 * x - 1));
      m.values.push_back(value);
    }
  }
  return m;
}

ProductError::ProductError(const HostMatrix& a, const HostMatrix& b)
    : a_(a), b_(b), rows_(static_cast<std::size_t>(a.rows)) {
  std::vector<double> norms;
  for (std::int64_t r = 0; r < a.rows; ++r) {
    norms.push_back(squared_norm(a.values.data() + r * a.columns, a.columns));
  }
  const double of_a = std::accumulate(norms.begin(), norms.end(), 0.0);
  const double of_b = squared_norm(b.values.data(), std::ssize(b.values));
  factors_ = std::sqrt(of_a * of_b / static_cast<double>(a.columns));
  std::iota(rows_.begin(), rows_.end(), 0);
  std::ranges::stable_sort(rows_, std::greater{},
                           [&](std::int64_t r) { return norms[static_cast<std::size_t>(r)]; });
}

double ProductError::against(const std::vector<double>& c,
                             const std::vector<double>& oracle) const {
  double wrong = 0, size = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    wrong += (c[i] - oracle[i]) * (c[i] - oracle[i]);
    size += oracle[i] * oracle[i];
  }
  return std::sqrt(wrong) / std::max(std::sqrt(size), factors_);
}

double ProductError::against_exact_sums(const std::vector<double>& c) const {
  constexpr std::int64_t max_terms = 8'000'000;
  const std::int64_t rows = std::min<std::int64_t>(a_.rows, 16);
  const std::int64_t columns = std::clamp<std::int64_t>(
      max_terms / (rows * std::max<std::int64_t>(a_.columns, 1)), 1, b_.columns);
  double wrong = 0, size = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t r = rows_[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t n = j * b_.columns / columns;
      ExactSum sum;
      for (std::int64_t k = 0; k < a_.columns; ++k) sum.add(a_.view()(r, k), b_.view()(k, n));
      const double got = c[static_cast<std::size_t>(r * b_.columns + n)];
      const double difference = (got - sum.high) - sum.low;
      wrong += difference * difference;
      size += sum.value() * sum.value();
    }
  }
  // Of the elements that were computed, which are those of the largest rows; the other norm is that
  // of all elements and would hide an error.
  return size > 0 ? std::sqrt(wrong / size) : std::sqrt(wrong);
}

}  // namespace kiln::cli
