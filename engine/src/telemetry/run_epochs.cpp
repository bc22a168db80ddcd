// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The ticks of a run and the ends of its epochs, as its player enqueues them.
#include <cstdint>
#include <string>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/stop_at_work.hpp"

#include "executors/tick_player.hpp"
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
  parts.tick = [this](const TickPlace& place, std::int64_t at_once) {
    const std::int64_t ticks = enqueue_tick(place, at_once);
    place_ = {};  // of a tick that is enqueued by hand nothing is known
    return ticks;
  };
  parts.why_one = [this] { return launch_.refusal; };
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
  parts.may_refuse = !continues();
  player_ = std::make_unique<TickPlayer>(*queue_, std::move(wanted), std::move(parts));
}

// What happens after each tick, and not in its launches, leaves no two of them in one launch.
std::int64_t RunCore::enqueue_tick(const TickPlace& place, std::int64_t at_once) {
  const TraceRange range(tracer_, "kiln.tick");
  const auto most = counted_limit();
  tick_finished_ = false;
  place_ = all_ticks_whole_ ? place : TickPlace{};
  launch_ = {};
  launch_.at_once = most ? 1 : at_once;
  if (most) launch_.refusal = "its gradients are counted after each tick";
  TickContext tick(*this);
  schedule_.enqueue(tick);
  if (launch_.ticks > 1 && !tick_finished_) {
    throw InvalidArgument(
        "schedule.ticks",
        "schedule '" + schedule_.name() + "' enqueues several ticks at once and does not end them",
        "a launch that ends each of its ticks by TickContext::end_kernel()");
  }
  if (!tick_finished_) end_tick();
  if (most) queue_->launch(StopAtWork{gradients_, *most, control()});
  if (launch_.ticks == 1 && launch_.refusal.empty()) {
    launch_.refusal = "schedule '" + schedule_.name() + "' has no launch of several ticks";
  }
  return launch_.ticks;
}

void RunCore::enqueued(std::int64_t ticks) {
  if (ticks < 1 || ticks > launch_.at_once) {
    throw InvalidArgument("schedule.ticks",
                          "schedule '" + schedule_.name() + "' enqueues " + std::to_string(ticks) +
                              " ticks at once, and " + std::to_string(launch_.at_once) +
                              (launch_.at_once == 1 ? " is asked for" : " are asked for"),
                          "1 to TickContext::ticks_at_once()");
  }
  launch_.ticks = ticks;
}

// A device loads a kernel with its first launch, which belongs neither into a capture nor into the
// time of the run. A tick of a stopped run launches all of its kernels and changes nothing.
// To capture takes 350 us, and a tick gains 9 us by it where it takes 72 us (H200).
void RunCore::capture_tick() {
  constexpr std::int64_t fewest = 40;
  if (!player_->wants_capture()) return;
  if (options_.executor == Executor::automatic && whole_ticks_left() < fewest) return;
  const TraceRange range(tracer_, "kiln.capture");
  const auto begin = Clock::now();
  RunControl stopped = progress_->control;
  stopped.stop = DeviceStop::step_limit;
  control_.upload({stopped});
  player_->touch();
  post_summary();
  wait_summary();
  const Counters before = queue_->counters();
  player_->capture();
  progress_->in_ticks += queue_->counters() - before;
  progress_->setup_s += seconds_since(begin);
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
