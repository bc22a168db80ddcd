// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/function_ref.hpp"
#include "kiln/profile.hpp"
#include "kiln/profile/device_clock.hpp"
#include "kiln/profile/tracer.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Shows each launch as a range of a tracer.
class LaunchTracer final : public LaunchObserver {
 public:
  explicit LaunchTracer(Tracer& tracer) : tracer_(tracer) {}
  void before(const LaunchInfo& launch) override { tracer_.begin(launch.kernel); }
  void after(const LaunchInfo&) override { tracer_.end(); }

 private:
  Tracer& tracer_;
};

/// Measures launches of a sample of the ticks of a run.
///
/// Which ticks are measured depends on their number alone. A measured tick is launched kernel by
/// kernel, with a mark of the clock before and after each; nothing waits for the marks but
/// collect(), which reads those that the device has passed.
class Profiler final : LaunchObserver {
 public:
  /// Of ticks that are replayed as graphs one in `period` is measured, the first one when the
  /// device has work from the ticks before, so that it does not wait for the host. Between two are
  /// four graphs of 16 ticks.
  static constexpr std::int64_t period = 65, first = 2;

  /// @param usual  sees the launches of all ticks; may be null
  Profiler(Queue& queue, std::unique_ptr<DeviceClock> clock, LaunchObserver* usual);
  ~Profiler() override;

  /// Ticks until the next one that is measured, where graphs are replayed.
  std::int64_t ticks_to_sample() const noexcept;
  /// Measures a tick, which the function enqueues by launches.
  void measure_tick(FunctionRef<void()> enqueue);
  /// Measures as a whole what the function enqueues: a number of ticks that are replayed.
  void measure_replays(std::int64_t ticks, FunctionRef<void()> enqueue);

  /// Reads the marks that the device has passed.
  void collect();
  /// What is known after collect(). @param ticks  of the run
  Profile profile(std::int64_t ticks) const;

  /// Bytes that a copy on the device reads and writes in a second; 0 if there is no memory for it.
  static double measure_copies(Queue& queue);

 private:
  struct Launch {
    LaunchInfo info;
    std::size_t from = 0, to = 0;  // marks
  };
  struct Span {
    std::size_t from = 0, to = 0;  // marks
    std::size_t launches = 0;      // of a measured tick
    std::int64_t replays = 0;      // ticks; 0: a measured tick
    double host_s = 0;
  };
  struct Sum {
    std::int64_t launches = 0;
    double time_s = 0, bytes = 0;
  };

  void before(const LaunchInfo& launch) override;
  void after(const LaunchInfo& launch) override;
  void measure(std::int64_t replays, FunctionRef<void()> enqueue);
  void add(const Span& span);
  double between(std::size_t from, std::size_t to, std::size_t marks_within);

  Queue& queue_;
  std::unique_ptr<DeviceClock> clock_;
  LaunchObserver* usual_;
  double copy_bytes_per_s_ = 0;
  std::int64_t tick_ = 0;        // ticks seen
  std::deque<Span> spans_;       // not yet read
  std::deque<Launch> launches_;  // of those
  std::map<std::string, Sum> sums_;
  Profile total_;  // without kernels
};

}  // namespace kiln
