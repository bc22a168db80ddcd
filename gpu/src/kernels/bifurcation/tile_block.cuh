// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include "kernels/linear_algebra/packed_tiles.cuh"

namespace kiln::cuda {

/// Steps of simulated bifurcation as products: the forces on all oscillators of a tile of 128
/// replicas and 128 sites are the shown values of the replicas times the couplings of the sites.
struct BifurcationTiles {
  BifurcationSteps steps;
  PackedOperand couplings;           ///< [site tiles], rows of the matrix
  PackedOperand shown[2];            ///< [replica tiles], before even and before odd steps
  std::uint32_t* written = nullptr;  ///< [replica tiles], tiles of shown values of all steps
  int site_tiles = 0, replica_tiles = 0;
  int first_replica_tile = 0;  ///< of a launch
};

/// The part of a tile that a thread has: two replicas, and of each two neighbouring sites in each
/// of 16 octets, as products leave it.
class TilePart {
 public:
  static constexpr int octets = 16, numbers = 4 * octets;

  __device__ TilePart(const BifurcationTiles& tiles, int site_tile, int replica_tile, int consumer)
      : tiles_(tiles),
        lane_(static_cast<int>(threadIdx.x) % 32),
        row_(consumer * 64 + static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane_ / 4),
        first_site_(static_cast<std::int64_t>(site_tile) * 128 + lane_ % 4 * 2),
        first_slot_(static_cast<std::int64_t>(replica_tile) * 128 + row_) {
    for (int r = 0; r < 2; ++r) {
      const std::int64_t slot = first_slot_ + 8 * r;
      const bool there = slot < tiles.steps.position.columns;
      tuning_[r] = there ? tiles.steps.tuning[tiles.steps.rung_of[slot]] : BifurcationTuning{};
    }
  }

  /// Of number 4 j + 2 r + c: replica r, site c of octet j.
  __device__ std::int64_t site(int i) const { return first_site_ + i / 4 * 8 + i % 2; }
  __device__ std::int64_t slot(int i) const { return first_slot_ + i % 4 / 2 * 8; }
  __device__ int column(int i) const { return i / 4 * 8 + lane_ % 4 * 2 + i % 2; }
  __device__ bool there(int i) const {
    return site(i) < tiles_.steps.position.rows && slot(i) < tiles_.steps.position.columns;
  }

  __device__ Oscillator load(int i) const {
    if (!there(i)) return {};
    return {tiles_.steps.position(site(i), slot(i)), tiles_.steps.momentum(site(i), slot(i))};
  }
  __device__ void store(int i, const Oscillator& of) const {
    if (!there(i)) return;
    tiles_.steps.position(site(i), slot(i)) = of.position;
    tiles_.steps.momentum(site(i), slot(i)) = of.momentum;
  }

  /// Both d of a step.
  __device__ void begin_step(std::uint32_t s) {
    const BifurcationRounds::Place place = tiles_.steps.place_of(s);
    for (int r = 0; r < 2; ++r) {
      detuning_[r] = bifurcation::detuning(tuning_[r].step, place.step, place.length);
    }
  }
  __device__ Oscillator moved(int i, const Oscillator& now, std::int32_t force) const {
    const int r = i % 4 / 2;
    return bifurcation::moved(now, static_cast<float>(force), detuning_[r], tuning_[r]);
  }

  /// Puts the shown values of numbers i and i + 1, i even, into a block of an operand in shared
  /// memory, whose rows are replicas.
  __device__ void show(int i, float first, float second, std::byte* block) const {
    const auto byte_of = [this](float position) {
      return static_cast<std::uint32_t>(bifurcation::shown(position, tiles_.steps.variant)) & 0xffu;
    };
    const int at = column(i), row = row_ + i % 4 / 2 * 8;
    auto* const pair =
        reinterpret_cast<std::uint16_t*>(block + PackedOperand::place(row, at / 16) + at % 16);
    *pair = static_cast<std::uint16_t>(byte_of(first) | byte_of(second) << 8);
  }

 private:
  const BifurcationTiles& tiles_;
  int lane_, row_;
  std::int64_t first_site_, first_slot_;
  BifurcationTuning tuning_[2];
  float detuning_[2] = {};
};

using TileStages = PackedStages<1, 128>;
inline constexpr int shown_bytes = PackedOperand::block_bytes;
/// Stages, a tile of shown values on its way to memory, and room to align both.
inline constexpr int tile_shared_bytes = TileStages::count * TileStages::bytes + shown_bytes + 1024;
inline constexpr int consumer_threads = 128 * PackedRoles::consumers;
static_assert(tile_shared_bytes <= 227 * 1024);

/// What the warp groups of a block share.
struct TileMemory {
  TileStages stages;
  std::byte* shown;      // of this tile
  std::int32_t* field;   // [128], h u of the sites
  std::uint32_t* steps;  // that this launch makes
};

/// The copies of a step: those of couplings need not wait until all tiles have shown their values.
inline __device__ void copy_step(const BifurcationTiles& tiles, const TileStages& stages,
                                 StageCursor<TileStages>& at, int site_tile, int replica_tile,
                                 std::uint32_t step, bool waits) {
  const PackedOperand& shown = tiles.shown[step % 2];
  const int slices = tiles.site_tiles;
  const int ahead = waits ? min(slices, TileStages::count) : 0;
  const auto copy_shown = [&](int stage, int slice) {
    copy_block(stages.a(stage), shown.block(replica_tile, slice), TileStages::a_bytes,
               stages.full + stage);
  };
  const auto copy_couplings = [&](int stage, int slice) {
    wait_for_phase(stages.empty + stage, at.parity ^ 1);
    arrive_and_expect(stages.full + stage, TileStages::bytes);
    copy_columns<1, 128>(stages, stage, tiles.couplings, site_tile, slice);
  };
  const int first_stage = at.stage;
  for (int slice = 0; slice < ahead; ++slice, at.next()) copy_couplings(at.stage, slice);
  if (waits) {
    const std::uint32_t wanted = (step + 1) * static_cast<std::uint32_t>(tiles.site_tiles);
    std::uint32_t written;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(written)
                   : "l"(tiles.written + replica_tile)
                   : "memory");
    } while (written < wanted);
    fence_for_copies();
  }
  for (int slice = 0; slice < ahead; ++slice) {
    copy_shown((first_stage + slice) % TileStages::count, slice);
  }
  for (int slice = ahead; slice < slices; ++slice, at.next()) {
    copy_couplings(at.stage, slice);
    copy_shown(at.stage, slice);
  }
}

/// Writes the shown values of the tile to memory, and counts them there for blocks that wait.
template <bool counts>
__device__ void publish(const BifurcationTiles& tiles, const TileMemory& memory, int site_tile,
                        int replica_tile, std::uint32_t step) {
  fence_for_copies();
  wait_for_threads(1, consumer_threads);
  if (threadIdx.x != 128) return;
  store_block(tiles.shown[step % 2].block(replica_tile, site_tile), memory.shown, shown_bytes);
  if constexpr (!counts) return;
  fence_for_copies();
  __threadfence();
  atomicAdd(tiles.written + replica_tile, 1u);
}

/// All steps, with positions and momenta in registers.
inline __device__ void move_in_registers(const BifurcationTiles& tiles, const TileMemory& memory,
                                         TilePart& part, int site_tile, int replica_tile,
                                         int consumer) {
  float position[TilePart::numbers], momentum[TilePart::numbers];
#pragma unroll
  for (int i = 0; i < TilePart::numbers; ++i) {
    const Oscillator of = part.load(i);
    position[i] = of.position, momentum[i] = of.momentum;
    if (i % 2 == 1) part.show(i - 1, position[i - 1], position[i], memory.shown);
  }
  publish<true>(tiles, memory, site_tile, replica_tile, 0);
  StageCursor<TileStages> at;
  const std::uint32_t steps = *memory.steps;
  const std::int32_t unit = tiles.steps.matrix_unit;
  for (std::uint32_t s = 0; s < steps; ++s) {
    part.begin_step(s);
    std::int32_t sum[TilePart::numbers];
    multiply_slices<Int8Operand>(sum, memory.stages, at, tiles.site_tiles, consumer);
#pragma unroll
    for (int i = 0; i < TilePart::numbers; ++i) {
      const Oscillator of =
          part.moved(i, {position[i], momentum[i]}, sum[i] * unit + memory.field[part.column(i)]);
      position[i] = of.position, momentum[i] = of.momentum;
      if (i % 2 == 1) part.show(i - 1, position[i - 1], position[i], memory.shown);
    }
    publish<true>(tiles, memory, site_tile, replica_tile, s + 1);
  }
#pragma unroll
  for (int i = 0; i < TilePart::numbers; ++i) part.store(i, {position[i], momentum[i]});
}

/// One step, or none: then only shown values are written.
inline __device__ void move_in_memory(const BifurcationTiles& tiles, const TileMemory& memory,
                                      TilePart& part, int site_tile, int replica_tile, int consumer,
                                      std::uint32_t step, bool moves) {
  const std::int32_t unit = tiles.steps.matrix_unit;
  std::int32_t sum[TilePart::numbers];
  if (moves) {
    part.begin_step(step);
    StageCursor<TileStages> at;
    multiply_slices<Int8Operand>(sum, memory.stages, at, tiles.site_tiles, consumer);
  }
#pragma unroll
  for (int i = 0; i < TilePart::numbers; i += 2) {
    Oscillator of[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      of[c] = part.load(i + c);
      if (!moves) continue;
      of[c] = part.moved(i + c, of[c], sum[i + c] * unit + memory.field[part.column(i + c)]);
      part.store(i + c, of[c]);
    }
    part.show(i, of[0].position, of[1].position, memory.shown);
  }
  publish<false>(tiles, memory, site_tile, replica_tile, moves ? step + 1 : 0);
}

}  // namespace kiln::cuda
