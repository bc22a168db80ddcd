// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The ticks of a run and the ends of its epochs, as its player enqueues them.
#include <cstdint>

#include "executors/tick_player.hpp"
#include "run_core.hpp"
#include "run_parts.hpp"
#include "telemetry/run_telemetry.hpp"

namespace kiln {

void RunCore::make_player() {
  ExecutorChoice wanted{options_.executor, "requested"};
  if (wanted.executor == Executor::automatic) {
    wanted.reason.clear();
    if (host_paced_) {
      wanted = {Executor::stream, "ticks wait for the host"};
    } else if (!queue_->can_capture()) {
      wanted = {Executor::stream, "the CPU runs a kernel where it is launched"};
    } else if (options_.profile) {
      wanted = {Executor::graph, "a profile measures single ticks between graphs"};
    }
  }
  TickPlayer::Parts parts;
  parts.tick = [this](const TickPlace& place) {
    enqueue_tick(place);
    place_ = {};  // of a tick that is enqueued by hand nothing is known
  };
  parts.control = control();
  if (telemetry_) {
    parts.end_epoch = [this] { end_epoch(); };
    parts.ticks_per_epoch = telemetry_->ticks_per_epoch();
  }
  parts.hand_over = [this](const SummaryTarget& target) {
    if (telemetry_) telemetry_->hand_over(control());
    write_summary(target);
  };
  parts.is_told = commands_ != nullptr;
  player_ = std::make_unique<TickPlayer>(*queue_, std::move(wanted), std::move(parts));
}

void RunCore::end_epoch() {
  if (telemetry_) telemetry_->record(control(), shown_beta_);
}

void RunCore::enqueue_ticks(std::int64_t count, bool records) {
  Progress& p = *progress_;
  if (records) player_->prepare(count);
  p.in_ticks += player_->play(p.enqueued, count, records);
  p.enqueued += static_cast<std::uint64_t>(count);
}

}  // namespace kiln
