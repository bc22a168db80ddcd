// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include "family_warp.cuh"
#include "kernels/sweeps/slice_patterns.cuh"

// The sweep of a warp over a family by patterns of neighbours, as PatternWarp does for one model. A
// pattern determines the energy changes of A and of B; a decision needs both.
namespace kiln::cuda {
namespace {

// The tables of a warp: for each of its sites and each pattern the changes of A and B.
template <int W, int P>
struct FamilyTables {
  static constexpr std::uint32_t entries = PatternFormat<P>::entries;
  static constexpr std::uint32_t bytes = 32 / W * entries * sizeof(float2);
  float2* begin;

  __device__ float2* of_site(std::uint32_t site) const { return begin + site * entries; }
  // That of an entry, in bytes, at place 8 i + j.
  __device__ float2 change(int i, int j, std::uint32_t entry) const {
    const auto* const table =
        reinterpret_cast<const unsigned char*>(of_site(static_cast<std::uint32_t>(j / W * 4 + i)));
    return *reinterpret_cast<const float2*>(table + entry);
  }
};

// The fields and couplings of a site, in the order of its row; 0 beyond the last neighbour.
template <int P>
struct FamilyRow {
  FamilyPair field, coupling[P];
};

__device__ inline FamilyPair plus(const FamilyPair& a, const FamilyPair& b, bool down) {
  return {exact::add(a.base, down ? -b.base : b.base), exact::add(a.term, down ? -b.term : b.term)};
}

// Decides the `open` places of a lane one by one by the definition; returns those accepted.
template <int W, int P>
__device__ __noinline__ std::uint32_t decide_family_exactly(const PairwiseFamilySweep& kernel,
                                                            std::int64_t first_word,
                                                            Patterns<P> patterns,
                                                            std::uint32_t first_quad,
                                                            std::uint32_t open) {
  const PairwiseFamilyView& model = kernel.model;
  std::uint32_t accepted = 0;
  for_open_places<W, 1>(
      kernel, first_word, first_quad, open,
      [&](std::int64_t slot, int j, int i, std::uint32_t word) {
        const std::uint32_t quad = first_quad + static_cast<std::uint32_t>(j / W);
        const std::uint32_t site = 4 * quad + static_cast<std::uint32_t>(i);
        // A filler has no row, and its flips do not count.
        if (site >= static_cast<std::uint32_t>(model.n_sites)) return;
        const std::uint32_t pattern = patterns.template entry<0>(i, j);
        FamilyPair local = model.field[site];
        const std::int64_t begin = model.row_begin[site], end = model.row_begin[site + 1];
        for (std::int64_t e = begin; e < end; ++e) {
          const FamilyEntry entry = model.entries[e];
          local = plus(local, {entry.base, entry.term}, (pattern >> (e - begin) & 1u) != 0);
        }
        const bool down = model.has_fields && (pattern >> (P - 1) & 1u) != 0;
        if (kernel.flips(local.base, local.term, down, kernel.beta_of(slot),
                         kernel.parameter_of(slot), word)) {
          accepted |= 1u << (8 * i + j);
        }
      });
  return accepted;
}

template <int W, int P, bool kShared>
struct FamilyPatternWarp : FamilyWarp<W, kShared> {
  using Base = FamilyWarp<W, kShared>;
  using Base::kernel, Base::lane, Base::word, Base::quad, Base::site, Base::first_word,
      Base::exchange, Base::members, Base::load;
  using Of = PatternFormat<P>;
  using Tables = FamilyTables<W, P>;
  static constexpr std::uint32_t table_bytes = Tables::bytes;  // of a warp

  const Tables tables;
  const bool own_bit;  // is the highest of a pattern

  __device__ FamilyPatternWarp(const Places<W, PairwiseFamilySweep>& places,
                               std::uint32_t* of_block, const MemberEstimate* of_slots,
                               unsigned char* of_warp)
      : Base(places, of_block, of_slots),
        tables{reinterpret_cast<float2*>(of_warp)},
        own_bit(kernel.model.has_fields) {}

  // Reads the row of a site: what its table is made of, and the planes of its pattern for the 32
  // replicas of a word. Without fields, turning all spins keeps an energy change, so planes then
  // say which neighbours differ from the site.
  __device__ FamilyRow<P> read_row(std::uint32_t number, std::uint32_t own,
                                   std::uint32_t (&planes)[P]) const {
    const PairwiseFamilyView& model = kernel.model;
    const std::int64_t begin = __ldg(model.row_begin.data + number);
    const auto n = static_cast<int>(__ldg(model.row_begin.data + number + 1) - begin);
    const std::uint32_t turned = own_bit ? 0u : own;
    FamilyRow<P> row;
    row.field = {__ldg(&model.field[number].base), __ldg(&model.field[number].term)};
#pragma unroll
    for (int k = 0; k < P; ++k) {
      planes[k] = 0u;
      if (k >= n) continue;
      const FamilyEntry& entry = model.entries[begin + k];
      planes[k] = load(__ldg(reinterpret_cast<const long long*>(&entry.variable))) ^ turned;
      row.coupling[k] = {__ldg(&entry.base), __ldg(&entry.term)};
    }
    if (own_bit) planes[P - 1] = own;
    return row;
  }

  // Fills the table of the lane's site together with the lanes of its other words. One bit of a
  // pattern turns both energy changes.
  __device__ void fill(const FamilyRow<P>& row) const {
    float2* const table = tables.of_site(static_cast<std::uint32_t>(4 * quad + site));
    const std::uint32_t other = own_bit ? Of::entries / 2 : Of::entries - 1;
#pragma unroll 2
    for (std::uint32_t m = 0; m < Of::entries / 2; m += W) {
      const std::uint32_t pattern = m + static_cast<std::uint32_t>(word);
      FamilyPair local = row.field;
#pragma unroll
      for (int k = 0; k < P; ++k) local = plus(local, row.coupling[k], (pattern >> k & 1u) != 0);
      const float a = family_estimate(-2 * local.base), b = family_estimate(-2 * local.term);
      table[pattern] = make_float2(a, b), table[pattern ^ other] = make_float2(-a, -b);
    }
  }

  template <Draws kDraws, SweepRule kRule>
  __device__ std::uint32_t decide(const Patterns<P>& patterns, std::uint32_t first_quad) const {
    std::uint32_t accepted = 0, open = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int w = j % W;
      const SlotEntry slot = this->slots[32 * w + lane];
      const Words4 words =
          this->template draw<kDraws>(slot, w, first_quad + static_cast<std::uint32_t>(j / W));
      const MemberEstimate member = members[32 * w + lane];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t place = 1u << (8 * i + j);
        const float2 change = tables.change(i, j, patterns.entry(i, j));
        const Sure sure = member.template accepts<kRule>(change.x, change.y, words.word[i]);
        if (sure == Sure::yes) accepted |= place;
        if (sure == Sure::unsure) open |= place;
      }
    }
    if (open != 0) {
      accepted |= decide_family_exactly<W, P>(kernel, first_word, patterns, first_quad, open);
    }
    return accepted;
  }

  template <Draws kDraws, SweepRule kRule>
  __device__ void sweep_quads(std::uint32_t first_quad, std::uint32_t end) {
    const std::uint32_t number = 4 * (first_quad + quad) + site;  // of the lane's site
    const std::int32_t variable =
        first_quad + quad < end ? __ldg(kernel.model.variable.data + number) : -1;
    const bool real = variable >= 0;
    const std::uint32_t own = real ? load(variable) : 0u;
    std::uint32_t planes[P] = {};
    FamilyRow<P> row;
    if (real) row = read_row(number, own, planes);
    __syncwarp();  // the tables of the task before are no longer read
    fill(row);
    Patterns<P> patterns;
#pragma unroll
    for (int k = 0; k < Of::bits; ++k) patterns.of[k] = k < P ? planes[k] : 0u;
    numbers_of_planes(patterns.of);
    exchange.by_replica(patterns.of);
    __syncwarp();
    this->flip(decide<kDraws, kRule>(patterns, first_quad), variable, own);
  }
};

}  // namespace
}  // namespace kiln::cuda
