// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/sweeps/metropolis_sweep.hpp"

#include "plane_one_by_one.cuh"
#include "plane_places.cuh"
#include "plane_sums.cuh"
#include "shared_steps.cuh"

/// The sweep of a warp with shared noise. A word accepts the steps up to a number that is drawn
/// ahead (shared_steps.cuh), so all 32 replicas are decided by one comparison of planes.
namespace kiln::cuda {
namespace {

/// The flips of the replicas of V words, in vertical counters. Attempts are added by fours, so that
/// most planes change once in four.
template <int V>
struct FlipCounters {
  static constexpr int most = (1 << flip_bits) - 4;  // attempts; a multiple of four
  std::uint32_t number[V][flip_bits] = {};
  std::uint32_t one[V] = {}, two[V] = {};  // of the last attempts
  int n = 0;

  __device__ void add(const std::uint32_t (&accepted)[V]) {
    const int i = n++;
    if (i % 2 == 0) {
#pragma unroll
      for (int v = 0; v < V; ++v) one[v] = accepted[v];
    } else if (i % 4 == 1) {
#pragma unroll
      for (int v = 0; v < V; ++v) two[v] = full_add(number[v][0], one[v], accepted[v]);
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const std::uint32_t twos = full_add(number[v][0], one[v], accepted[v]);
        ripple<2>(number[v], full_add(number[v][1], two[v], twos));
      }
    }
  }
  /// After the last attempt.
  __device__ void finish() {
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (n % 2 == 1) ripple<0>(number[v], one[v]);
      if (n % 4 > 1) ripple<1>(number[v], two[v]);
    }
    n = 0;
  }
};

template <int W, int V, int P, PlaneRows kRows, bool kOneByOne>
struct SharedWarp {
  using Places = PlanePlaces<W, V, P, kRows>;
  using Memory = typename Places::Memory;
  using Row = typename Places::Row;
  static constexpr bool few_steps = Memory::by_site;
  static constexpr bool rows_early = !Memory::short_rows;  // which are not in shared memory
  static constexpr bool sums_changes = !Memory::shared;    // else numbers are counted afterwards

  const Places places;
  PlaneBlock<W>& block;
  unsigned char* const steps;
  const std::uint32_t sites_ahead;  // whose steps have room
  std::uint32_t moves[V];
  FlipCounters<V> flips;
  PlaneIndices<P, Places::lanes_of_site> indices[sums_changes ? V : 1];

  __device__ SharedWarp(const MetropolisSweep& kernel, std::int64_t first_word,
                        const Memory& memory, const SharedRoom<W, P>& room)
      : places(kernel, first_word, memory),
        block(memory.block),
        steps(reinterpret_cast<unsigned char*>(memory.first_queue())),
        sites_ahead(room.passes * room.sites_of_pass(blockDim.x)) {
#pragma unroll
    for (int v = 0; v < V; ++v) moves[v] = block.words[places.words.word + v].moves;
  }

  /// The steps of the lane's words, a byte each.
  __device__ static std::uint32_t load_steps(const unsigned char* at) {
    if constexpr (V == 4) return *reinterpret_cast<const std::uint32_t*>(at);
    if constexpr (V == 2) return *reinterpret_cast<const std::uint16_t*>(at);
    return *at;
  }
  /// All ones if bit k of the steps of word v is set. The steps have the high bits of a byte.
  __device__ static std::uint32_t mask_of(std::uint32_t steps, int k, int v) {
    std::uint32_t mask;
    asm("prmt.b32 %0, %1, 0, %2;"
        : "=r"(mask)
        : "r"(steps << (P - 1 - k)), "r"(0x8888u + 0x1111u * static_cast<std::uint32_t>(v)));
    return mask;
  }

  /// The replicas of word v that accept: a flip is no step up, or is one of those below.
  __device__ static std::uint32_t decide(const std::uint32_t (&number)[P], std::uint32_t even,
                                         std::uint32_t accepted_steps, int v) {
    std::uint32_t below = ~even & mask_of(accepted_steps, 0, v);
#pragma unroll
    for (int k = 0; k < P - 1; ++k) {
      const std::uint32_t limit = mask_of(accepted_steps, k + 1, v);
      if (Memory::by_site && k > 0) {  // a step up of a short row has level 0 or 1
        below |= limit;
      } else {
        const std::uint32_t level = number[k];
        below = (~level & limit) | (~(level ^ limit) & below);
      }
    }
    return below | ~number[P - 1];
  }

  /// `next` is the row of the lane's next site.
  __device__ void sweep_site(std::uint32_t sweep, std::uint32_t site, const Row& row,
                             const Row& next, const unsigned char* steps_at) {
    const bool real = row.real();
    const std::uint32_t index = places.index_of(site, row), even = row.even();
    const Words<V> own = places.words.load(index);
    std::uint32_t number[V][P];
    places.template count<!kOneByOne>(row, own, number);
    if constexpr (rows_early) places.touch(next);
    const std::uint32_t accepted_steps = kOneByOne ? 0u : load_steps(steps_at);
    std::uint32_t accepted[V];
    Words<V> flipped;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if constexpr (kOneByOne) {
        accepted[v] = one_by_one(sweep, site, v, number[v], even);
      } else {
        accepted[v] = decide(number[v], even, accepted_steps, v);
      }
      accepted[v] &= real ? moves[v] : 0u;
      flipped.of[v] = own.of[v] ^ accepted[v];
      if constexpr (sums_changes) indices[v].add(number[v], even, accepted[v]);
    }
    if (real) places.words.store(index, flipped);
    flips.add(accepted);
    if (flips.n == (sums_changes ? sites_of_sums : FlipCounters<V>::most)) flush_sums();
  }
  __device__ std::uint32_t one_by_one(std::uint32_t sweep, std::uint32_t site, int v,
                                      const std::uint32_t (&number)[P], std::uint32_t even) const {
    Words<P> planes;
#pragma unroll
    for (int k = 0; k < P; ++k) planes.of[k] = number[k];
    const std::int64_t word = places.first_word + places.words.word + v;
    return decide_one_by_one<P>(places.kernel, sweep, min(word, places.kernel.state.columns - 1),
                                site, planes, even);
  }

  __device__ std::uint32_t* flips_of_block() const {
    return sums_changes ? block.indexed : block.flips;
  }
  __device__ void flush_sums() {
    flips.finish();
#pragma unroll
    for (int v = 0; v < V; ++v) {
      add_to_totals<Places::lanes_of_site>(flips.number[v],
                                           flips_of_block() + 32 * (places.words.word + v));
#pragma unroll
      for (std::uint32_t& plane : flips.number[v]) plane = 0;
      if constexpr (sums_changes) indices[v].flush(block.indices + 32 * (places.words.word + v));
    }
  }

  /// Places of a class or stage between two barriers, those whose steps are drawn. Stages have
  /// sites in another order, so the steps of all sites are drawn before them.
  struct Piece {
    std::int32_t c = 0;
    std::uint32_t begin = 0, end = 0;
    std::uint32_t drawn = 0, drawn_end = 0;  // where what is drawn begins and ends
  };
  __device__ std::uint32_t begin_of(std::int32_t c) const {
    const PairwiseView& model = places.kernel.model;
    if constexpr (Memory::staged) {
      return static_cast<std::uint32_t>(__ldg(model.staged.begin.data + c));
    } else {
      return 4u * static_cast<std::uint32_t>(model.class_begin[c]);
    }
  }
  /// The piece behind another one; empty behind the last one. Blocks that share the sites of a
  /// class have a part of what is drawn each.
  __device__ Piece next_piece(const Piece& last, const ClassRange& classes) const {
    Piece next = last;
    next.begin = last.end;
    while (next.c < classes.end && begin_of(next.c + 1) <= next.begin) ++next.c;
    if (next.c >= classes.end) return next;
    if (next.begin >= last.drawn_end) {
      const std::uint32_t end = begin_of(classes.end);
      next.drawn = next.begin;
      next.drawn_end = Memory::staged ? end : min(next.begin + sites_ahead * gridDim.y, end);
    }
    next.end = min(begin_of(next.c + 1), next.drawn_end);
    return next;
  }
  /// How many sites of a block are drawn from `begin` on.
  __device__ std::uint32_t sites_to_draw(std::uint32_t begin, const ClassRange& classes) const {
    if constexpr (Memory::staged) return static_cast<std::uint32_t>(places.kernel.model.n_sites);
    return min(sites_ahead, begin_of(classes.end) - begin);
  }

  /// Sweeps the classes of sweep `sweep` by the definition, or by steps that draw(begin, n) draws:
  /// of n sites of the block from `begin` on.
  template <class Draw>
  __device__ void sweep_classes(const Draw& draw, std::uint32_t sweep, const ClassRange& classes) {
    const std::uint32_t run = blockDim.x / 32 * Places::n_sites;  // places of a round
    const std::uint32_t in_run = threadIdx.x / 32 * Places::n_sites;
    const std::uint32_t in_piece = blockIdx.y * run + in_run;
    Piece piece{classes.first};
    piece.end = piece.drawn_end = begin_of(classes.first);
    piece = next_piece(piece, classes);
    Row next;
    if constexpr (rows_early) next = places.row(piece.begin + in_piece + places.place, piece.end);
#pragma unroll 1
    while (piece.begin < piece.end) {
      if (piece.begin == piece.drawn) draw(piece.begin, sites_to_draw(piece.begin, classes));
      const Piece then = next_piece(piece, classes);
      std::uint32_t first = piece.begin + in_piece;
      if (rows_early && first >= piece.end) {
        next = places.row(then.begin + in_piece + places.place, then.end);
      }
      std::uint32_t in_drawn = piece.begin - piece.drawn + in_run + places.place;
#pragma unroll 1
      while (first < piece.end) {
        const std::uint32_t place = first + places.place;
        first += gridDim.y * run;
        Row row = next;
        if constexpr (rows_early) {
          const bool more = first < piece.end;
          next = places.row((more ? first : then.begin + in_piece) + places.place,
                            more ? piece.end : then.end);
        } else {
          row = places.row(place, piece.end);
        }
        const std::uint32_t site = places.site_at(place, row);
        const std::uint32_t at = Memory::staged ? site : in_drawn;
        sweep_site(sweep, site, row, next, steps + at * W + places.words.word);
        in_drawn += run;
      }
      piece = then;
      __syncthreads();
    }
  }

  /// At the end of the last sweep, by the whole block.
  __device__ void finish() {
    flips.finish();
    BlockSums<W, V, flip_bits>::add(flips.number, places.memory.first_queue(), flips_of_block());
    if constexpr (sums_changes) {
#pragma unroll
      for (int v = 0; v < V; ++v) {
        indices[v].flush(block.indices + 32 * (places.words.word + v));
      }
    }
  }
};

}  // namespace
}  // namespace kiln::cuda
