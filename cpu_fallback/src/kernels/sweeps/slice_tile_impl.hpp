// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep in slices. Included by one translation unit per instruction set; everything
// is in an unnamed namespace, see SliceJob.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/philox_lanes.hpp"
#include "kernels/sweeps/lane_rule.hpp"
#include "kernels/sweeps/slice_row.hpp"
#include "kernels/sweeps/slice_tile.hpp"

namespace kiln::cpu {
namespace {

template <int W>
struct SliceTile {
  using Bits = Slice<W>;

  explicit SliceTile(SliceJob& j) : job(j), state(reinterpret_cast<Bits*>(j.scratch)) {}

  void gather() {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      Bits bits = slice_of<W>(false);
      if (v >= 0) copy_words(&bits, job.words + v * job.word_stride);
      state[site] = bits;
    }
  }

  void scatter() const {
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const std::int32_t v = job.variable[site];
      if (v >= 0) copy_words(job.new_words + v * job.word_stride, state + site);
    }
  }

  // A copy of a fixed size is one instruction.
  void copy_words(void* to, const void* from) const {
    if (job.n_words == W) {
      std::memcpy(to, from, 4 * W);
    } else {
      std::memcpy(to, from, 4 * static_cast<std::size_t>(job.n_words));
    }
  }

  // Sums of 32 bits hold the terms of so many sites: at most 4 max_local each, where a field counts
  // twice, and that is at most 2^25.
  std::int32_t sites_between_flushes() const {
    return (1 << 28) / (job.max_local > 0 ? job.max_local : 1);
  }

  SliceJob& job;
  Bits* state;
};

template <int W, bool kHeatBath>
struct SweepTile : SliceTile<W> {
  using Base = SliceTile<W>;
  using Base::job;
  using Base::state;
  using typename Base::Bits;

  explicit SweepTile(SliceJob& j) : Base(j) {
    for (Bits& plane : flip_planes) plane = slice_of<W>(false);
    for (int w = 0; w < job.n_words; ++w) {
      draws[w].step_low = job.step_low;
      draws[w].counter3 = job.counter3;
      draws[w].prepare(job.key + w * kLanes, job.replica + w * kLanes);
      for (int l = 0; l < kLanes; ++l) {
        beta_log2e[w][l] = beta_log2e_of(job.beta[w * kLanes + l]);
        change[w][l] = 0;
      }
    }
  }

#if defined(__AVX512F__)
  // Of 16 replicas those that flip.
  std::uint32_t accepted_half(int w, int half, __m512i delta, const std::uint32_t* words) const {
    const __m512i random_words = _mm512_load_si512(words + 16 * half);
    if (!kHeatBath && job.thresholds[w].size > 0) {
      return accepted_by_table(job.thresholds[w], delta, random_words);
    }
    const HalfDecision rule =
        decide_half<kHeatBath>(delta, _mm512_load_ps(beta_log2e[w] + 16 * half), random_words);
    std::uint32_t accepted = rule.accept;
    if (rule.unsure == 0) return accepted;
    alignas(64) std::int32_t deltas[16];
    _mm512_store_si512(deltas, delta);
    const double* const beta = job.beta + w * kLanes + 16 * half;
    for (int l = 0; l < 16; ++l) {
      if (((rule.unsure >> l) & 1u) == 0) continue;
      const double d = deltas[l];
      accepted |= job.exact_accept(beta[l], d, words[16 * half + l]) ? 1u << l : 0u;
    }
    return accepted;
  }

  // The bits of the replicas of word w that are flipped.
  std::uint32_t flips_of_word(int w, std::uint32_t bits, const std::uint32_t* words) {
    std::uint32_t flipped = 0;
    for (int half = 0; half < 2; ++half) {
      const __m512i local = row.twice_local(w, half);
      const auto up = static_cast<__mmask16>(~(bits >> (16 * half)));
      // dE = -2 s f, s = -1 where the bit is 1
      const __m512i delta = _mm512_mask_sub_epi32(local, up, _mm512_setzero_si512(), local);
      const auto taken = static_cast<__mmask16>(accepted_half(w, half, delta, words) &
                                                (job.moves[w] >> (16 * half)));
      std::int32_t* const sum = change[w] + 16 * half;
      const __m512i old = _mm512_load_si512(sum);
      _mm512_store_si512(sum, _mm512_mask_add_epi32(old, taken, old, delta));
      flipped |= static_cast<std::uint32_t>(taken) << (16 * half);
    }
    return flipped;
  }
#else
  std::uint32_t flips_of_word(int w, std::uint32_t bits, const std::uint32_t* words) {
    alignas(64) std::int32_t delta[kLanes];
    row.twice_local(w, delta);
    for (int l = 0; l < kLanes; l += kIntLanes) {
      const Ints up = lane_masks(~bits, l);
      auto* const lanes = reinterpret_cast<Ints*>(delta + l);
      *lanes = (*lanes ^ up) - up;
    }
    Decision decision;
    decide<kHeatBath>(job.exact_accept, job.beta + w * kLanes, beta_log2e[w], delta, words,
                      decision);
    std::uint32_t flipped = 0;
    for (int l = 0; l < kLanes; l += kIntLanes) {
      const Ints taken =
          *reinterpret_cast<const Ints*>(decision.accept + l) & lane_masks(job.moves[w], l);
      *reinterpret_cast<Ints*>(change[w] + l) += *reinterpret_cast<const Ints*>(delta + l) & taken;
      flipped |= high_bits(taken) << l;
    }
    return flipped;
  }
#endif

  void attempt(std::int32_t site, int k) {
    row.prepare(job, state, site);
    const auto* const own = reinterpret_cast<const std::uint32_t*>(state + site);
    alignas(64) Bits flips = slice_of<W>(false);
    auto* const flipped = reinterpret_cast<std::uint32_t*>(&flips);
    for (int w = 0; w < job.n_words; ++w) flipped[w] = flips_of_word(w, own[w], random[w][k]);
    state[site] = state[site] ^ flips;
    count_flips(flips);
  }

  // The words of the four sites from `site` on.
  void draw(std::int32_t site) {
    const auto first = static_cast<std::uint32_t>(site);
    for (int w = 0; w < job.n_words; ++w) {
      if (job.draw_site == nullptr) draw_quad(draws[w], first / 4, random[w]);
      for (std::uint32_t k = 0; job.draw_site != nullptr && k < 4; ++k) {
        job.draw_site(job.key + w * kLanes, job.replica + w * kLanes, job.step, first + k,
                      random[w][k]);
      }
    }
  }

  void count_flips(Bits carry) {
    for (Bits& plane : flip_planes) {
      const Bits next = plane & carry;
      plane = plane ^ carry;
      carry = next;
      if (!any(carry)) return;
    }
  }

  void flush() {
    const auto* const flips = reinterpret_cast<const std::uint32_t*>(flip_planes);
    for (int w = 0; w < job.n_words; ++w) {
      for (int l = 0; l < kLanes; ++l) {
        job.delta[w * kLanes + l] += static_cast<double>(change[w][l]);
        change[w][l] = 0;
        for (int k = 0; k < kFlipPlanes; ++k) {
          const std::uint64_t bit = (flips[k * W + w] >> l) & 1u;
          job.accepted[w * kLanes + l] += bit << k;
        }
      }
    }
    for (Bits& plane : flip_planes) plane = slice_of<W>(false);
  }

  void run() {
    const std::int32_t fitting = this->sites_between_flushes();
    const std::int32_t between = fitting < kMaxFlips ? fitting : kMaxFlips;
    std::int32_t until_flush = between;
    this->gather();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      const int k = site & 3;
      if (k == 0) draw(site);
      if (job.variable[site] < 0) continue;
      attempt(site, k);
      if (--until_flush > 0) continue;
      flush();
      until_flush = between;
    }
    flush();
    this->scatter();
  }

  static constexpr int kFlipPlanes = 14;
  static constexpr std::int32_t kMaxFlips = (1 << kFlipPlanes) - 1;

  RowSum<W> row;
  WordDraws draws[W];
  alignas(64) std::uint32_t random[W][4][kLanes];
  alignas(64) float beta_log2e[W][kLanes];
  alignas(64) std::int32_t change[W][kLanes];  // of the energies, since the last flush
  alignas(64) Bits flip_planes[kFlipPlanes];
};

// Sums s_i (h_i + local field_i) over all sites: twice the energy.
template <int W>
struct EnergyTile : SliceTile<W> {
  using Base = SliceTile<W>;
  using Base::Base;
  using Base::job;
  using Base::state;
  using typename Base::Bits;

  void add_site(std::int32_t site) {
    row.prepare(job, state, site);
    const auto field = static_cast<std::int32_t>(job.field[site]);
    const auto* const own = reinterpret_cast<const std::uint32_t*>(state + site);
    for (int w = 0; w < job.n_words; ++w) {
#if defined(__AVX512F__)
      for (int half = 0; half < 2; ++half) {
        const __m512i local = row.twice_local(w, half, field);
        const auto down = static_cast<__mmask16>(own[w] >> (16 * half));
        std::int32_t* const to = sum[w] + 16 * half;
        const __m512i old = _mm512_load_si512(to);
        const __m512i plus = _mm512_add_epi32(old, local);
        _mm512_store_si512(to, _mm512_mask_sub_epi32(plus, down, old, local));
      }
#else
      alignas(64) std::int32_t local[kLanes];
      row.twice_local(w, local, field);
      for (int l = 0; l < kLanes; l += kIntLanes) {
        const Ints down = lane_masks(own[w], l);
        const Ints value = *reinterpret_cast<const Ints*>(local + l);
        *reinterpret_cast<Ints*>(sum[w] + l) += (value ^ down) - down;
      }
#endif
    }
  }

  void flush() {
    for (int w = 0; w < job.n_words; ++w) {
      for (int l = 0; l < kLanes; ++l) {
        job.delta[w * kLanes + l] += static_cast<double>(sum[w][l]) / 2;
        sum[w][l] = 0;
      }
    }
  }

  void run() {
    const std::int32_t between = this->sites_between_flushes();
    std::int32_t until_flush = between;
    this->gather();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      if (job.variable[site] < 0) continue;
      add_site(site);
      if (--until_flush > 0) continue;
      flush();
      until_flush = between;
    }
    flush();
  }

  RowSum<W> row;
  alignas(64) std::int32_t sum[W][kLanes] = {};
};

template <int W>
void sweep_slices_of(SliceJob& job) {
  if (job.heat_bath) {
    SweepTile<W, true>(job).run();
  } else {
    SweepTile<W, false>(job).run();
  }
}

// Calls make(constant) with the width of a job.
template <class Call>
inline void with_width(const SliceJob& job, Call call) {
  switch (job.width) {
    case 16:
      return call.template operator()<16>();
    case 8:
      return call.template operator()<8>();
    case 4:
      return call.template operator()<4>();
    case 2:
      return call.template operator()<2>();
    default:
      return call.template operator()<1>();
  }
}

inline void sweep_slices(SliceJob& job) {
  with_width(job, [&]<int W>() { sweep_slices_of<W>(job); });
}
inline void energies_of_slices(SliceJob& job) {
  with_width(job, [&]<int W>() { EnergyTile<W>(job).run(); });
}

}  // namespace
}  // namespace kiln::cpu
