// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The part of a run that watches its launches.
#include <algorithm>

#include "profile/instruments.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {

void RunCore::attach_instruments() {
  tracer_ = opened_.backend->tracer();
  if (tracer_ == nullptr && !options_.profile) return;
  instruments_ = std::make_unique<Instruments>();
  LaunchObserver* usual = nullptr;
  if (tracer_ != nullptr) usual = &instruments_->launch_tracer.emplace(*tracer_);
  if (options_.profile) {
    instruments_->profiler.emplace(*queue_, opened_.backend->make_clock(*queue_), usual);
  }
  queue_->observe_launches(usual);
}

void RunCore::detach_instruments() noexcept {
  if (instruments_) queue_->observe_launches(nullptr);
}

bool RunCore::profiles() const noexcept { return instruments_ && instruments_->profiler; }

// Where ticks are not captured all of them are launches anyway, and all are measured.
void RunCore::enqueue_profiled(std::int64_t count) {
  Profiler& profiler = *instruments_->profiler;
  while (count > 0) {
    const std::int64_t replays =
        player_->captured() ? std::min(count, profiler.ticks_to_sample()) : std::int64_t{0};
    if (replays > 0) {
      player_->prepare(replays);  // not while they are measured
      profiler.measure_replays(replays, [&] { enqueue_ticks(replays); });
      count -= replays;
      continue;
    }
    const Counters before = queue_->counters();
    profiler.measure_tick([&] { enqueue_tick(); });
    progress_->in_ticks += queue_->counters() - before;
    ++progress_->enqueued;
    if (telemetry_ && telemetry_->ends_epoch(progress_->enqueued)) end_epoch();
    --count;
  }
}

void RunCore::collect_profile(Result* result) {
  if (!profiles()) return;
  instruments_->profiler->collect();
  if (result == nullptr) return;
  result->profile =
      std::make_shared<const Profile>(instruments_->profiler->profile(result->work.ticks));
}

}  // namespace kiln
