// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/telemetry/reader.hpp"

namespace kiln::test {

/// A replica at the end of an epoch.
struct PlantedReplica {
  double energy = 0;
  std::int32_t rung = 0;  ///< over all groups: group * size + rung in the group
};

/// telemetry.bin of level `replicas` that a run could have written, epoch by epoch.
class PlantedTelemetry {
 public:
  PlantedTelemetry(std::uint64_t groups, std::uint64_t size) {
    header_.level = TelemetryLevel::replicas;
    header_.groups = groups;
    header_.replicas = groups * size;
    header_.variables = 100;
    header_.ticks_per_epoch = header_.sweeps_per_tick = 1;
    header_.records_per_epoch = 1 + groups + header_.replicas;
    header_.all_of_first = 1u << 20;
  }

  /// @param epoch  from 0, ascending; some may be left out
  /// @param left_out  a replica without a record, -1: none
  void add(std::uint64_t epoch, std::uint64_t step, const std::vector<PlantedReplica>& replicas,
           std::int64_t left_out = -1) {
    const auto record = [&](std::uint64_t place, TelemetryKind kind, std::uint64_t subject) {
      TelemetryRecord one{};
      one.seq = 1 + epoch * header_.records_per_epoch + place;
      one.step = step;
      one.subject = static_cast<std::uint32_t>(subject);
      one.flags = static_cast<std::uint32_t>(kind);
      return one;
    };
    records_.push_back(record(0, TelemetryKind::run, 0));
    for (std::uint64_t g = 0; g < header_.groups; ++g)
      records_.push_back(record(1 + g, TelemetryKind::group, g));
    for (std::uint64_t r = 0; r < header_.replicas; ++r) {
      if (static_cast<std::int64_t>(r) == left_out) continue;
      TelemetryRecord one = record(1 + header_.groups + r, TelemetryKind::replica, r);
      one.energy = one.best = replicas[r].energy;
      one.rung = replicas[r].rung;
      records_.push_back(one);
    }
  }

  std::string bytes() const {
    std::string all = telemetry_head(header_);
    all.append(reinterpret_cast<const char*>(records_.data()),
               records_.size() * sizeof(TelemetryRecord));
    return all;
  }
  TelemetryReader reader() const { return {bytes(), "telemetry.bin"}; }

 private:
  TelemetryHeader header_;
  std::vector<TelemetryRecord> records_;
};

}  // namespace kiln::test
