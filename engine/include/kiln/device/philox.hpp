// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/hd.hpp"

namespace kiln {

/// Four 32-bit words: a Philox counter, or its output.
struct Words4 {
  std::uint32_t word[4] = {0, 0, 0, 0};
  KILN_HD std::uint32_t operator[](std::uint32_t i) const { return word[i]; }
};

/// The 64 bits of a product of two words. nvcc adds a zero to the product of a word and a constant
/// that was widened, an instruction of which Philox would have twenty.
KILN_HD inline std::uint64_t wide_product(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  std::uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return static_cast<std::uint64_t>(a) * b;
#endif
}

/// Philox4x32 with ten rounds: a keyed bijection on 128-bit counters that passes BigCrush.
///
/// Stateless: the same (counter, key) gives the same words on every device, in any order.
/// @par Source  Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
KILN_HD inline Words4 philox4x32_10(Words4 counter, std::uint64_t key) {
  std::uint32_t c0 = counter.word[0], c1 = counter.word[1];
  std::uint32_t c2 = counter.word[2], c3 = counter.word[3];
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = wide_product(0xD2511F53u, c0);
    const std::uint64_t product1 = wide_product(0xCD9E8D57u, c2);
    c0 = static_cast<std::uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(product1);
    c2 = static_cast<std::uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(product0);
    k0 += 0x9E3779B9u;  // golden ratio
    k1 += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return Words4{{c0, c1, c2, c3}};
}

}  // namespace kiln
