// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/exchange/record_block.cuh"
#include "plane_exchange.cuh"

/// What a thread block does between two ticks of the ladders that it keeps.
namespace kiln::cuda {
namespace {

/// Exchanges the states of the pairs that swap, in shared memory.
template <int W, PlaneRows kRows>
__device__ inline void exchange_states(const MetropolisSweep& kernel, const TickWindow<W>& window,
                                       const TickStage<W>& stage, std::uint32_t* states) {
  constexpr int pairs = W / 2;
  const int first = 2 * (static_cast<int>(threadIdx.x) % pairs);
  const int w = window.paired(first), other = window.paired(first + 1);
  const std::uint32_t swaps = stage.swaps[w];
  if (swaps == 0) return;
  const auto stride = static_cast<std::int32_t>(blockDim.x / pairs);
  const std::int32_t n = rows_in_memory<kRows>(kernel.model);
#pragma unroll 4
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x) / pairs; i < n; i += stride) {
    std::uint32_t* const row = states + i * W;
    const std::uint32_t change = (row[w] ^ row[other]) & swaps;
    row[w] ^= change, row[other] ^= change;
  }
}

/// Tells the blocks that wait that the tick has ended, after all else that its end has written.
__device__ inline void publish_control(RunControl* control, RunControl after) {
  if (gridDim.x == 1) {
    *control = after;
    return;
  }
  const std::uint64_t tick = after.tick;
  after.tick = __ldcg(&control->tick);
  *control = after;
  __threadfence();
  *const_cast<volatile std::uint64_t*>(&control->tick) = tick;
}

/// Waits for the end of a tick that another block writes.
__device__ inline void wait_for_end(const RunControl* control, std::uint64_t tick, bool last) {
  if (gridDim.x > 1 && !last && threadIdx.x == 0) {
    std::uint64_t now = tick;
    while (now == tick) {
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                   : "=l"(now)
                   : "l"(&control->tick)
                   : "memory");
    }
  }
  __syncthreads();
}

/// Ends a tick of all blocks: the last one that comes here writes, and the others wait for it.
/// Returns whether a round has ended or records were added, so that temperatures may be others.
__device__ inline bool end_repeated_tick(const LadderTick& kernel, bool phase, const Found& found,
                                         std::uint64_t tick, int& shared_last) {
  const LadderPhase& of_phase = kernel.phase;
  RunControl* const control = kernel.end.best.control;
  const bool rare = phase && (found.full || of_phase.update.ends_round());
  bool last = true;
  if (gridDim.x > 1) {
    last = is_last_block(of_phase.record, shared_last);
  } else {
    // Counts change in the second level of caches, and only at such an end does anybody read them.
    if (rare) __threadfence();
    __syncthreads();
  }
  if (last && rare) {
    end_phase(of_phase, found);
    __syncthreads();
  }
  if (last && threadIdx.x == 0) {
    if (phase && !rare) {
      const LadderRecord& record = of_phase.record;
      if (of_phase.update.counts_call()) ++of_phase.update.plan[0].calls;
      record.state[LadderRecord::next_at] =
          static_cast<std::uint32_t>((found.place + 1) % record.places());
      record.state[LadderRecord::waiting_at] = static_cast<std::uint32_t>(found.left());
    }
    RunControl after = read_control(control);
    const AdvanceTick& advance = kernel.end.advance;
    AdvanceTick{&after, advance.sweeps, advance.log, advance.hold}();
    after.ticket = 0;
    publish_control(control, after);
  }
  wait_for_end(control, tick, last);
  return rare;
}

}  // namespace
}  // namespace kiln::cuda
