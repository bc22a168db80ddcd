// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/profiler.hpp"

#include <algorithm>
#include <chrono>

#include "kiln/errors.hpp"

namespace kiln {

Profiler::Profiler(Queue& queue, std::unique_ptr<DeviceClock> clock, LaunchObserver* usual)
    : queue_(queue),
      clock_(std::move(clock)),
      usual_(usual),
      copy_bytes_per_s_(measure_copies(queue)) {}

Profiler::~Profiler() = default;

// Far more than the caches of the device hold, if it has the memory.
double Profiler::measure_copies(Queue& queue) {
  constexpr std::int64_t gpu_bytes = std::int64_t{1} << 28, cpu_bytes = std::int64_t{1} << 26;
  constexpr std::int64_t least_bytes = std::int64_t{1} << 20;
  constexpr int repetitions = 4;
  for (std::int64_t size = queue.on_cpu() ? cpu_bytes : gpu_bytes; size >= least_bytes; size /= 2) {
    try {
      DeviceArray<std::uint8_t> from(queue, size), to(queue, size);
      from.zero();
      to.zero();
      double least_s = 0;
      for (int i = 0; i < repetitions; ++i) {
        queue.begin_timer();
        queue.copy(to.data(), from.data(), from.bytes());
        const double seconds = queue.end_timer_s();
        least_s = i == 0 ? seconds : std::min(least_s, seconds);
      }
      return least_s > 0 ? 2 * static_cast<double>(size) / least_s : 0;
    } catch (const OutOfDeviceMemory&) {
    }
  }
  return 0;
}

std::int64_t Profiler::ticks_to_sample() const noexcept {
  return (first - tick_ % period + period) % period;
}

void Profiler::measure_tick(FunctionRef<void()> enqueue) {
  queue_.observe_launches(this);
  const auto unobserve = [&](void*) { queue_.observe_launches(usual_); };
  const std::unique_ptr<void, decltype(unobserve)> until_it_returns(this, unobserve);
  measure(0, enqueue);
}

void Profiler::measure_replays(std::int64_t ticks, FunctionRef<void()> enqueue) {
  measure(ticks, enqueue);
}

void Profiler::measure(std::int64_t replays, FunctionRef<void()> enqueue) {
  using Clock = std::chrono::steady_clock;
  tick_ += std::max<std::int64_t>(1, replays);
  const std::size_t launches = launches_.size();
  const auto begin = Clock::now();
  Span span;
  span.replays = replays;
  span.from = clock_->mark();
  try {
    enqueue();
  } catch (...) {
    launches_.resize(launches);  // the tick is not done
    throw;
  }
  span.to = clock_->mark();
  span.launches = launches_.size() - launches;
  span.host_s = std::chrono::duration<double>(Clock::now() - begin).count();
  spans_.push_back(span);
}

void Profiler::before(const LaunchInfo& launch) {
  if (usual_ != nullptr) usual_->before(launch);
  launches_.push_back({launch, clock_->mark(), 0});
}

void Profiler::after(const LaunchInfo& launch) {
  launches_.back().to = clock_->mark();
  if (usual_ != nullptr) usual_->after(launch);
}

double Profiler::between(std::size_t from, std::size_t to, std::size_t marks_within) {
  const double marks_s = static_cast<double>(marks_within + 1) * clock_->mark_s();
  return std::max(0.0, clock_->seconds(from, to) - marks_s);
}

void Profiler::add(const Span& span) {
  if (span.replays > 0) {
    total_.replayed_ticks += span.replays;
    total_.replayed_s += between(span.from, span.to, 0);
    return;
  }
  double busy_s = 0;
  for (std::size_t i = 0; i < span.launches; ++i) {
    const Launch& launch = launches_.front();
    const double seconds = between(launch.from, launch.to, 0);
    Sum& sum = sums_[launch.info.kernel];
    ++sum.launches;
    sum.time_s += seconds;
    // One launch that does not say how much is enough.
    sum.bytes = launch.info.bytes < 0 || sum.bytes < 0 ? -1 : sum.bytes + launch.info.bytes;
    busy_s += seconds;
    launches_.pop_front();
  }
  const double device_s = std::max(busy_s, between(span.from, span.to, 2 * span.launches));
  ++total_.ticks;
  total_.device_s += device_s;
  total_.gaps_s += device_s - busy_s;
  total_.host_s += span.host_s;
}

void Profiler::collect() {
  std::size_t first_kept = 0;
  while (!spans_.empty() && clock_->passed(spans_.front().to)) {
    add(spans_.front());
    first_kept = spans_.front().to + 1;
    spans_.pop_front();
  }
  if (first_kept > 0) clock_->forget_before(first_kept);
}

Profile Profiler::profile(std::int64_t ticks) const {
  Profile all = total_;
  all.of_ticks = ticks;
  all.copy_bytes_per_s = copy_bytes_per_s_;
  const double busy_s = all.device_s - all.gaps_s;
  all.busy_share = all.device_s > 0 ? busy_s / all.device_s : 0;
  for (const auto& [name, sum] : sums_) {
    KernelTime kernel{name, sum.launches, sum.time_s, busy_s > 0 ? sum.time_s / busy_s : 0, {}, {}};
    if (sum.bytes >= 0) kernel.bytes = sum.bytes;
    if (sum.bytes >= 0 && copy_bytes_per_s_ > 0) kernel.floor_s = sum.bytes / copy_bytes_per_s_;
    all.kernels.push_back(std::move(kernel));
  }
  std::ranges::stable_sort(all.kernels, std::ranges::greater{}, &KernelTime::time_s);
  return all;
}

}  // namespace kiln
