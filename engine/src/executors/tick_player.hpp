// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/executors/executor.hpp"
#include "kiln/queue.hpp"

#include "executors/tick_place.hpp"

namespace kiln {

/// Enqueues the ticks of a run, which are defined once, by one of the executors.
///
/// Ticks are captured for the first time when the run begins, and many at a time when their
/// duration is known: the host captures while the device is busy with ticks enqueued before.
class TickPlayer {
 public:
  struct Parts {
    std::function<void(const TickPlace&)> tick;  ///< enqueues one tick
    std::function<void()> end_epoch;  ///< records an epoch; without effect where none ends
    /// Gives the host what the ticks of a chunk have noted, and their summary.
    std::function<void(const SummaryTarget&)> hand_over;
    const RunControl* control = nullptr;
    std::uint64_t ticks_per_epoch = 0;  ///< a power of two; 0: the run has no epochs
    bool is_told = false;  ///< whether commands may hold the run: a loop lets them act sooner
  };

  /// @param queue  must outlive the player
  /// @param wanted  `stream` where ticks cannot be captured; its reason unless it is `automatic`
  TickPlayer(Queue& queue, ExecutorChoice wanted, Parts parts);

  /// Whether it wants ticks to be captured.
  bool wants_capture() const noexcept { return wanted_ != Executor::stream && !tick_; }
  /// Captures one tick. All of its kernels have been launched before.
  void capture();
  bool captured() const noexcept { return tick_ != nullptr; }
  /// Forgets what was captured, because ticks are others from now on.
  void drop() noexcept;

  /// The duration of a tick, measured by the caller, s.
  void set_tick_s(double seconds) noexcept { tick_s_ = seconds; }
  /// Prepares for many ticks of a known duration: captures them.
  /// @param count  ticks that are going to be enqueued
  void prepare(std::int64_t count);
  /// Enqueues `count` ticks after `first` ticks, and the ends of epochs if it `records` them.
  /// @return what the ticks alone enqueued
  Counters play(std::uint64_t first, std::int64_t count, bool records);

  /// How a run stands when its host decides how many ticks come before its next look.
  struct Look {
    std::uint64_t enqueued = 0;          ///< ticks so far
    double elapsed_s = 0;                ///< since the run began
    double interval_s = 0;               ///< between two report points
    double limit_s = 1e8;                ///< that a chunk may take
    std::int64_t max_ticks = 1ll << 40;  ///< of a chunk
  };
  std::int64_t chunk(const Look& look);
  /// Ends what play() enqueued: hands over what the ticks have noted, and posts their summary. A
  /// loop has done so in its launch; nothing else is enqueued then.
  void hand_over();
  /// A chunk has ended that took so long. Chunks end in the order in which they were enqueued.
  void end_chunk(std::int64_t ticks, double seconds);
  void begin_chunk() { chunks_.push_back(current_); }
  void forget_chunks() noexcept { chunks_.clear(); }

  ExecutorChoice choice() const;

 private:
  struct Several {
    std::int64_t ticks = 0;  ///< a power of two
    std::unique_ptr<TickGraph> graph;
  };
  bool holds_epochs(std::int64_t ticks) const noexcept {
    return parts_.ticks_per_epoch > 0 &&
           static_cast<std::uint64_t>(ticks) >= parts_.ticks_per_epoch;
  }
  bool ends_epoch(std::uint64_t ticks) const noexcept {
    return parts_.ticks_per_epoch > 0 && ticks % parts_.ticks_per_epoch == 0;
  }
  std::int64_t longest_graph() const noexcept {
    return several_.empty() ? 1 : several_.back().ticks;
  }
  bool affords(std::int64_t ticks) const noexcept;
  bool in_trial() const noexcept;
  std::int64_t body_ticks() const noexcept;
  double chunk_s(const Look& look) const noexcept;
  void require_loop();
  void capture_several(std::int64_t count);
  void capture_loop();
  void enqueue_body(std::int64_t ticks);
  const Several* fitting(std::uint64_t first, std::int64_t count, bool records) const;
  bool fits_loop(std::uint64_t first, std::int64_t count, bool records) const;
  void choose_for_trial();
  void decide();

  Queue& queue_;
  Executor wanted_;
  Parts parts_;
  double tick_s_ = -1;    // -1: unknown
  double elapsed_s_ = 0;  // of the run, at the last chunk
  std::unique_ptr<TickGraph> tick_;
  std::vector<Several> several_;  // by increasing number of ticks
  std::unique_ptr<TickGraph> loop_;
  std::int64_t body_ = 0;     // ticks of an iteration of the loop
  bool handed_over_ = false;  // by what play() enqueued last
  Executor current_ = Executor::stream;
  std::string reason_;
  std::string refusal_;  // of the device, to loop
  bool decided_ = false;
  std::deque<Executor> chunks_;  // enqueued, not ended
  double graph_tick_s_ = 0, loop_tick_s_ = 0;
  std::vector<double> graph_trial_, loop_trial_;  // seconds of a tick
};

}  // namespace kiln
