// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Ticks one by one and in graphs, with the ends of epochs between them.
#include <cstdint>

#include "run_core.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {
namespace {

constexpr std::int64_t ticks_of_graph = 16;

}  // namespace

// A device takes a moment between two graphs: that counts where ticks are short. The host captures
// while the device is busy with ticks enqueued before.
void RunCore::capture_ticks() {
  constexpr double short_s = 200e-6;
  const double tick_s = progress_->tick_s;
  if (long_graph_ || !graph_ || tick_s < 0 || tick_s > short_s) return;
  queue_->begin_capture();
  for (std::int64_t i = 0; i < ticks_of_graph; ++i) {
    enqueue_tick();
    if (telemetry_ && telemetry_->ends_within(ticks_of_graph) &&
        telemetry_->left_of_epoch(static_cast<std::uint64_t>(i)) == 1) {
      end_epoch();
    }
  }
  long_graph_ = queue_->end_capture();
}

void RunCore::end_epoch() {
  if (telemetry_) telemetry_->record(control(), shown_beta_);
}

// A long graph has the ends of epochs in it where these are shorter; longer ones it must not cross.
bool RunCore::fits_long_graph(std::int64_t count, bool records) const {
  if (!long_graph_ || count < ticks_of_graph) return false;
  if (!telemetry_) return true;
  const std::uint64_t left = telemetry_->left_of_epoch(progress_->enqueued);
  if (!telemetry_->ends_within(ticks_of_graph)) return left >= ticks_of_graph;
  return records && left == telemetry_->ticks_per_epoch();
}

void RunCore::enqueue_ticks(std::int64_t count, bool records) {
  if (count >= 2 * ticks_of_graph) capture_ticks();
  const Counters before = queue_->counters();
  Counters of_epochs;  // their ends are no part of a tick
  while (count > 0) {
    const bool several = fits_long_graph(count, records);
    if (several) {
      queue_->replay(*long_graph_);
    } else if (graph_) {
      queue_->replay(*graph_);
    } else {
      enqueue_tick();
    }
    const std::int64_t done = several ? ticks_of_graph : 1;
    count -= done;
    progress_->enqueued += static_cast<std::uint64_t>(done);
    if (!telemetry_ || !records || !telemetry_->ends_epoch(progress_->enqueued)) continue;
    if (several && telemetry_->ends_within(ticks_of_graph)) continue;
    const Counters before_end = queue_->counters();
    end_epoch();
    of_epochs += queue_->counters() - before_end;
  }
  progress_->in_ticks += queue_->counters() - before - of_epochs;
}

}  // namespace kiln
