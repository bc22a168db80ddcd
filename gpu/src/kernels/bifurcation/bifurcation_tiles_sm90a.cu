// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"

#include "bifurcation_tiles.hpp"
#include "kernels/grid.cuh"
#include "kernels/linear_algebra/packed_operands.cuh"
#include "kernels/linear_algebra/packed_product.hpp"
#include "tile_block.cuh"

namespace kiln::cuda {
namespace {

// A launch makes all steps where all tiles are on the device at once; else the step `step`, -1 to
// write the shown values before the first.
template <bool resident>
__global__ void __launch_bounds__(PackedRoles::threads, 1)
    move_tiles(const __grid_constant__ BifurcationTiles tiles, int step) {
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::byte tile_memory[];
  __shared__ PhaseBarrier full[TileStages::count], empty[TileStages::count];
  __shared__ std::int32_t field[128];
  __shared__ std::uint32_t steps;
  const std::uint32_t misaligned = shared_address(tile_memory) % 1024;
  std::byte* const aligned = tile_memory + (misaligned == 0 ? 0 : 1024 - misaligned);
  const TileMemory memory{{aligned + shown_bytes, full, empty}, aligned, field, &steps};
  const int site_tile = static_cast<int>(blockIdx.x) % tiles.site_tiles;
  const int replica_tile =
      tiles.first_replica_tile + static_cast<int>(blockIdx.x) / tiles.site_tiles;
  if (threadIdx.x < 128) {
    const std::int64_t site = site_tile * 128 + static_cast<int>(threadIdx.x);
    const double h = site < tiles.steps.model.n_sites ? tiles.steps.model.field[site] : 0.0;
    field[threadIdx.x] = static_cast<std::int32_t>(h) * bifurcation::unit_of(tiles.steps.variant);
  }
  if (threadIdx.x == 0) {
    const auto at = std::uint64_t{tiles.steps.step_offset} + static_cast<unsigned>(max(step, 0));
    steps = resident ? tiles.steps.active_steps() : tiles.steps.control->active(at) ? 1 : 0;
  }
  memory.stages.start();
  if (steps == 0) return;
  const int group = static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    shrink_registers<PackedRoles::few_registers>();
    if (threadIdx.x != 0) return;
    StageCursor<TileStages> at;
    if constexpr (resident) {
      const std::uint32_t count = steps;
      for (std::uint32_t s = 0; s < count; ++s) {
        copy_step(tiles, memory.stages, at, site_tile, replica_tile, s, true);
      }
    } else if (step >= 0) {
      copy_step(tiles, memory.stages, at, site_tile, replica_tile, static_cast<std::uint32_t>(step),
                false);
    }
    return;
  }
  grow_registers<PackedRoles::many_registers>();
  TilePart part(tiles, site_tile, replica_tile, group - 1);
  if constexpr (resident) {
    move_in_registers(tiles, memory, part, site_tile, replica_tile, group - 1);
  } else {
    move_in_memory(tiles, memory, part, site_tile, replica_tile, group - 1,
                   static_cast<std::uint32_t>(max(step, 0)), step >= 0);
  }
#endif
}

BifurcationTiles tiles_of(const BifurcationSteps& kernel) {
  BifurcationTiles tiles;
  tiles.steps = kernel;
  const auto of_128 = [](std::int64_t n) { return static_cast<int>((n + 127) / 128); };
  tiles.site_tiles = of_128(kernel.position.rows);
  tiles.replica_tiles = of_128(kernel.position.columns);
  auto at = reinterpret_cast<std::uintptr_t>(kernel.scratch.data);
  std::byte* next = kernel.scratch.data + (1024 - at % 1024) % 1024;
  const auto take = [&](int row_tiles) {
    PackedOperand operand{next, tiles.site_tiles, 1};
    next += static_cast<std::int64_t>(row_tiles) * tiles.site_tiles * PackedOperand::block_bytes;
    return operand;
  };
  tiles.couplings = take(tiles.site_tiles);
  tiles.shown[0] = take(tiles.replica_tiles);
  tiles.shown[1] = take(tiles.replica_tiles);
  tiles.written = reinterpret_cast<std::uint32_t*>(next);
  return tiles;
}

// Replicas are independent: as many tiles of them as the device has room for, then the next ones.
void launch_resident(BifurcationTiles& tiles, int tiles_at_once, Queue& queue) {
  cuda_check(cudaMemsetAsync(tiles.written, 0,
                             sizeof(std::uint32_t) * static_cast<std::size_t>(tiles.replica_tiles),
                             stream_of(queue)),
             "clearing counters of tiles");
  const int launches = (tiles.replica_tiles + tiles_at_once - 1) / tiles_at_once;
  const int of_launch = (tiles.replica_tiles + launches - 1) / launches;
  for (int first = 0; first < tiles.replica_tiles; first += of_launch) {
    tiles.first_replica_tile = first;
    const int count = std::min(of_launch, tiles.replica_tiles - first) * tiles.site_tiles;
    int step = 0;
    void* arguments[] = {&tiles, &step};
    cuda_check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(move_tiles<true>),
                                           static_cast<unsigned>(count), PackedRoles::threads,
                                           arguments, tile_shared_bytes, stream_of(queue)),
               BifurcationSteps::name);
  }
}

}  // namespace

bool launch_tiles(const BifurcationSteps& kernel, Queue& queue) {
  if (kernel.matrix.data == nullptr || !kernel.forces_fit_int32() || !has_packed_products(queue))
    return false;
  BifurcationTiles tiles = tiles_of(kernel);
  const PackSource<std::int8_t> source{kernel.matrix.data, kernel.matrix.stride, kernel.matrix.rows,
                                       kernel.matrix.rows, false};
  pack_operand<Int8Operand, 1>
      <<<dim3(static_cast<unsigned>(tiles.site_tiles), static_cast<unsigned>(tiles.site_tiles)),
         256, 0, stream_of(queue)>>>(source, tiles.couplings, nullptr);
  check_launch(BifurcationSteps::name);
  const int at_once = limits_of(queue).multiprocessors / tiles.site_tiles;
  if (at_once > 0) {
    reserve_shared(queue, move_tiles<true>, tile_shared_bytes, BifurcationSteps::name);
    launch_resident(tiles, at_once, queue);
    return true;
  }
  reserve_shared(queue, move_tiles<false>, tile_shared_bytes, BifurcationSteps::name);
  const auto blocks =
      static_cast<unsigned>(tiles.site_tiles) * static_cast<unsigned>(tiles.replica_tiles);
  for (int step = -1; step < static_cast<int>(kernel.steps); ++step) {
    move_tiles<false>
        <<<blocks, PackedRoles::threads, tile_shared_bytes, stream_of(queue)>>>(tiles, step);
    check_launch(BifurcationSteps::name);
  }
  return true;
}

}  // namespace kiln::cuda
