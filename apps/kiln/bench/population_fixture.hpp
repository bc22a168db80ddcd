// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "kiln/kernels/population/population_step.hpp"

#include "bench/fixtures.hpp"

namespace kiln::cli {

/// The arrays of population annealing, for populations whose energies are bell-shaped.
struct PopulationArrays {
  PopulationArrays(Queue& queue, std::int64_t n_groups, std::int64_t n_replicas)
      : groups(n_groups),
        replicas(n_replicas),
        energy(queue, energies()),
        populations(queue, std::vector<Population>(static_cast<std::size_t>(groups))),
        choice(queue, std::vector<PopulationChoice>(1)),
        beta(queue, groups),
        begins(queue, groups),
        weight(queue, weights()),
        step_parts(queue, groups * PopulationStep::parts_of(replicas)),
        arrivals(queue, std::vector<std::uint32_t>(2)),
        ends(queue, groups * PopulationStep::kept_ends),
        records(queue, 8),
        history(queue, std::vector<PopulationHistory>(1)),
        totals(queue, std::vector<ResampleTotals>(static_cast<std::size_t>(groups))),
        family(queue, numbers()),
        source(queue, slots()),
        copies_before(queue, slots()),
        extra_before(queue, slots()),
        members(queue, slots()),
        resample_parts(queue, groups * Resample::parts_of(replicas)),
        key(queue, std::vector<std::uint64_t>(static_cast<std::size_t>(slots()), 1)),
        replica(queue, slots()),
        control(queue, std::vector<RunControl>{{}}) {
    beta.zero();
    begins.zero();
    replica.zero();
  }

  std::int64_t slots() const { return groups * replicas; }

  std::int64_t groups, replicas;
  DeviceArray<double> energy;
  DeviceArray<Population> populations;
  DeviceArray<PopulationChoice> choice;
  DeviceArray<double> beta;
  DeviceArray<std::uint32_t> begins;
  DeviceArray<std::uint64_t> weight;
  DeviceArray<PopulationStep::Part> step_parts;
  DeviceArray<std::uint32_t> arrivals;
  DeviceArray<PopulationEnd> ends;
  DeviceArray<PopulationRecord> records;
  DeviceArray<PopulationHistory> history;
  DeviceArray<ResampleTotals> totals;
  DeviceArray<std::int32_t> family, source, copies_before, extra_before;
  DeviceArray<std::uint32_t> members;
  DeviceArray<Resample::Part> resample_parts;
  DeviceArray<std::uint64_t> key;
  DeviceArray<std::uint32_t> replica;
  DeviceArray<RunControl> control;

 private:
  std::vector<double> energies() const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < slots(); ++i) {
      std::int64_t sum = 0;
      for (const std::int64_t prime : {7919, 104729, 1299709, 15485863}) sum += i * prime % 101;
      all.push_back(static_cast<double>(sum));
    }
    return all;
  }
  // About what such energies have after a step: between a half and all of the greatest.
  std::vector<std::uint64_t> weights() const {
    std::vector<std::uint64_t> all;
    for (std::int64_t i = 0; i < slots(); ++i) {
      all.push_back((std::uint64_t{1} << 39) +
                    (static_cast<std::uint64_t>(i * 104729 % 1024) << 29));
    }
    return all;
  }
  std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(slots()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};

}  // namespace kiln::cli
