// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/kernels/run/record_telemetry.hpp"

#include "backends/backends.hpp"

namespace kiln::test {

inline constexpr double no_energy = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t epoch_rungs = 7;

/// What a batch holds at the end of an epoch. Padding has values that would win every comparison.
struct EpochValues {
  EpochValues(std::int64_t of_groups, std::int64_t of_size) : groups(of_groups), size(of_size) {
    const std::size_t slots = idx((groups * size + 31) / 32 * 32);
    energy.assign(slots, -1e9);
    best.assign(slots, -1e9);
    step.assign(slots, 4);
    accepted.assign(slots, std::uint64_t{1} << 50);
    not_finite.assign(slots, std::uint64_t{1} << 50);
    rung.assign(slots, 0);
    replica.assign(slots, -5);
  }
  std::int64_t groups, size;
  std::vector<double> energy, best;
  std::vector<std::uint64_t> step, accepted, not_finite;
  std::vector<std::int32_t> rung, replica;
  std::int64_t replicas() const { return groups * size; }
};

/// Replicas are permuted within their groups, and some energies are none.
inline EpochValues random_values(std::int64_t groups, std::int64_t size, std::uint64_t seed,
                                 bool integers) {
  TestRandom random(seed);
  EpochValues values(groups, size);
  for (std::int64_t slot = 0; slot < values.replicas(); ++slot) {
    const std::size_t s = idx(slot);
    const double whole = static_cast<double>(random.between(-9000, 9000));
    values.energy[s] = integers ? whole : whole * 1.7e3 + random.unit();
    if (random.between(0, 40) == 0)
      values.energy[s] = slot % 2 == 0 ? no_energy : std::numeric_limits<double>::quiet_NaN();
    values.best[s] = static_cast<double>(random.between(-9030, -9000));
    if (random.between(0, 9) == 0) values.best[s] = no_energy;
    values.step[s] = static_cast<std::uint64_t>(random.between(0, 20));
    values.accepted[s] = static_cast<std::uint64_t>(random.between(0, 1000));
    values.not_finite[s] = static_cast<std::uint64_t>(random.between(0, 3));
    values.rung[s] = static_cast<std::int32_t>(random.between(0, epoch_rungs - 1));
    const std::int64_t group = slot / size, place = slot % size;
    values.replica[s] = static_cast<std::int32_t>(group * size + (place + size / 2 + 1) % size);
  }
  return values;
}

/// The statistics of some slots, by one loop over them.
inline TelemetryEpoch enumerate(const EpochValues& values, std::int64_t first, std::int64_t end) {
  TelemetryEpoch all{0, 0, 0, no_energy, -no_energy, 0, 0, no_energy, TelemetryPart::no_replica,
                     -1};
  long double sum = 0, square = 0;
  for (std::int64_t slot = first; slot < end; ++slot) {
    const std::size_t s = idx(slot);
    all.accepted += values.accepted[s];
    all.not_finite += values.not_finite[s];
    if (values.best[s] < all.best || (values.best[s] == all.best && values.best[s] < no_energy &&
                                      values.replica[s] < all.replica)) {
      all.best = values.best[s];
      all.replica = values.replica[s];
      all.slot = static_cast<std::int32_t>(slot);
    }
    if (!std::isfinite(values.energy[s])) continue;
    ++all.count;
    sum += values.energy[s];
    all.least = std::min(all.least, values.energy[s]);
    all.most = std::max(all.most, values.energy[s]);
  }
  if (all.count == 0) return all;
  const long double mean = sum / static_cast<long double>(all.count);
  for (std::int64_t slot = first; slot < end; ++slot) {
    const double energy = values.energy[idx(slot)];
    if (std::isfinite(energy)) square += (energy - mean) * (energy - mean);
  }
  all.mean = static_cast<double>(mean);
  all.m2 = static_cast<double>(square);
  return all;
}

}  // namespace kiln::test
