// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kiln/export.hpp"

namespace kiln {

/// What a heartbeat shows at one moment.
struct Pulse {
  std::uint64_t signs = 0;  ///< signs of life so far; as long as it stands still, so may the run
  bool working = false;     ///< ticks are under way, and no code of the user
  std::uint64_t steps = 0;  ///< of each replica, that have ended
  double tick_s = 0;        ///< median of the last ticks, seconds; 0: none has ended
};

/// Signs of life of a run. The thread that advances the run writes them; other threads read them,
/// and other processes where it lies in shared memory. It needs no destructor.
class KILN_API Heartbeat {
 public:
  /// The run waits for ticks: of a GPU, or of kernels on the CPU. Calls may be nested.
  void begin_work() noexcept;
  /// The host goes on: it reports, writes files, or calls code of the user.
  void end_work() noexcept;
  /// Ticks have ended.
  /// @param steps   of each replica, so far
  /// @param tick_s  time of a tick, seconds
  void saw_ticks(std::uint64_t steps, double tick_s) noexcept;
  /// Later ticks may take another time: another stage begins.
  void forget_ticks() noexcept;
  /// Safe to call from any thread and process.
  Pulse pulse() const noexcept;

  /// The heartbeat of the runs that this thread advances; null: none (HeartbeatScope).
  static Heartbeat* of_this_thread() noexcept;

 private:
  friend class HeartbeatScope;

  std::atomic<std::uint64_t> signs_{0}, steps_{0};
  std::atomic<std::int32_t> works_{0};
  std::atomic<double> median_s_{0};
  // Of the writer alone.
  std::array<double, 31> ticks_s_{};
  std::size_t ticks_ = 0;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<double>::is_always_lock_free);

/// While it lives, the runs that this thread advances show signs of life in a heartbeat.
class KILN_API HeartbeatScope {
 public:
  /// @param heartbeat  outlives the scope; null: none
  explicit HeartbeatScope(Heartbeat* heartbeat) noexcept;
  ~HeartbeatScope();
  HeartbeatScope(const HeartbeatScope&) = delete;
  HeartbeatScope& operator=(const HeartbeatScope&) = delete;

 private:
  Heartbeat* former_;
};

}  // namespace kiln
