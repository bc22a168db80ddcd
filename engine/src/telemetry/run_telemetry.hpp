// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/kernels/run/record_telemetry.hpp"
#include "kiln/problem.hpp"
#include "kiln/queue.hpp"
#include "kiln/replica_batch.hpp"
#include "kiln/schedule.hpp"
#include "kiln/telemetry/incumbent.hpp"
#include "kiln/telemetry/options.hpp"

namespace kiln {

/// The telemetry of a run: sums and log on the device, the ring, and what the host has of them.
class RunTelemetry {
 public:
  /// Queue, batch and units must outlive it.
  /// @param host_paced  whether ticks wait for the host: an epoch is then one tick
  RunTelemetry(Queue& queue, ReplicaBatch& batch, const Units& units, const Needs& needs,
               double sweep_cost, bool host_paced, const TelemetryOptions& options);

  std::uint64_t ticks_per_epoch() const noexcept { return kernel_.ticks_per_epoch; }
  /// Ticks to the end of the epoch in which the next tick is, when so many are done; at least 1.
  std::uint64_t left_of_epoch(std::uint64_t ticks) const noexcept {
    return ticks_per_epoch() - ticks % ticks_per_epoch();
  }
  bool ends_epoch(std::uint64_t ticks) const noexcept { return ticks % ticks_per_epoch() == 0; }
  /// Whether so many ticks, a power of two, are whole epochs.
  bool ends_within(std::int64_t ticks) const noexcept {
    return ticks_per_epoch() <= static_cast<std::uint64_t>(ticks);
  }
  /// Ticks that may be enqueued between two summaries. Two such chunks are under way before the
  /// host reads the records of the first, and a writer marks the places of the next epoch: the ring
  /// has room for all of them, so that none is lost.
  std::int64_t longest_chunk() const noexcept {
    const TelemetryRing& ring = kernel_.ring;
    std::uint64_t epochs = TelemetryMailbox::max_epochs;
    if (ring.records_per_epoch > 0) {
      epochs = std::min(epochs, (ring.capacity / ring.records_per_epoch - 1) / 2 * ring.every);
    }
    return static_cast<std::int64_t>(epochs * ticks_per_epoch());
  }

  /// Enqueues the end of an epoch. Without effect if none ends, or if it is recorded already.
  void record(const RunControl* control, View1<const double> beta);
  /// Enqueues that the host gets what ticks have noted.
  void hand_over(const RunControl* control);
  /// Enqueues a look at the best of all replicas, which may be in an epoch that has not ended.
  void look(const RunControl* control);
  /// What the last look found, once it was waited for; null: no replica has an energy.
  const IncumbentEntry* looked() const noexcept {
    const IncumbentEntry& now = mailbox_.data()->now;
    return now.replica >= 0 ? &now : nullptr;
  }
  /// Adds it to the incumbents if it is better than the last.
  void add_looked();
  /// Where ticks note improvements.
  BestLog best_log() { return {log_.view()}; }
  /// Takes what the device has written. No wait.
  void take();

  /// Goes on with the incumbents of earlier stages, which made so many sweeps.
  /// @param best_key  exact::order_key of the best energy so far, ~0: there is none
  void continue_from(IncumbentList earlier, std::int64_t sweeps, std::uint64_t best_key) {
    incumbents_ = std::move(earlier);
    sweeps_before_ = sweeps;
    TelemetryState begin;
    begin.best_key = best_key;
    state_.upload({begin});
  }
  const IncumbentList& incumbents() const noexcept { return incumbents_; }
  /// Sets the times of the latest ones that have none, by a function of the step.
  template <class SecondsAt>
  void set_times(const SecondsAt& seconds_at) {
    const std::vector<Incumbent>& kept = incumbents_.kept();
    for (std::size_t i = kept.size(); i > 0 && kept[i - 1].time_s < 0; --i) {
      const std::int64_t step = kept[i - 1].sweeps - sweeps_before_;
      incumbents_.set_time(i - 1, seconds_at(static_cast<std::uint64_t>(step)));
    }
  }
  /// An incumbent of this run, without a time.
  Incumbent incumbent_of(const IncumbentEntry& entry) const;

  TelemetryHeader header() const;
  const TelemetryCounts& counts() const noexcept { return counts_; }
  std::vector<TelemetrySums> sums() const { return sums_.download(); }

  /// Everything but the ring. The device must have nothing to do.
  void save(Archive& archive);
  void load(const Archive& archive);
  /// Whether what was loaded can be that of a run which stands there: places in the ring follow
  /// from it.
  bool is_sound(const RunControl& control) const;

 private:
  bool has_sound_incumbents(const RunControl& control) const;
  void launch(RecordTelemetry::Task task, const RunControl* control);
  void shorten_epochs(std::uint64_t sweeps);
  void make_ring(const TelemetryOptions& options);
  bool take_epoch(std::uint64_t epoch, std::uint64_t epochs);
  void take_records(std::uint64_t epochs);

  const Units& units_;
  bool records_epochs_;
  std::function<void(std::span<const TelemetryRecord>)> taker_;
  Queue& queue_;
  DeviceArray<TelemetryState> state_;
  DeviceArray<BestLogEntry> log_;
  DeviceArray<TelemetrySums> sums_;
  DeviceArray<TelemetryPart> parts_;
  SharedArray<TelemetryMailbox> mailbox_;
  SharedArray<TelemetrySlot> slots_;
  RecordTelemetry kernel_;  // with everything that does not change
  IncumbentList incumbents_;
  std::int64_t sweeps_before_ = 0;  // of earlier stages
  std::uint64_t taken_incumbents_ = 0;
  TelemetryCounts counts_;
  std::vector<TelemetryRecord> records_;  // of one epoch
};

/// What decides how long a tick takes.
struct TickWork {
  std::int64_t replicas = 0, variables = 0;
  double sweeps = 0;      ///< of a tick
  double sweep_cost = 0;  ///< Objective::sweep_cost
};

/// Ticks of an epoch: a power of two, 512 at most, so that recording an epoch takes about 0.3 % of
/// it on a GPU. It follows from the problem and the options alone, not from the device.
std::uint64_t ticks_per_epoch(const TickWork& work, bool host_paced);

}  // namespace kiln
