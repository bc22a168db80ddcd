// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/timing.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kiln/kernels/run/advance_tick.hpp"

namespace kiln::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Far larger than any cache, and on a GPU long enough to hide what the host does meanwhile.
constexpr std::int64_t copied_bytes_gpu = std::int64_t{256} << 20;
constexpr std::int64_t copied_bytes_cpu = std::int64_t{128} << 20;

}  // namespace

LaunchTimer::LaunchTimer(Queue& queue)
    : queue_(queue),
      from_(queue, queue.can_capture() ? copied_bytes_gpu : copied_bytes_cpu),
      to_(queue, from_.size()) {
  from_.zero();
  to_.zero();
}

std::string LaunchTimer::method_text() const {
  return queue_.can_capture()
             ? "a batch of launches captured in a CUDA graph, between two CUDA events"
             : "a batch of launches in a loop, by the steady clock";
}

void LaunchTimer::keep_device_busy() {
  if (queue_.can_capture()) queue_.copy(to_.data(), from_.data(), from_.bytes());
}

void LaunchTimer::run_batch(const Launches& work, std::int64_t batch) {
  for (std::int64_t i = 0; i < batch; ++i) work.launch(static_cast<std::uint32_t>(i));
}

// Doubles until a batch is long enough to be judged; that is the warm-up too.
std::int64_t LaunchTimer::choose_batch(const Launches& work, const Effort& effort) {
  const auto begin = Clock::now();
  std::int64_t batch = 1;
  for (bool warm = false;;) {
    if (work.reset) work.reset();
    queue_.begin_timer();
    run_batch(work, batch);
    const double seconds = queue_.end_timer_s();
    const bool out_of_time = seconds_since(begin) > effort.limit_s / 4;
    if (seconds >= effort.batch_s || batch == work.most || out_of_time) {
      if (!warm && !out_of_time && batch == 1) {  // the first launch loads code
        warm = true;
        continue;
      }
      const double wanted = static_cast<double>(batch) * effort.batch_s / std::max(seconds, 1e-9);
      return static_cast<std::int64_t>(
          std::clamp(wanted + 0.5, 1.0, static_cast<double>(work.most)));
    }
    batch = std::min(2 * batch, work.most);
  }
}

LaunchTimer::Batch LaunchTimer::make_batch(const Launches& work, std::int64_t launches) {
  Batch batch{launches};
  if (!queue_.can_capture()) return batch;
  queue_.begin_capture();
  run_batch(work, launches);
  batch.graph = queue_.end_capture();
  if (work.reset) work.reset();
  queue_.replay(*batch.graph);
  return batch;
}

double LaunchTimer::sample(const Launches& work, const Batch& batch) {
  if (work.reset) work.reset();
  keep_device_busy();
  queue_.begin_timer();
  if (batch.graph) {
    queue_.replay(*batch.graph);
  } else {
    run_batch(work, batch.launches);
  }
  return queue_.end_timer_s() / static_cast<double>(batch.launches);
}

Timing LaunchTimer::time(const Launches& work, const Effort& effort) {
  Timing timing;
  timing.batch = choose_batch(work, effort);
  const Batch batch = make_batch(work, timing.batch);
  std::vector<double> seconds;
  const auto begin = Clock::now();
  for (int i = 0; i < effort.repetitions; ++i) {
    seconds.push_back(sample(work, batch));
    if (seconds_since(begin) > effort.limit_s) break;
  }
  timing.seconds = spread_of(seconds);
  return timing;
}

LaunchTimer::Floors LaunchTimer::measure_floors(const Effort& effort) {
  RunControl stopped;
  stopped.stop = DeviceStop::step_limit;
  DeviceArray<RunControl> control(queue_, std::vector<RunControl>{stopped});
  const auto nothing = [&](std::uint32_t) { queue_.launch(AdvanceTick{control.data(), 1}); };
  const auto copy = [&](std::uint32_t) { queue_.copy(to_.data(), from_.data(), from_.bytes()); };
  Floors floors;
  floors.launch_s = time({nothing}, effort).seconds.median;
  const double copy_s = time({copy, {}, 20}, effort).seconds.median;
  floors.bytes_per_s = 2 * static_cast<double>(from_.bytes()) / copy_s;
  return floors;
}

double LaunchTimer::Floors::of(double bytes) const {
  return std::max(launch_s, bytes / bytes_per_s);
}

}  // namespace kiln::cli
