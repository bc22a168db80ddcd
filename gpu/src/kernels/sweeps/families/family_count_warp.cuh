// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/pairwise_family_sweep.hpp"

#include "family_warp.cuh"
#include "kernels/sweeps/slice_planes.cuh"

// The sweep of a warp over a family of small integers: vertical counters count the neighbours of a
// place in A and in B, for 32 replicas at once.
namespace kiln::cuda {
namespace {

// Of the sums of A and of B.
constexpr int family_planes = 7;

// The numbers of a lane at 32 places: place 8 i + j is byte i of register j. A number is twice the
// number u of GroupSite, plus one if the sum of the site is even.
struct FamilyCounts {
  std::uint32_t base[8], term[8];

  // Half an energy change is the number less this.
  static constexpr std::uint32_t center = (1u << family_planes) - 1;
  __device__ static std::uint32_t number(std::uint32_t of, int i) { return of >> (8 * i) & 255u; }
  __device__ static float half_change(std::uint32_t of, int i) {
    return __uint_as_float(0x4B000000u | number(of, i)) - (8388608.0f + center);
  }
  __device__ static double exact_half_change(std::uint32_t of, int i) {
    return static_cast<double>(static_cast<std::int32_t>(number(of, i) - center));
  }
};

// Decides the `open` places of a lane one by one by the definition; returns those accepted.
template <int W>
__device__ __noinline__ std::uint32_t decide_counts_exactly(const PairwiseFamilySweep& kernel,
                                                            std::int64_t first_word,
                                                            FamilyCounts counts,
                                                            std::uint32_t first_quad,
                                                            std::uint32_t open) {
  std::uint32_t accepted = 0;
  for_open_places<W, 8>(kernel, first_word, first_quad, open,
                        [&](std::int64_t slot, int j, int i, std::uint32_t word) {
                          // The local fields of an up spin with these energy changes.
                          const double base = -FamilyCounts::exact_half_change(counts.base[j], i);
                          const double term = -FamilyCounts::exact_half_change(counts.term[j], i);
                          if (kernel.flips(base, term, false, kernel.beta_of(slot),
                                           kernel.parameter_of(slot), word)) {
                            accepted |= 1u << (8 * i + j);
                          }
                        });
  return accepted;
}

template <int W, bool kShared>
struct FamilyCountWarp : FamilyWarp<W, kShared> {
  using Base = FamilyWarp<W, kShared>;
  using Base::kernel, Base::lane, Base::quad, Base::site, Base::has_word, Base::first_word,
      Base::exchange, Base::members, Base::at;
  static constexpr std::uint32_t table_bytes = 0;

  __device__ FamilyCountWarp(const Places<W, PairwiseFamilySweep>& places, std::uint32_t* of_block,
                             const MemberEstimate* of_slots, unsigned char*)
      : Base(places, of_block, of_slots) {}

  // The word of a variable; that of n_variables is 0.
  __device__ std::uint32_t load(std::uint32_t variable) const {
    if constexpr (kShared) return *at(variable);
    return has_word && variable < static_cast<std::uint32_t>(kernel.model.n_variables)
               ? *at(variable)
               : 0u;
  }

  // Counts the neighbours of the lane's site for a word, and gives the lane the numbers of its
  // replica at 32 places.
  __device__ void count(const GroupView& rows, const GroupSite& row, std::uint32_t own,
                        std::uint32_t (&numbers)[8]) const {
    std::uint32_t planes[family_planes];
    count_row(
        rows, row, own, [&](std::uint32_t v) { return load(v); }, planes);
    numbers[0] = (row.start_and_even & 1) != 0 ? whole_warp : 0u;
#pragma unroll
    for (int k = 0; k < family_planes; ++k) numbers[k + 1] = planes[k];
    numbers_of_planes(numbers);
    exchange.by_replica(numbers);
  }

  template <Draws kDraws, SweepRule kRule>
  __device__ std::uint32_t decide(const FamilyCounts& counts, std::uint32_t first_quad) const {
    std::uint32_t accepted = 0, open = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int w = j % W;
      const SlotEntry slot = this->slots[32 * w + lane];
      const Words4 words =
          this->template draw<kDraws>(slot, w, first_quad + static_cast<std::uint32_t>(j / W));
      MemberEstimate member = members[32 * w + lane];
      member.base += member.base, member.term += member.term;  // for half the changes
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t place = 1u << (8 * i + j);
        const Sure sure = member.template accepts<kRule>(
            FamilyCounts::half_change(counts.base[j], i),
            FamilyCounts::half_change(counts.term[j], i), words.word[i]);
        if (sure == Sure::yes) accepted |= place;
        if (sure == Sure::unsure) open |= place;
      }
    }
    if (open != 0) {
      accepted |= decide_counts_exactly<W>(kernel, first_word, counts, first_quad, open);
    }
    return accepted;
  }

  template <Draws kDraws, SweepRule kRule>
  __device__ void sweep_quads(std::uint32_t first_quad, std::uint32_t end) {
    const PairwiseFamilyView& model = kernel.model;
    const std::uint32_t number = 4 * (first_quad + quad) + site;  // of the lane's site
    GroupSite base, term;
    if (first_quad + quad < end) {
      base = load_site(model.base_groups.sites.data + number);
      term = load_site(model.term_groups.sites.data + number);
    }
    const std::uint32_t own =
        base.variable >= 0 ? load(static_cast<std::uint32_t>(base.variable)) : 0u;
    FamilyCounts counts;
    count(model.base_groups, base, own, counts.base);
    count(model.term_groups, term, own, counts.term);
    this->flip(decide<kDraws, kRule>(counts, first_quad), base.variable, own);
  }
};

}  // namespace
}  // namespace kiln::cuda
