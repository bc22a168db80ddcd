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
// a | b | c
template <int W>
inline __attribute__((always_inline)) Slice<W> or3(const Slice<W>& a, const Slice<W>& b,
                                                   const Slice<W>& c) {
  return logic<0xFE>(a, b, c, [](auto x, auto y, auto z) { return x | y | z; });
}
// a | (b & c)
template <int W>
inline __attribute__((always_inline)) Slice<W> or_and(const Slice<W>& a, const Slice<W>& b,
                                                      const Slice<W>& c) {
  return logic<0xF8>(a, b, c, [](auto x, auto y, auto z) { return x | (y & z); });
}
// Whether a number whose highest bit is `a` is less than one with `b`; `rest`: whether it is by the
// lower bits.
template <int W>
inline __attribute__((always_inline)) Slice<W> less(const Slice<W>& a, const Slice<W>& b,
                                                    const Slice<W>& rest) {
  return logic<0x8E>(a, b, rest, [](auto x, auto y, auto z) { return (~x & (y | z)) | (y & z); });
}

// Adds up what accepted attempts change, for the replicas of V words that are W words of V / W
// sites each. With u the number of a site, centre half of its range and m whether its sum is even,
// a change is 4 (u - centre) + 2 + 2 m. u - centre is the level, and less by the centre where the
// highest plane of u is 0: in two's complement all planes from there on are 1.
template <int V>
class PlaneSums {
 public:
  using Bits = Slice<V>;

  // @param width       W
  // @param max_planes  of a number
  // @param attempts    of a replica
  PlaneSums(SliceJob& job, int width, int max_planes, std::int32_t attempts)
      : job_(job), width_(width), size_(max_planes + kSmall) {
    const std::int32_t most = (attempts < kMostSites ? attempts : kMostSites) + kMost;
    flip_planes_ = 32 - __builtin_clz(static_cast<std::uint32_t>(most));
    large_ = max_planes + flip_planes_;
    clear(sums_, kSmall + kMaxNumberPlanes), clear(flips_, kSmall), clear(even_flips_, kSmall);
    clear_large();
  }

  void add(const Bits* number, int n, bool even, const Bits& accepted) {
    if (count_ == kMost) settle();
    ++count_;
    Bits carry = slice_of<V>(false);
    for (int k = 0; k < n - 1; ++k) carry = full_add(sums_[k], number[k] & accepted, carry);
    const Bits down = and_not(accepted, number[n - 1]);
    for (int k = n - 1; k < size_; ++k) carry = full_add(sums_[k], down, carry);
    ripple(flips_, kSmall, 0, accepted);
    if (even) ripple(even_flips_, kSmall, 0, accepted);
  }

  // Those of eight packs with numbers of n planes.
  template <class Pack>
  void add_eight_packs(const Pack* packs, int n) {
    if (count_ + 8 > kMost) settle();
    count_ += 8;
    for (int k = 0; k < n - 1; ++k) {
      ripple(sums_, size_, k + 3,
             add_eight<V>(
                 sums_ + k, [&](int i) __attribute__((always_inline)) {
                   return packs[i].number[k] & packs[i].accepted;
                 }));
    }
    Bits down[4];
    clear(down, 3);
    down[3] = add_eight<V>(
        down, [&](int i) __attribute__((always_inline)) {
          return and_not(packs[i].accepted, packs[i].number[n - 1]);
        });
    // Less 2^(n - 1) for each.
    const Bits ones = slice_of<V>(true);
    Bits carry = ones;
    for (int k = 0; k + n - 1 < size_; ++k) {
      carry = full_add(sums_[k + n - 1], k < 4 ? down[k] ^ ones : ones, carry);
    }
    const auto accepted = [&](int i) __attribute__((always_inline)) { return packs[i].accepted; };
    ripple(flips_, kSmall, 3, add_eight<V>(flips_, accepted));
    int n_even = 0;
    for (int i = 0; i < 8; ++i) n_even += packs[i].pack.even ? 1 : 0;
    if (n_even == 8) {
      return ripple(even_flips_, kSmall, 3, add_eight<V>(even_flips_, accepted));
    }
    for (int i = 0; n_even > 0 && i < 8; ++i) {
      if (packs[i].pack.even) ripple(even_flips_, kSmall, 0, packs[i].accepted);
    }
  }

  void finish() {
    settle();
    flush();
  }

 private:
  static constexpr int kSmall = 5, kLarge = 32, kFlipPlanes = 21;
  static constexpr int kMost = (1 << kSmall) - 1;
  static constexpr std::int32_t kMostSites = 1 << 20;

  static void clear(Bits* planes, int n) {
    for (int k = 0; k < n; ++k) planes[k] = slice_of<V>(false);
  }
  void clear_large() {
    clear(all_sums_, large_), clear(all_flips_, flip_planes_);
    clear(all_even_flips_, flip_planes_);
  }

  // Adds the small counters to the large ones.
  void settle() {
    Bits carry = slice_of<V>(false);
    for (int k = 0; k < size_; ++k) carry = full_add(all_sums_[k], sums_[k], carry);
    const Bits sign = sums_[size_ - 1];
    for (int k = size_; k < large_; ++k) carry = full_add(all_sums_[k], sign, carry);
    add_flips(all_flips_, flips_);
    add_flips(all_even_flips_, even_flips_);
    clear(sums_, size_), clear(flips_, kSmall), clear(even_flips_, kSmall);
    sites_ += count_;
    count_ = 0;
    if (sites_ + kMost >= kMostSites) flush();
  }

  void add_flips(Bits* to, const Bits* flips) const {
    Bits carry = slice_of<V>(false);
    for (int k = 0; k < kSmall; ++k) carry = full_add(to[k], flips[k], carry);
    ripple(to, flip_planes_, kSmall, carry);
  }

  // The numbers that a counter holds for the replicas of word v; `top` is what its highest plane is
  // worth.
  static void numbers_of(const Bits* planes, int n, std::uint32_t top, int v,
                         std::int32_t* numbers) {
    for (int l = 0; l < kLanes; l += kIntLanes) {
      Ints sum{};
      for (int k = 0; k < n; ++k) {
        const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(planes + k)[v];
        sum += lane_masks(word, l) & spread(k + 1 == n ? top : 1u << k);
      }
      store(reinterpret_cast<std::uint32_t*>(numbers + l), sum);
    }
  }

  void flush() {
    for (int v = 0; v < V; ++v) {
      const int w = v % width_;
      if (w >= job_.n_words) continue;
      alignas(64) std::int32_t sum[kLanes], flips[kLanes], even_flips[kLanes];
      const std::uint32_t top_sum = 1u << (large_ - 1), top_flips = 1u << (flip_planes_ - 1);
      numbers_of(all_sums_, large_, 0u - top_sum, v, sum);
      numbers_of(all_flips_, flip_planes_, top_flips, v, flips);
      numbers_of(all_even_flips_, flip_planes_, top_flips, v, even_flips);
      for (int l = 0; l < kLanes; ++l) {
        job_.delta[w * kLanes + l] +=
            4.0 * sum[l] + 2.0 * (static_cast<double>(flips[l]) + even_flips[l]);
        job_.accepted[w * kLanes + l] += static_cast<std::uint64_t>(flips[l]);
      }
    }
    clear_large();
    sites_ = 0;
  }

  SliceJob& job_;
  int width_, size_;                 // size_: planes of sums_
  int large_ = 0, flip_planes_ = 0;  // planes of all_sums_ and of flips
  int count_ = 0;
  std::int32_t sites_ = 0;
  // In two's complement, as are all_sums_.
  alignas(64) Bits sums_[kSmall + kMaxNumberPlanes];
  alignas(64) Bits flips_[kSmall];
  alignas(64) Bits even_flips_[kSmall];
  alignas(64) Bits all_sums_[kLarge];
  alignas(64) Bits all_flips_[kFlipPlanes];
  alignas(64) Bits all_even_flips_[kFlipPlanes];
};

}  // namespace
}  // namespace kiln::cpu
