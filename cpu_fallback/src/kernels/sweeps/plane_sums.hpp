// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Logic on three slices, and sums of what replicas accept in vertical counters. Everything is in an
// unnamed namespace, see SliceJob.
#include <cstdint>

#include "kernels/sweeps/slice_count.hpp"

namespace kiln::cpu {
namespace {

constexpr int kMaxNumberPlanes = 8;

// A function of three bits for all bits of a slice: bit 4 a + 2 b + c of the table is its value.
template <int kTable, int W, class Plain>
inline __attribute__((always_inline)) Slice<W> logic(const Slice<W>& a, const Slice<W>& b,
                                                     const Slice<W>& c, Plain plain) {
  Slice<W> result;
  for (int i = 0; i < Slice<W>::n_parts; ++i) {
#if defined(__AVX512VL__)
    using Part = typename Slice<W>::Part;
    if constexpr (sizeof(Part) == 64) {
      result.part[i] = reinterpret_cast<Part>(_mm512_ternarylogic_epi32(
          reinterpret_cast<__m512i>(a.part[i]), reinterpret_cast<__m512i>(b.part[i]),
          reinterpret_cast<__m512i>(c.part[i]), kTable));
      continue;
    } else if constexpr (sizeof(Part) == 32) {
      result.part[i] = reinterpret_cast<Part>(_mm256_ternarylogic_epi32(
          reinterpret_cast<__m256i>(a.part[i]), reinterpret_cast<__m256i>(b.part[i]),
          reinterpret_cast<__m256i>(c.part[i]), kTable));
      continue;
    }
#endif
    result.part[i] = plain(a.part[i], b.part[i], c.part[i]);
  }
  return result;
}

template <int W>
inline __attribute__((always_inline)) Slice<W> operator|(const Slice<W>& a, const Slice<W>& b) {
  return for_parts(a, b, [](auto x, auto y) { return x | y; });
}
// a & ~b
template <int W>
inline __attribute__((always_inline)) Slice<W> and_not(const Slice<W>& a, const Slice<W>& b) {
  return for_parts(a, b, [](auto x, auto y) { return x & ~y; });
}
// a | ~b
template <int W>
inline __attribute__((always_inline)) Slice<W> or_not(const Slice<W>& a, const Slice<W>& b) {
  return logic<0xF3>(a, b, b, [](auto x, auto y, auto) { return x | ~y; });
}
// a & ~(b ^ c)
template <int W>
inline __attribute__((always_inline)) Slice<W> and_same(const Slice<W>& a, const Slice<W>& b,
                                                        const Slice<W>& c) {
  return logic<0x90>(a, b, c, [](auto x, auto y, auto z) { return x & ~(y ^ z); });
}
// Whether a number whose highest bit is `a` is less than one with `b`; `rest`: whether it is by the
// lower bits.
template <int W>
inline __attribute__((always_inline)) Slice<W> less(const Slice<W>& a, const Slice<W>& b,
                                                    const Slice<W>& rest) {
  return logic<0x8E>(a, b, rest, [](auto x, auto y, auto z) { return (~x & (y | z)) | (y & z); });
}

// Adds up the numbers u of accepted attempts and how many there are, of which energies and counts
// follow: a change is 4 (u - centre) + 2 + 2 even. Sites of one number of planes and one parity
// that follow each other have small counters; they are added to larger ones in time.
template <int W>
class PlaneSums {
 public:
  using Bits = Slice<W>;

  explicit PlaneSums(SliceJob& job) : job_(job) {
    clear(sums_, kSmall + kMaxNumberPlanes), clear(flips_, kSmall);
    clear(all_sums_, kLarge);
    for (Bits& plane : all_flips_) plane = slice_of<W>(false);
  }

  void add(const Bits* number, int n, bool even, const Bits& accepted) {
    if (n != n_ || even != even_ || count_ == kMost) {
      settle();
      n_ = n;
      even_ = even;
    }
    ++count_;
    Bits carry = slice_of<W>(false);
    for (int k = 0; k < n; ++k) carry = full_add(sums_[k], number[k] & accepted, carry);
    ripple(sums_, n + kSmall, n, carry);
    ripple(flips_, kSmall, 0, accepted);
  }

  void finish() {
    settle();
    flush();
  }

 private:
  static constexpr int kSmall = 4, kLarge = 31;
  static constexpr int kMost = (1 << kSmall) - 1;
  static constexpr std::int32_t kMostSites = 1 << 20;
  static constexpr int kKinds = 2 * (kMaxNumberPlanes + 1), kFlipPlanes = 20;

  static void clear(Bits* planes, int n) {
    for (int k = 0; k < n; ++k) planes[k] = slice_of<W>(false);
  }

  // Adds the small counters to the large ones.
  void settle() {
    if (count_ == 0) return;
    add_counter(all_sums_, kLarge, sums_, n_ + kSmall);
    const int kind = 2 * n_ + (even_ ? 1 : 0);
    add_counter(all_flips_ + kind * kFlipPlanes, kFlipPlanes, flips_, kSmall);
    used_ |= 1u << kind;
    clear(sums_, n_ + kSmall);
    clear(flips_, kSmall);
    sites_ += count_;
    count_ = 0;
    if (sites_ + kMost >= kMostSites) flush();
  }

  static void add_counter(Bits* to, int size, const Bits* counter, int n) {
    Bits carry = slice_of<W>(false);
    for (int k = 0; k < n; ++k) carry = full_add(to[k], counter[k], carry);
    for (int k = n; k < size && any(carry); ++k) {
      const Bits next = to[k] & carry;
      to[k] = to[k] ^ carry;
      carry = next;
    }
  }

  // The numbers that a counter holds for the replicas of word w.
  static void numbers_of(const Bits* planes, int n, int w, std::int32_t* numbers) {
    for (int l = 0; l < kLanes; l += kIntLanes) {
      Ints sum{};
      for (int k = 0; k < n; ++k) {
        const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(planes + k)[w];
        sum += lane_masks(word, l) & spread(1u << k);
      }
      store(reinterpret_cast<std::uint32_t*>(numbers + l), sum);
    }
  }

  void flush() {
    int n_sums = kLarge;
    while (n_sums > 0 && !any(all_sums_[n_sums - 1])) --n_sums;
    for (int w = 0; w < job_.n_words; ++w) {
      alignas(64) std::int32_t sum[kLanes], flips[kLanes];
      numbers_of(all_sums_, n_sums, w, sum);
      for (int l = 0; l < kLanes; ++l) job_.delta[w * kLanes + l] += 4.0 * sum[l];
      for (int kind = 0; kind < kKinds; ++kind) {
        if ((used_ >> kind & 1u) == 0) continue;
        const int change = 2 + 2 * (kind % 2) - (2 << (kind / 2));  // beside 4 u
        numbers_of(all_flips_ + kind * kFlipPlanes, kFlipPlanes, w, flips);
        for (int l = 0; l < kLanes; ++l) {
          job_.delta[w * kLanes + l] += static_cast<double>(change * flips[l]);
          job_.accepted[w * kLanes + l] += static_cast<std::uint64_t>(flips[l]);
        }
      }
    }
    clear(all_sums_, kLarge);
    for (Bits& plane : all_flips_) plane = slice_of<W>(false);
    used_ = 0;
    sites_ = 0;
  }

  SliceJob& job_;
  int n_ = 0, count_ = 0;
  bool even_ = false;
  std::uint32_t used_ = 0;  // kinds of sites since the last flush
  std::int32_t sites_ = 0;
  alignas(64) Bits sums_[kSmall + kMaxNumberPlanes];
  alignas(64) Bits flips_[kSmall];
  alignas(64) Bits all_sums_[kLarge];
  alignas(64) Bits all_flips_[kKinds * kFlipPlanes];  // by kind of site
};

}  // namespace
}  // namespace kiln::cpu
