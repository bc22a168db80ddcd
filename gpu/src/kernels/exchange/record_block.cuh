// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/exchange/ladder_flush.hpp"

#include "kernels/grid.cuh"
#include "statistics_block.cuh"

/// Adding recorded energies: blocks take calls of rungs side by side, and the last block of a rung
/// adds the calls in their order.
namespace kiln::cuda {
namespace {

template <int kThreads>
struct AddMemoryOf {
  LadderStatistics::Part parts[kThreads];
  int last;
};
using AddMemory = AddMemoryOf<LadderStatistics::lanes>;

// What other blocks of the launch have written: past the cache of the multiprocessor.
__device__ inline LadderStatistics::Part load_part(const LadderStatistics::Part* from) {
  constexpr int words = sizeof(LadderStatistics::Part) / sizeof(unsigned long long);
  union {
    unsigned long long word[words];
    LadderStatistics::Part part;
  } copy;
#pragma unroll
  for (int i = 0; i < words; ++i) {
    copy.word[i] = __ldcg(reinterpret_cast<const unsigned long long*>(from) + i);
  }
  return copy.part;
}

// Leaves the sum of a recorded call of a rung in shared.parts[0].
template <class Team, class AtCell>
__device__ void add_lanes(const LadderFlush& kernel, std::int64_t first, std::int64_t rung,
                          const LadderStatistics::Reference& reference,
                          AddMemoryOf<Team::size>& shared, AtCell at_cell) {
  const LadderStatistics& statistics = kernel.statistics;
  const double* const energy = kernel.record.energy.data + first;
  const double* const weighed = kernel.record.term ? kernel.record.term.data + first : energy;
  LadderStatistics::Part mine = LadderStatistics::nothing();
  for (std::int64_t ladder = Team::me(); ladder < statistics.ladders;
       ladder += LadderStatistics::lanes) {
    mine = LadderStatistics::combine(
        mine, statistics.of_energies(rung, statistics.number_at(ladder, rung), energy[ladder],
                                     weighed[ladder], reference));
  }
  for (int lanes = LadderStatistics::lanes; lanes > Team::size; lanes /= 2) {
    mine = LadderStatistics::combine(mine, LadderStatistics::nothing());
  }
  Team::sync();
  shared.parts[Team::me()] = mine;
  combine_lanes<Team>(statistics, shared.parts, at_cell);
}

// By a team, for a rung that had no reference: a call may give one to the next.
template <class Team>
__device__ void add_one_by_one(const LadderFlush& kernel, std::int64_t calls, std::int64_t rung,
                               AddMemoryOf<Team::size>& shared) {
  const LadderStatistics& statistics = kernel.statistics;
  for (std::int64_t call = 0; call < calls; ++call) {
    const std::int64_t first = kernel.record.at(kernel.record.place_of(call), rung, statistics);
    const double e = kernel.record.energy[first];
    const double v = kernel.record.term ? kernel.record.term[first] : e;
    const LadderStatistics::Reference reference = statistics.reference_of(rung, e, v);
    add_lanes<Team>(
        kernel, first, rung, reference, shared,
        [&](int j, const LadderStatistics::Part& even, const LadderStatistics::Part& odd) {
          statistics.add_ladders(rung, j, even, odd);
        });
    if (Team::me() == 0) statistics.add(rung, reference, shared.parts[0]);
    Team::sync();
  }
}

// By the first warp of the team that finishes the last call of a rung.
template <class Team>
__device__ void add_calls(const LadderFlush& kernel, std::int64_t calls, std::int64_t rung,
                          const LadderStatistics::Reference& reference) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const auto take_part = [&](std::int64_t call, std::int64_t j) {
    LadderStatistics::Part& from =
        record.parts[(rung * record.calls + call) * LadderRecord::parts_of_call + j];
    const LadderStatistics::Part part = load_part(&from);
    from = LadderStatistics::nothing();
    return part;
  };
  const int j = Team::me();
  if (j < LadderRecord::cells && statistics.cells_of_ladders()) {
    for (std::int64_t call = 0; call < calls; ++call) {
      statistics.add_to_cell(rung, j, take_part(call, j));
    }
  } else if (j == LadderRecord::cells) {
    RungSums all = statistics.sums[rung];
    for (std::int64_t call = 0; call < calls; ++call) {
      statistics.add_to_sums(all, rung, reference, take_part(call, j));
    }
    statistics.sums[rung] = all;
  }
}

// Leaves the sums of a recorded call of a rung that has a reference in record.parts.
template <class Team>
__device__ void add_call(const LadderFlush& kernel, std::int64_t call, std::int64_t rung,
                         const LadderStatistics::Reference& reference,
                         AddMemoryOf<Team::size>& shared) {
  const LadderRecord& record = kernel.record;
  LadderStatistics::Part* const parts =
      &record.parts[(rung * record.calls + call) * LadderRecord::parts_of_call];
  add_lanes<Team>(
      kernel, record.at(record.place_of(call), rung, kernel.statistics), rung, reference, shared,
      [&](int j, const LadderStatistics::Part& even, const LadderStatistics::Part& odd) {
        parts[j] = LadderStatistics::combine(even, odd);
      });
  if (Team::me() == 0) parts[LadderRecord::cells] = shared.parts[0];
}

__device__ inline LadderStatistics::Reference reference_of_sums(const RungSums& sums) {
  return {sums.reference, sums.weighed_reference};
}

// Adds the calls that wait with all teams of the launch, each with separate memory. Nothing of
// this launch may change the temperatures, those calls or how many wait before all blocks are done.
template <class Team>
__device__ void add_records(const LadderFlush& kernel, std::int64_t calls, AddMemory& shared) {
  const LadderStatistics& statistics = kernel.statistics;
  const LadderRecord& record = kernel.record;
  const std::int64_t tasks = statistics.sums.size * calls;
  const std::int64_t teams = std::int64_t{gridDim.x} * Team::of_block();
  for (std::int64_t task = std::int64_t{blockIdx.x} * Team::of_block() + Team::number();
       task < tasks; task += teams) {
    const std::int64_t rung = task / calls, call = task % calls;
    if (record.referenced(rung, statistics.sums.size) == 0) {
      if (call == 0) add_one_by_one<Team>(kernel, calls, rung, shared);
      continue;
    }
    const LadderStatistics::Reference reference = reference_of_sums(statistics.sums[rung]);
    add_call<Team>(kernel, call, rung, reference, shared);
    __threadfence();
    Team::sync();
    if (Team::me() == 0) {
      std::uint32_t& ticket = record.state[LadderRecord::first_rung_at + rung];
      shared.last = atomicAdd(&ticket, 1u) + 1 == calls ? 1 : 0;
      if (shared.last != 0) ticket = 0;
      __threadfence();
    }
    Team::sync();
    if (shared.last != 0 && Team::me() < warp_size) add_calls<Team>(kernel, calls, rung, reference);
    Team::sync();
  }
}

// The same by the one block of a launch of at most 32 ladders: a warp for a call of a rung, then a
// warp for a rung.
__device__ inline void add_records_of_few(const LadderFlush& kernel, std::int64_t calls,
                                          AddMemoryOf<PartOfWarp::size>* memory) {
  using Team = PartOfWarp;
  const LadderStatistics& statistics = kernel.statistics;
  const std::int64_t rungs = statistics.sums.size;
  AddMemoryOf<Team::size>& shared = memory[Team::number()];
  const auto referenced = [&](std::int64_t rung) {
    return kernel.record.referenced(rung, rungs) != 0;
  };
#pragma unroll 1
  for (std::int64_t task = Team::number(); task < rungs * calls; task += Team::of_block()) {
    const std::int64_t rung = task / calls;
    if (!referenced(rung)) continue;
    add_call<Team>(kernel, task % calls, rung, reference_of_sums(statistics.sums[rung]), shared);
  }
  __threadfence_block();
  __syncthreads();
#pragma unroll 1
  for (std::int64_t rung = Team::number(); rung < rungs; rung += Team::of_block()) {
    if (referenced(rung)) {
      add_calls<Team>(kernel, calls, rung, reference_of_sums(statistics.sums[rung]));
    } else {
      add_one_by_one<Team>(kernel, calls, rung, shared);
    }
  }
}

// Whether this block is the last one of the launch to come here; the ticket is then zero again.
__device__ inline bool is_last_block(const LadderRecord& record, int& shared_last) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t& ticket = record.state[LadderRecord::ticket_at];
    shared_last = atomicAdd(&ticket, 1u) + 1 == gridDim.x ? 1 : 0;
    if (shared_last != 0) ticket = 0;
    __threadfence();
  }
  __syncthreads();
  return shared_last != 0;
}

// By the last block of a launch that has changed sums: notes for the next one which rungs have a
// reference. Their counts change while blocks of a launch begin, so they do not tell.
__device__ inline void note_references(const LadderFlush& kernel) {
  const std::int64_t rungs = kernel.statistics.sums.size;
  for (std::int64_t rung = threadIdx.x; rung < rungs; rung += blockDim.x) {
    const std::uint64_t count = __ldcg(&kernel.statistics.sums[rung].count);
    kernel.record.referenced(rung, rungs) = count != 0 ? 1 : 0;
  }
}

}  // namespace
}  // namespace kiln::cuda
