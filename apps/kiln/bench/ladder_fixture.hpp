// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/kernels/exchange/ladder_flush.hpp"
#include "kiln/kernels/exchange/ladder_statistics.hpp"
#include "kiln/kernels/exchange/ladder_update.hpp"
#include "kiln/kernels/exchange/replica_swap.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {

/// The arrays of tempering for ladders of equal size whose energies overlap well.
struct LadderArrays {
  LadderArrays(Queue& queue, std::int64_t n_ladders, std::int64_t n_rungs)
      : ladders(n_ladders),
        rungs(n_rungs),
        energy(queue, energies()),
        best_energy(queue, energies()),
        beta(queue, betas()),
        rung_of(queue, numbers()),
        slot_of(queue, numbers()),
        best_rung(queue, numbers()),
        states(queue, std::vector<SwapLadder>(static_cast<std::size_t>(ladders))),
        last_end(queue, ladders * rungs),
        round_trips(queue, ladders * rungs),
        attempts(queue, rungs),
        accepted(queue, rungs),
        chance(queue, rungs),
        totals(queue, 2),
        sums(queue, std::vector<RungSums>(static_cast<std::size_t>(rungs))),
        cells(queue, std::vector<RungCell>(
                         static_cast<std::size_t>(rungs * LadderStatistics::cells_of_rung))),
        key(queue, std::vector<std::uint64_t>(static_cast<std::size_t>(ladders * rungs), 1)),
        replica(queue, ladders * rungs),
        control(queue, std::vector<RunControl>{{}}) {
    last_end.zero();
    round_trips.zero();
    attempts.zero();
    accepted.zero();
    chance.zero();
    totals.zero();
    replica.zero();
  }

  SwapCounts counts() {
    return {{attempts.data(), rungs - 1},
            {accepted.data(), rungs - 1},
            {chance.data(), rungs - 1},
            totals.view()};
  }

  std::int64_t ladders, rungs;
  DeviceArray<double> energy, best_energy, beta;
  DeviceArray<std::int32_t> rung_of, slot_of, best_rung;
  DeviceArray<SwapLadder> states;
  DeviceArray<LadderEnd> last_end;
  DeviceArray<std::uint32_t> round_trips;
  DeviceArray<std::uint64_t> attempts, accepted, chance, totals;
  DeviceArray<RungSums> sums;
  DeviceArray<RungCell> cells;
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
  DeviceArray<RunControl> control;

 private:
  std::vector<double> energies() const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < ladders * rungs; ++i) {
      all.push_back(static_cast<double>(i * 7919 % 101) - static_cast<double>(i % rungs));
    }
    return all;
  }
  std::vector<double> betas() const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < ladders * rungs; ++i) {
      all.push_back(0.1 + 0.9 * static_cast<double>(i % rungs) / static_cast<double>(rungs));
    }
    return all;
  }
  std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> all;
    for (std::int64_t i = 0; i < ladders * rungs; ++i) all.push_back(static_cast<std::int32_t>(i));
    return all;
  }
};

/// The record of an exchange phase, at first empty.
struct RecordArrays {
  RecordArrays(Queue& queue, std::int64_t ladders, std::int64_t rungs)
      : calls(LadderRecord::calls_for(ladders * rungs)),
        energy(queue, (calls + 1) * ladders * rungs),
        parts(queue, std::vector<LadderStatistics::Part>(
                         static_cast<std::size_t>(rungs * calls * LadderRecord::parts_of_call),
                         LadderStatistics::nothing())),
        state(queue, LadderRecord::state_size(rungs)) {
    energy.zero();
    state.zero();
  }
  LadderRecord view() { return {energy.view(), {}, parts.view(), state.view(), calls}; }

  std::int64_t calls;
  DeviceArray<double> energy;
  DeviceArray<LadderStatistics::Part> parts;
  DeviceArray<std::uint32_t> state;
};

}  // namespace kiln::cli
