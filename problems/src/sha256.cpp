// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "sha256.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace kiln::problems::detail {

namespace {

// FIPS 180-4, section 4.2.2: fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void add_block(std::array<std::uint32_t, 8>& state, const unsigned char* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) {  // big-endian words
    w[t] = static_cast<std::uint32_t>(block[4 * t]) << 24 |
           static_cast<std::uint32_t>(block[4 * t + 1]) << 16 |
           static_cast<std::uint32_t>(block[4 * t + 2]) << 8 |
           static_cast<std::uint32_t>(block[4 * t + 3]);
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t x = w[t - 15];
    const std::uint32_t y = w[t - 2];
    w[t] = w[t - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[t - 7] +
           (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
  }

  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                             ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
    const std::uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t k = 0; k < 8; ++k) state[k] += added[k];
}

void add_blocks_portably(std::array<std::uint32_t, 8>& state, const unsigned char* blocks,
                         std::size_t count) {
  for (; count > 0; --count, blocks += 64) add_block(state, blocks);
}

#if defined(__x86_64__)
bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  const bool sse = (c & bit_SSSE3) != 0 && (c & bit_SSE4_1) != 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned bit_of_sha = 1u << 29;
  return sse && (b & bit_of_sha) != 0;
}

// Four rounds an instruction pair; the instructions want the state as ABEF and CDGH.
__attribute__((target("sha,ssse3,sse4.1"))) void add_blocks_by_instructions(
    std::array<std::uint32_t, 8>& state, const unsigned char* blocks, std::size_t count) {
  const auto load = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab = _mm_shuffle_epi32(load(state.data()), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];  // the last 16 words of the schedule
    for (int k = 0; k < 4; ++k) w[k] = _mm_shuffle_epi8(load(blocks + 16 * k), big_endian);
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) {
      __m128i& oldest = w[k % 4];
      const __m128i sum = _mm_add_epi32(oldest, load(round_constants.data() + 4 * k));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      if (k >= 12) continue;
      const __m128i &next = w[(k + 1) % 4], &third = w[(k + 2) % 4], &newest = w[(k + 3) % 4];
      oldest = _mm_add_epi32(_mm_sha256msg1_epu32(oldest, next), _mm_alignr_epi8(newest, third, 4));
      oldest = _mm_sha256msg2_epu32(oldest, newest);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
bool has_instructions() { return false; }
constexpr auto add_blocks_by_instructions = &add_blocks_portably;
#endif

}  // namespace

Sha256::Sha256(bool by_instructions)
    : add_blocks_(by_instructions && has_instructions() ? &*add_blocks_by_instructions
                                                        : &add_blocks_portably) {}

void Sha256::update(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto* const begin = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto used = static_cast<std::size_t>(n_bytes_ % 64);
    const std::size_t whole = used == 0 ? bytes.size() / 64 : 0;
    const std::size_t n_taken = whole > 0 ? 64 * whole : std::min(bytes.size(), 64 - used);
    if (whole > 0) {
      add_blocks_(state_, begin, whole);
    } else {
      std::copy_n(begin, n_taken, pending_.begin() + static_cast<std::ptrdiff_t>(used));
      if (used + n_taken == 64) add_blocks_(state_, pending_.data(), 1);
    }
    n_bytes_ += n_taken;
    bytes.remove_prefix(n_taken);
  }
}

std::string Sha256::hex() const {
  Sha256 padded = *this;  // the padding must not enter this object, which may go on
  std::string tail(1, '\x80');
  tail.append((119 - n_bytes_ % 64) % 64, '\0');  // up to 8 bytes short of a whole block
  for (int shift = 56; shift >= 0; shift -= 8) {
    tail += static_cast<char>(static_cast<unsigned char>(n_bytes_ * 8 >> shift));
  }
  padded.update(tail);

  std::string digits;
  for (const std::uint32_t word : padded.state_) {
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15U];
  }
  return digits;
}

}  // namespace kiln::problems::detail
