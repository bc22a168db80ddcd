// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The body of the sweep whose words 32 replicas have in common (shared_draws.hpp): a word accepts
// the steps up below one level, so that all replicas are decided by one comparison of planes.
// Included by one translation unit per instruction set; everything is in an unnamed namespace, see
// SliceJob.
#include <cstdint>
#include <cstring>

#include "kernels/sweeps/plane_tile_impl.hpp"

namespace kiln::cpu {
namespace {

// The number u of a site for each replica, as GroupSite has it: its highest plane says whether a
// flip raises the energy, and then the others are the level. Members are called as those of PackOf.
template <int W>
struct PlaneNumber {
  Slice<W> number[kMaxNumberPlanes];
  Slice<W> accepted;
  PlanePack pack;

  void count(const SliceJob& job, const Slice<W>* state, std::int32_t site) {
    const SliceSite& row = job.sites[site];
    const NumberShape shape = number_shape(row, static_cast<std::int32_t>(job.field[site]));
    const int n = shape.n_planes;
    const std::int32_t start = start_of_number(row, n, shape.even);
    pack.n_planes = static_cast<std::uint8_t>(n);
    pack.even = shape.even;
    for (int k = 0; k < kMaxNumberPlanes; ++k) number[k] = slice_of<W>((start >> k & 1) != 0);
    const Slice<W> own = state[site];
    if (shape.even) ripple(number, n, 0, own);
    add_row<W>(
        job, row, [state](std::uint32_t neighbor) { return state[neighbor]; }, number, n);
    for (int k = 0; k < n; ++k) number[k] = number[k] ^ own;
  }
};

// The sweep of words of whole numbers of 32 replicas, whatever decides their attempts.
template <int W>
struct WordsTile : SliceTile<W> {
  using Base = SliceTile<W>;
  using Base::job;
  using Base::state;
  using typename Base::Bits;

  explicit WordsTile(SliceJob& j)
      : Base(j), sums(j, W, 32 - __builtin_clz(static_cast<unsigned>(j.max_local | 1)), j.n_sites) {
    alignas(64) std::uint32_t bits[W] = {};
    for (int w = 0; w < job.n_words; ++w) {
      names[w] = job.replica[w * kLanes] / kLanes;
      bits[w] = job.moves[w];
    }
    std::memcpy(&moves, bits, sizeof moves);
  }

  // decide(site, number) are the replicas whose attempts are accepted, with the number of the site.
  // It is not called for fillers; begin(site) is called for all sites.
  template <class Begin, class Decide>
  void sweep_sites(Begin begin, Decide decide) {
    if (job.gathers) this->gather();
    for (std::int32_t site = 0; site < job.n_sites; ++site) {
      begin(site);
      if (job.variable[site] < 0) continue;
      PlaneNumber<W>& number = numbers[n_numbers++];
      number.count(job, state, site);
      number.accepted = decide(site, number) & moves;
      state[site] = state[site] ^ number.accepted;
      if (n_numbers == 8) add_up();
    }
    add_up();
    sums.finish();
    if (job.scatters) this->scatter();
  }

  // Adds up what the last sites accepted.
  void add_up() {
    const int n = n_numbers;
    n_numbers = 0;
    bool alike = n == 8;
    for (int i = 0; i < n; ++i) {
      alike = alike && numbers[i].pack.n_planes == numbers[0].pack.n_planes;
    }
    if (alike) return sums.add_eight_packs(numbers, numbers[0].pack.n_planes);
    for (int i = 0; i < n; ++i) {
      const PlanePack& of = numbers[i].pack;
      sums.add(numbers[i].number, of.n_planes, of.even, numbers[i].accepted);
    }
  }

  PlaneSums<W> sums;
  PlaneNumber<W> numbers[8];
  int n_numbers = 0;
  Bits moves;
  std::uint32_t names[W] = {};  // replica / 32
};

// The words of W words of 32 replicas, of one key at one step, for a few quads of sites at a time.
template <int W>
class SharedDraws {
 public:
  static constexpr int sites = 4 * (W < kIntLanes ? kIntLanes / W : 1);

  // @param names  replica / 32 of each word
  void prepare(std::uint64_t key, const std::uint32_t* names, std::uint32_t step_low,
               std::uint32_t counter3) {
    key_ = key;
    step_low_ = step_low;
    counter3_ = counter3;
    for (int l = 0; l < kAll; ++l) {
      name_[l] = names[l % W];
      quad_[l] = static_cast<std::uint32_t>(l / W);
    }
  }

  // Those of the sites from `first` on, a multiple of `sites`.
  void draw(std::int32_t first) {
    for (int l = 0; l < kAll; l += kIntLanes) {
      Counter c{load(quad_ + l) + spread(static_cast<std::uint32_t>(first) / 4), load(name_ + l),
                spread(step_low_), spread(counter3_)};
      auto key0 = static_cast<std::uint32_t>(key_), key1 = static_cast<std::uint32_t>(key_ >> 32);
      for (int round = 0; round < 10; ++round, key0 += kWeyl0, key1 += kWeyl1) {
        philox_round(c, spread(key0), spread(key1));
      }
      put(0, l, c.c0), put(1, l, c.c1), put(2, l, c.c2), put(3, l, c.c3);
    }
  }

  // [W]
  const std::uint32_t* of(std::int32_t site) const { return words_ + site % sites * W; }

 private:
  static constexpr int kAll = W < kIntLanes ? kIntLanes : W;
  static constexpr int kRun = W < kIntLanes ? W : kIntLanes;  // lanes of one quad

  void put(int site, int lane, Ints values) {
    alignas(64) std::uint32_t lanes[kIntLanes];
    store(lanes, values);
    for (int l = 0; l < kIntLanes; l += kRun) {
      const int quad = (lane + l) / W, word = (lane + l) % W;
      std::memcpy(words_ + (4 * quad + site) * W + word, lanes + l, 4 * kRun);
    }
  }

  std::uint64_t key_ = 0;
  std::uint32_t step_low_ = 0, counter3_ = 0;
  alignas(64) std::uint32_t name_[kAll];
  alignas(64) std::uint32_t quad_[kAll];
  alignas(64) std::uint32_t words_[sites * W];
};

template <int W>
struct SharedTile : WordsTile<W> {
  using Base = WordsTile<W>;
  using Base::job;
  using Base::names;
  using typename Base::Bits;
  using Part = typename Bits::Part;

  explicit SharedTile(SliceJob& j) : Base(j) {
    draws.prepare(job.key[0], names, job.step_low, job.counter3);
  }

  // How many of the first n levels each word accepts.
  static Part accepted_levels(const SharedTable& table, int n, Part words) {
    Part count = Part{} + static_cast<std::uint32_t>(table.n_all);
    for (int level = table.n_all; level < table.n_levels; level += SharedTable::step) {
      Part more{};
      for (int i = 0; i < SharedTable::step; ++i) {
        more -= reinterpret_cast<Part>(words < Part{} + table.threshold[level + i]);
      }
      count += more;
      if (!any_lane(more)) break;
    }
    const Part most = Part{} + static_cast<std::uint32_t>(n);
    return count < most ? count : most;
  }

  static bool any_lane(Part part) {
    std::uint32_t lanes[sizeof(Part) / 4];
    std::memcpy(lanes, &part, sizeof lanes);
    std::uint32_t bits = 0;
    for (const std::uint32_t lane : lanes) bits |= lane;
    return bits != 0;
  }

  // All ones in the words whose number has the bit.
  static Bits words_with(const Bits& numbers, int bit) {
    Bits result;
    for (int i = 0; i < Bits::n_parts; ++i) {
      result.part[i] = Part{} - (numbers.part[i] >> bit & 1u);
    }
    return result;
  }

  // The replicas whose attempts are accepted.
  Bits decide(std::int32_t site, const PlaneNumber<W>& number) const {
    const SharedTable& table = job.shared_tables[number.pack.even ? 1 : 0];
    const int top = number.pack.n_planes - 1;
    const Bits up = number.number[top];
    if (table.n_levels == 0) return up ^ slice_of<W>(true);
    Bits limit;
    for (int i = 0; i < Bits::n_parts; ++i) {
      Part words;
      std::memcpy(&words, draws.of(site) + i * (Bits::bytes / 4), sizeof words);
      limit.part[i] = accepted_levels(table, 1 << top, words);
    }
    Bits below = slice_of<W>(false);
    for (int k = 0; k < top; ++k) below = less(number.number[k], words_with(limit, k), below);
    return or_not(below | words_with(limit, top), up);
  }

  void run() {
    const auto draw = [this](std::int32_t site) {
      if (site % SharedDraws<W>::sites == 0) draws.draw(site);
    };
    this->sweep_sites(draw, [this](std::int32_t site, const PlaneNumber<W>& number) {
      return decide(site, number);
    });
  }

  SharedDraws<W> draws;
};

inline void sweep_shared(SliceJob& job) {
  with_width(job, [&]<int W>() { SharedTile<W>(job).run(); });
}

}  // namespace
}  // namespace kiln::cpu
