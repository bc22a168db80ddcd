// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/models/sobol_directions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <mutex>
#include <string>

#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"

namespace kiln {
namespace {

constexpr int digits = 32;
using Row = std::array<std::uint32_t, digits>;  // direction numbers of a coordinate

// --- Primitive polynomials: bit i is the coefficient of x^i. ------------------------------------

int degree_of(std::uint32_t polynomial) { return static_cast<int>(std::bit_width(polynomial)) - 1; }

std::uint32_t multiply(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
  const std::uint32_t top = 1u << degree_of(modulus);
  std::uint32_t product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product ^= a;
    a <<= 1;
    if ((a & top) != 0) a ^= modulus;
  }
  return product;
}

std::uint32_t power_of_x(std::uint32_t exponent, std::uint32_t modulus) {
  std::uint32_t power = 1, square = degree_of(modulus) == 1 ? 2 ^ modulus : 2;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = multiply(power, square, modulus);
    square = multiply(square, square, modulus);
  }
  return power;
}

// Whether the order of x is 2^degree - 1: it divides that number and none of its proper divisors.
bool is_primitive(std::uint32_t polynomial) {
  if ((polynomial & 1) == 0) return false;
  const std::uint32_t order = (1u << degree_of(polynomial)) - 1;
  if (power_of_x(order, polynomial) != 1) return false;
  std::uint32_t rest = order;
  for (std::uint32_t p = 2; rest > 1; ++p) {
    if (p * p > rest) p = rest;
    if (rest % p != 0) continue;
    if (p != order && power_of_x(order / p, polynomial) == 1) return false;
    while (rest % p == 0) rest /= p;
  }
  return true;
}

// --- Rows ---------------------------------------------------------------------------------------

// A row from its polynomial and random initial numbers: odd, the i-th of them of i + 1 bits.
Row make_row(std::uint32_t polynomial, std::uint32_t dimension, std::uint32_t attempt) {
  const int degree = degree_of(polynomial);
  const DrawName name{0, attempt, dimension, RngDomain::fill_space, 255};
  Row row{};
  for (int i = 0; i < digits; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i < degree) {
      const std::uint32_t word = draw_word(name, static_cast<std::uint32_t>(i));
      row[at] = ((word << 1 | 1u) & ((2u << i) - 1)) << (digits - 1 - i);
      continue;
    }
    const auto back = [&](int steps) { return row[static_cast<std::size_t>(i - steps)]; };
    row[at] = back(degree) ^ (back(degree) >> degree);
    for (int j = 1; j < degree; ++j) {
      if ((polynomial >> (degree - j) & 1) != 0) row[at] ^= back(j);
    }
  }
  return row;
}

// Digit `digit` (0 is the first) of the first 32 points' numbers: bit b is that of number b.
std::uint32_t digit_row(const Row& row, int digit) {
  std::uint32_t bits = 0;
  for (int b = 0; b < digits; ++b) {
    bits |= (row[static_cast<std::size_t>(b)] >> (digits - 1 - digit) & 1) << b;
  }
  return bits;
}

constexpr int max_levels = 12;

// Vectors over GF(2), brought to echelon form one by one.
struct Basis {
  std::array<std::uint32_t, max_levels> leading{};  // the vector whose highest bit is the i-th
  // @return false if the vector depends on those that are there
  bool add(std::uint32_t vector) {
    while (vector != 0) {
      std::uint32_t& there = leading[static_cast<std::size_t>(std::bit_width(vector) - 1)];
      if (there == 0) {
        there = vector;
        return true;
      }
      vector ^= there;
    }
    return false;
  }
};

using Digits = std::array<std::uint32_t, max_levels>;  // digit_row() of the first digits

Digits digits_of(const Row& row) {
  Digits all{};
  for (int i = 0; i < max_levels; ++i) all[static_cast<std::size_t>(i)] = digit_row(row, i);
  return all;
}

// t of the net that two coordinates of the first 2^m points are: m less the least number of first
// digits of both that depend on each other, plus 1.
int quality(const Digits& a, const Digits& b, int m) {
  const std::uint32_t mask = (1u << m) - 1;
  int least = m + 1;
  Basis of_a;
  for (int i = 0; i < least; ++i) {
    Basis both = of_a;
    int j = 0;
    while (i + j < least - 1 && both.add(b[static_cast<std::size_t>(j)] & mask)) ++j;
    least = std::min(least, i + j + 1);
    if (i < m) of_a.add(a[static_cast<std::size_t>(i)] & mask);
  }
  return m - least + 1;
}

// --- The search ---------------------------------------------------------------------------------

class Directions {
 public:
  void extend(int dimension) {
    while (static_cast<int>(rows_.size()) < dimension) {
      rows_.empty() ? keep(radical_inverse()) : keep(search());
    }
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  static Row radical_inverse() {
    Row row{};
    for (int b = 0; b < digits; ++b) row[static_cast<std::size_t>(b)] = 1u << (digits - 1 - b);
    return row;
  }

  void keep(const Row& row) {
    if (rows_.size() < digits) eliminated_.push_back(eliminate(row));
    rows_.push_back(row);
    digits_.push_back(digits_of(row));
  }

  // The first digits of a row after elimination by those before. Property A of the first d rows for
  // every d is that row d has its bit d left: all leading minors are 1.
  std::uint32_t eliminate(const Row& row) const {
    std::uint32_t bits = digit_row(row, 0);
    for (std::size_t i = 0; i < eliminated_.size(); ++i) {
      if ((bits >> i & 1) != 0) bits ^= eliminated_[i];
    }
    return bits;
  }
  bool lacks_property_a(const Row& row) const {
    return rows_.size() < digits && (eliminate(row) >> rows_.size() & 1) == 0;
  }

  Row search() {
    do {
      ++polynomial_;
    } while (!is_primitive(polynomial_));
    const auto k = static_cast<std::uint32_t>(rows_.size());
    const std::uint32_t attempts = k < 64 ? 24 : 12;
    const std::size_t window = k < 64 ? k : 24;
    Row best{};
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
      const Row row = make_row(polynomial_, k, attempt);
      const std::int64_t cost = cost_of(row, window, least);
      if (cost < least) least = cost, best = row;
    }
    return best;
  }

  // By the fourth power a few bad pairs weigh more than many fair ones. Gives up beyond `enough`.
  std::int64_t cost_of(const Row& row, std::size_t window, std::int64_t enough) const {
    constexpr std::int64_t without_property_a = 1'000'000'000;
    std::int64_t cost = lacks_property_a(row) ? without_property_a : 0;
    const Digits mine = digits_of(row);
    for (std::size_t back = 1; back <= window && cost < enough; ++back) {
      for (const int m : {4, 8, 12}) {
        const int t = quality(digits_[digits_.size() - back], mine, m);
        cost += t * t * t * t;
      }
    }
    return cost;
  }

  std::uint32_t polynomial_ = 1;  // the last one taken
  std::vector<Row> rows_;
  std::vector<Digits> digits_;
  std::vector<std::uint32_t> eliminated_;
};

}  // namespace

std::vector<std::uint32_t> sobol_directions(int dimension) {
  if (dimension < 1 || dimension > max_sobol_dimension) {
    throw InvalidArgument("sobol.dimension",
                          "Sobol sequences have no direction numbers for " +
                              std::to_string(dimension) + " dimensions",
                          "1 to " + std::to_string(max_sobol_dimension) + " dimensions");
  }
  static std::mutex mutex;
  static Directions known;
  const std::lock_guard lock(mutex);
  known.extend(dimension);
  std::vector<std::uint32_t> all;
  all.reserve(static_cast<std::size_t>(dimension) * digits);
  for (int k = 0; k < dimension; ++k) {
    const Row& row = known.rows()[static_cast<std::size_t>(k)];
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

}  // namespace kiln
