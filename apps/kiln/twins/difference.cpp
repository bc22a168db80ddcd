// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "twins/difference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Word = std::array<std::byte, 8>;

Word word_at(std::span<const std::byte> bytes, std::size_t at) {
  Word word{};
  std::memcpy(word.data(), bytes.data() + at, std::min(word.size(), bytes.size() - at));
  return word;
}

// Devices give NaN other signs and bits.
template <class Real>
bool are_equal(const Word& a, const Word& b) {
  std::array<Real, 8 / sizeof(Real)> of_a, of_b;
  std::memcpy(of_a.data(), a.data(), a.size());
  std::memcpy(of_b.data(), b.data(), b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const bool same = std::memcmp(&of_a[i], &of_b[i], sizeof(Real)) == 0;
    if (!same && !(std::isnan(of_a[i]) && std::isnan(of_b[i]))) return false;
  }
  return true;
}

double double_of(const Word& word) {
  double x = 0;
  std::memcpy(&x, word.data(), sizeof x);
  return x;
}

// Counts and bits look like numbers near zero, or like none.
bool is_number(double x) { return x == 0 || (std::isfinite(x) && std::abs(x) > 1e-200); }

}  // namespace

Difference& Difference::operator+=(const Difference& other) noexcept {
  words += other.words;
  unequal += other.unequal;
  worst = std::max(worst, other.worst);
  return *this;
}

Difference difference_of(std::span<const std::byte> a, std::span<const std::byte> b) {
  Difference difference;
  difference.words = (a.size() + 7) / 8;
  if (std::memcmp(a.data(), b.data(), a.size()) == 0) return difference;
  double largest = 0, farthest = 0;
  for (std::size_t at = 0; at < a.size(); at += 8) {
    const Word of_a = word_at(a, at), of_b = word_at(b, at);
    const double x = double_of(of_a), y = double_of(of_b);
    if (is_number(x) && is_number(y)) largest = std::max({largest, std::abs(x), std::abs(y)});
    if (of_a == of_b || are_equal<double>(of_a, of_b) || are_equal<float>(of_a, of_b)) continue;
    ++difference.unequal;
    farthest = std::max(farthest, is_number(x) && is_number(y) ? std::abs(x - y) : infinity);
  }
  if (difference.unequal > 0) difference.worst = farthest / std::max(largest, 1e-200);
  return difference;
}

}  // namespace kiln::cli
