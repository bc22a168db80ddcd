// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The neighbours of the sites of a pack, counted side by side: a vector has the words of one
// neighbour of each site. Everything is in an unnamed namespace, see SliceJob.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/sweeps/plane_lanes.hpp"
#include "kernels/sweeps/plane_order.hpp"
#include "kernels/sweeps/slice_count.hpp"

namespace kiln::cpu {
namespace {

// W words from each of V / W addresses side by side.
template <int W, int V, class Address>
inline __attribute__((always_inline)) Slice<V> words_from(Address address) {
  using Part = typename Slice<V>::Part;
  Slice<V> all;
  if constexpr (W == 1) {
    typedef std::uint32_t One __attribute__((vector_size(4 * V)));
    const One ones = [&]<std::size_t... g>(std::index_sequence<g...>)
        __attribute__((always_inline)) {
      return One{*address(static_cast<int>(g))...};
    }
    (std::make_index_sequence<V>());
    all.part[0] = reinterpret_cast<Part>(ones);
  } else if constexpr (W == 2) {
    typedef std::uint64_t Two __attribute__((vector_size(4 * V)));
    const Two twos = [&]<std::size_t... g>(std::index_sequence<g...>)
        __attribute__((always_inline)) {
      const auto load_two = [&](int i) __attribute__((always_inline)) {
        std::uint64_t two;
        std::memcpy(&two, address(i), sizeof two);
        return two;
      };
      return Two{load_two(static_cast<int>(g))...};
    }
    (std::make_index_sequence<V / 2>());
    all.part[0] = reinterpret_cast<Part>(twos);
#if defined(__AVX2__)
  } else if constexpr (W == 4 && V > W) {
    const auto quad = [&](int g) __attribute__((always_inline)) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(address(g)));
    };
#if defined(__AVX512F__)
    const __m512i first = _mm512_inserti32x4(_mm512_castsi128_si512(quad(0)), quad(1), 1);
    all.part[0] = reinterpret_cast<Part>(
        _mm512_inserti32x4(_mm512_inserti32x4(first, quad(2), 2), quad(3), 3));
#else
    all.part[0] = reinterpret_cast<Part>(
        _mm256_inserti128_si256(_mm256_castsi128_si256(quad(0)), quad(1), 1));
#endif
#endif
#if defined(__AVX512F__)
  } else if constexpr (W == 8) {
    const auto half = [&](int g) __attribute__((always_inline)) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(address(g)));
    };
    all.part[0] =
        reinterpret_cast<Part>(_mm512_inserti64x4(_mm512_castsi256_si512(half(0)), half(1), 1));
#endif
  } else {
    std::memcpy(&all, address(0), sizeof all);
  }
  return all;
}

template <int W, int V>
class PackCounter {
 public:
  using Bits = Slice<V>;
  static constexpr int sites = V / W;
  static constexpr int kMost = planes_of_sum + 3;  // planes that a group of terms may touch

  PackCounter(const SliceJob& job, const std::uint32_t* words) : job_(job), words_(words) {}

  // @param planes  [kMost], out: the first ones hold the sums
  void count(const PlanePack& pack, const PlanePlace* places, Bits* planes) {
    for (int k = 0; k < kMost; ++k) planes[k] = slice_of<V>(false);
    for (int g = 0; g < sites; ++g) {
      rows_[g] = job_.terms + (g < pack.n_sites ? places[g].first_term : 0);
    }
    for (int k = 0; k < pack.n_powers; ++k) {
      if (pack.max_terms[k] == 0) continue;
      if (pack.negative) {
        add_terms_of<true>(pack, places, k, planes + k);
      } else {
        add_terms_of<false>(pack, places, k, planes + k);
      }
      for (int g = 0; g < pack.n_sites; ++g) rows_[g] += byte_of(places[g].n_terms, k);
    }
  }

 private:
  using Part = typename Bits::Part;

  template <bool kSigned>
  void add_terms_of(const PlanePack& pack, const PlanePlace* places, int k, Bits* planes) {
    const int all = pack.max_terms[k], full = pack.min_terms[k];
    const int n_planes = pack.n_planes - k;
    if (kSigned || full < all || full % 8 != 0) {
      for (int g = 0; g < pack.n_sites; ++g) {
        for (int w = 0; w < W; ++w) {
          n_terms_[g * W + w] = byte_of(places[g].n_terms, k);
          n_positive_[g * W + w] = byte_of(places[g].n_positive, k);
        }
      }
    }
    int t = 0;
    for (; t + 8 <= full; t += 8) {
      ripple(planes, n_planes, 3,
             add_eight<V>(
                 planes, [&](int i) __attribute__((always_inline)) {
                   return term<kSigned, false>(t + i);
                 }));
    }
    for (; t + 4 < all; t += 8) {
      ripple(planes, n_planes, 3,
             add_eight<V>(
                 planes, [&](int i) __attribute__((always_inline)) {
                   return term<kSigned, true>(t + i);
                 }));
    }
    if (t < all) {
      ripple(planes, n_planes, 2,
             add_four(
                 [&](int i) __attribute__((always_inline)) { return term<kSigned, true>(t + i); },
                 planes));
    }
  }

  template <class Term>
  static __attribute__((always_inline)) Bits add_four(Term term, Bits* planes) {
    const Bits a = full_add(planes[0], term(0), term(1));
    const Bits b = full_add(planes[0], term(2), term(3));
    return full_add(planes[1], a, b);
  }

  // Term t of each site; where kSome, not all sites have one.
  template <bool kSigned, bool kSome>
  __attribute__((always_inline)) Bits term(int t) const {
    Bits bits = words_from<W, V>([&](int g) __attribute__((always_inline)) {
      return words_ + static_cast<std::size_t>(rows_[g][t]) * W;
    });
    const Part number = Part{} + static_cast<std::uint32_t>(t);
    if constexpr (kSigned) {
      bits.part[0] ^= reinterpret_cast<Part>(number >= lanes_of(n_positive_));
    }
    if constexpr (kSome) bits.part[0] &= reinterpret_cast<Part>(number < lanes_of(n_terms_));
    return bits;
  }
  static __attribute__((always_inline)) Part lanes_of(const std::uint32_t* lanes) {
    Part part;
    std::memcpy(&part, lanes, sizeof part);
    return part;
  }

  const SliceJob& job_;
  const std::uint32_t* words_;
  const std::uint32_t* rows_[sites];  // terms from here on
  alignas(64) std::uint32_t n_terms_[V] = {};
  alignas(64) std::uint32_t n_positive_[V] = {};
};

}  // namespace
}  // namespace kiln::cpu
