// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "generators/graph_base_random.hpp"

#include <string>

#include "kiln/errors.hpp"

namespace kiln::problems::detail {

namespace {

constexpr std::uint32_t two_to_31 = 0x80000000U;
constexpr std::uint32_t mask = two_to_31 - 1;

// 2^32 is a multiple of 2^31, so an unsigned difference that wraps is still right modulo 2^31.
constexpr std::uint32_t difference(std::uint32_t x, std::uint32_t y) { return (x - y) & mask; }

}  // namespace

GraphBaseRandom::GraphBaseRandom(std::int64_t seed) {
  const std::uint32_t start = static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed)) & mask;
  std::uint32_t shift = start;
  std::uint32_t previous = start;
  std::uint32_t next = 1;
  a_[55] = start;
  for (std::size_t i = 21; i != 0; i = (i + 21) % 55) {
    a_[i] = next;
    next = difference(previous, next);
    shift = shift >> 1 | (shift & 1U) << 30;  // rotate right within 31 bits
    next = difference(next, shift);
    previous = a_[i];
  }
  for (int round = 0; round < 5; ++round) refresh();
}

void GraphBaseRandom::refresh() {
  // In place and ascending: the second loop reads values that the first has already renewed.
  for (std::size_t i = 1; i <= 24; ++i) a_[i] = difference(a_[i], a_[i + 31]);
  for (std::size_t i = 25; i <= 55; ++i) a_[i] = difference(a_[i], a_[i - 24]);
  position_ = 54;
}

std::int32_t GraphBaseRandom::uniform(std::int32_t m) {
  if (m < 1) {
    throw InvalidArgument("problem.range",
                          "the range [0, " + std::to_string(m) + ") has no integer to draw");
  }
  const auto range = static_cast<std::uint32_t>(m);
  // Outputs from the last, incomplete copy of the range are thrown away; they would favour 0, 1,
  // ...
  const std::uint32_t limit = two_to_31 - two_to_31 % range;
  std::uint32_t output = next();
  while (output >= limit) output = next();
  return static_cast<std::int32_t>(output % range);
}

}  // namespace kiln::problems::detail
