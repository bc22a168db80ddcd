// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "kiln/kernels/exchange/ladder_places.hpp"

#include "errors.hpp"

namespace kiln::cli {
namespace {

constexpr double no_energy = std::numeric_limits<double>::quiet_NaN();

using Records = std::span<const TelemetryRecord>;

/// The records of the replicas at the end of an epoch.
struct Epoch {
  std::int64_t sweep = 0;
  Records replicas;  // all of them, ascending
};

[[noreturn]] void refuse(const std::string& why) {
  throw InputError("telemetry.format", "telemetry.bin: " + why,
                   "expected: one record of each replica at the end of an epoch",
                   "kiln resume or kiln solve --repeat writes the run anew");
}

/// Whole epochs, in order. Records of a replica stand together behind those of run and groups.
std::vector<Epoch> epochs_of(const TelemetryReader& telemetry) {
  const auto replicas = static_cast<std::size_t>(telemetry.header().replicas);
  const std::vector<TelemetryRecord>& records = telemetry.records();
  std::vector<Epoch> epochs;
  for (std::size_t i = 0; i + replicas <= records.size();) {
    if (records[i].kind() != TelemetryKind::replica || records[i].subject != 0) {
      ++i;
      continue;
    }
    const std::uint64_t epoch = telemetry.epoch_of(records[i]);
    std::size_t end = i;
    while (end < records.size() && records[end].kind() == TelemetryKind::replica &&
           records[end].subject == end - i && telemetry.epoch_of(records[end]) == epoch) {
      ++end;
    }
    if (end - i == replicas) {
      epochs.push_back(
          {static_cast<std::int64_t>(records[i].step), Records(records).subspan(i, replicas)});
    }
    i = end;
  }
  return epochs;
}

using Stretch = std::span<const Epoch>;

std::int64_t sweeps_apart(Stretch stretch) {
  return stretch.size() < 2 ? 0 : stretch[1].sweep - stretch[0].sweep;
}

/// Stretches of epochs that are equally far apart, in order, as long as they can be.
std::vector<Stretch> stretches_of(Stretch epochs) {
  std::vector<Stretch> stretches;
  if (epochs.size() == 1) stretches.push_back(epochs);
  for (std::size_t begin = 0; begin + 1 < epochs.size();) {
    const std::int64_t apart = epochs[begin + 1].sweep - epochs[begin].sweep;
    std::size_t end = begin + 1;
    while (end + 1 < epochs.size() && epochs[end + 1].sweep - epochs[end].sweep == apart) ++end;
    stretches.push_back(epochs.subspan(begin, end - begin + 1));
    begin = end;
  }
  return stretches;
}

/// Of equally long ones the last.
Stretch longest_of(const std::vector<Stretch>& stretches) {
  Stretch longest;
  for (const Stretch stretch : stretches) {
    if (stretch.size() >= longest.size()) longest = stretch;
  }
  return longest;
}

Stretch from_sweep(Stretch epochs, std::int64_t begin) {
  const auto first = std::ranges::find_if(epochs, [&](const Epoch& e) { return e.sweep >= begin; });
  return {first, epochs.end()};
}

void add_epoch(ReplicaSeries& series, const Epoch& epoch, std::int64_t ladders_of_group) {
  for (std::size_t r = 0; r < series.number.size(); ++r) {
    const TelemetryRecord& record = epoch.replicas[static_cast<std::size_t>(series.number[r])];
    // Rungs are numbered through the groups of the file.
    const std::int64_t ladder = static_cast<std::int64_t>(r) / series.size;
    const std::int64_t rung = record.rung - ladder / ladders_of_group * series.size;
    if (rung < 0 || rung >= series.size) {
      refuse(fmt::format("replica {} is on rung {}, which its group does not have",
                         series.number[r], record.rung));
    }
    series.energy[r].push_back(std::isfinite(record.energy) ? record.energy : no_energy);
    series.rung[r].push_back(static_cast<std::int32_t>(rung));
  }
}

/// Whether groups of the file are blocks of 32 ladders: 32 replicas are on each rung.
bool has_blocks(const ReplicaSeries& series, const Epoch& epoch) {
  std::map<std::int32_t, std::int64_t> on_rung;
  for (const TelemetryRecord& record : epoch.replicas) ++on_rung[record.rung];
  return series.size % ladders_of_block == 0 && on_rung.begin()->first >= 0 &&
         std::ranges::all_of(on_rung,
                             [](const auto& one) { return one.second == ladders_of_block; });
}

/// Numbers the replicas by ladder. A block has a word of 32 replicas, one of each ladder, for each
/// rung. @return ladders of a group
std::int64_t number_by_ladder(ReplicaSeries& series, const Epoch& epoch) {
  const std::int64_t lanes = has_blocks(series, epoch) ? ladders_of_block : 1;
  const std::int64_t rungs = series.size / lanes;
  for (std::int64_t group = 0; group < series.groups; ++group) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      for (std::int64_t k = 0; k < rungs; ++k) {
        series.number.push_back((group * rungs + k) * lanes + lane);
      }
    }
  }
  series.groups *= lanes;
  series.size = rungs;
  return lanes;
}

ReplicaSeries empty_series(const TelemetryHeader& header) {
  if (header.groups == 0 || header.replicas == 0 || header.replicas % header.groups != 0) {
    refuse(fmt::format("{} replicas in {} groups", header.replicas, header.groups));
  }
  ReplicaSeries series;
  series.groups = static_cast<std::int64_t>(header.groups);
  series.size = static_cast<std::int64_t>(header.replicas / header.groups);
  return series;
}

/// The last `most` epochs of a stretch of the file.
ReplicaSeries series_of(ReplicaSeries series, Stretch all, Stretch epochs, std::int64_t most) {
  if (!all.empty()) series.last_sweep = all.back().sweep;
  series.min_apart = sweeps_apart(all);
  for (std::size_t i = 1; i < all.size(); ++i)
    series.max_apart = std::max(series.max_apart, all[i].sweep - all[i - 1].sweep);
  epochs = epochs.last(std::min(epochs.size(), static_cast<std::size_t>(most)));
  if (epochs.empty()) return series;
  series.energy.resize(epochs[0].replicas.size());
  series.rung.resize(epochs[0].replicas.size());
  const std::int64_t ladders_of_group = number_by_ladder(series, epochs[0]);
  for (const Epoch& epoch : epochs) add_epoch(series, epoch, ladders_of_group);
  series.epochs = static_cast<std::int64_t>(epochs.size());
  series.first_sweep = epochs[0].sweep;
  series.sweeps_apart = sweeps_apart(epochs);
  return series;
}

}  // namespace

std::vector<double> ReplicaSeries::on_rung(std::int64_t group, std::int64_t of_rung) const {
  std::vector<double> energies(static_cast<std::size_t>(epochs), no_energy);
  for (std::int64_t r = group * size; r < (group + 1) * size; ++r) {
    const auto replica = static_cast<std::size_t>(r);
    for (std::size_t t = 0; t < energies.size(); ++t) {
      if (rung[replica][t] == of_rung) energies[t] = energy[replica][t];
    }
  }
  return energies;
}

ReplicaSeries replica_series(const TelemetryReader& telemetry, std::int64_t begin,
                             std::int64_t most) {
  const ReplicaSeries series = empty_series(telemetry.header());
  const std::vector<Epoch> all = epochs_of(telemetry);
  return series_of(series, all, longest_of(stretches_of(from_sweep(all, begin))), most);
}

ReplicaSeries densest_series(const TelemetryReader& telemetry, std::int64_t burn_in,
                             std::int64_t least, std::int64_t most) {
  const ReplicaSeries series = empty_series(telemetry.header());
  const std::vector<Epoch> all = epochs_of(telemetry);
  std::vector<Stretch> stretches = stretches_of(all);
  for (Stretch& stretch : stretches)
    stretch = from_sweep(stretch, std::max(burn_in, stretch.back().sweep / 3));
  Stretch densest;
  for (const Stretch stretch : stretches) {
    if (std::ssize(stretch) < least) continue;
    const std::int64_t apart = sweeps_apart(stretch), before = sweeps_apart(densest);
    const bool is_longer = apart == before && stretch.size() >= densest.size();
    if (densest.empty() || apart < before || is_longer) densest = stretch;
  }
  return series_of(series, all, densest.empty() ? longest_of(stretches) : densest, most);
}

std::vector<Clones> clones_of(const ReplicaSeries& series, std::int64_t least) {
  if (series.epochs < least) return {};
  const auto last = static_cast<std::size_t>(series.epochs - 1);
  std::map<std::vector<double>, std::vector<std::size_t>> ends;  // by the last `least` energies
  for (std::size_t r = 0; r < series.energy.size(); ++r) {
    const std::vector<double>& energy = series.energy[r];
    const std::vector<double> end(energy.end() - least, energy.end());
    if (std::ranges::none_of(end, [](double x) { return std::isnan(x); })) ends[end].push_back(r);
  }
  std::vector<Clones> all;
  for (const auto& [end, members] : ends) {
    if (members.size() < 2) continue;
    const std::vector<double>& energy = series.energy[members[0]];
    const auto equal_at = [&](std::size_t t) {
      return std::ranges::all_of(members,
                                 [&](std::size_t r) { return series.energy[r][t] == energy[t]; });
    };
    std::size_t since = last;
    while (since > 0 && equal_at(since - 1)) --since;
    Clones clones;
    for (std::size_t t = since; t < last; ++t) clones.changes += energy[t] != energy[t + 1] ? 1 : 0;
    if (clones.changes < least) continue;
    for (const std::size_t r : members) {
      clones.replicas.push_back(series.number.empty() ? static_cast<std::int64_t>(r)
                                                      : series.number[r]);
    }
    clones.since_sweep =
        series.first_sweep + static_cast<std::int64_t>(since) * series.sweeps_apart;
    clones.epochs = static_cast<std::int64_t>(last - since + 1);
    all.push_back(std::move(clones));
  }
  std::ranges::sort(all, {}, [](const Clones& one) { return one.replicas.front(); });
  return all;
}

}  // namespace kiln::cli
