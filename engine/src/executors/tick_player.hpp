// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/device/summary_target.hpp"
#include "kiln/executors/executor.hpp"
#include "kiln/function_ref.hpp"
#include "kiln/queue.hpp"

#include "executors/tick_place.hpp"

namespace kiln {

/// Enqueues the ticks of a run, which are defined once, by one of the executors.
///
/// Ticks are captured for the first time when the run begins, and many at a time when their
/// duration is known: the host captures while the device is busy with ticks enqueued before.
/// Where the run is resident, graphs have several ticks in one launch.
class TickPlayer {
 public:
  struct Parts {
    /// Enqueues one tick, or up to `at_once` as one launch. @return ticks enqueued
    std::function<std::int64_t(const TickPlace&, std::int64_t at_once)> tick;
    std::function<std::string()> why_one;  ///< why `tick` enqueued one alone: a sentence
    std::function<void()> end_epoch;       ///< records an epoch; without effect where none ends
    /// Gives the host what the ticks of a chunk have noted, and their summary.
    std::function<void(const SummaryTarget&)> hand_over;
    const RunControl* control = nullptr;
    std::uint64_t ticks_per_epoch = 0;  ///< a power of two; 0: the run has no epochs
    bool is_told = false;  ///< whether commands may hold the run: a loop lets them act sooner
    /// Whether a requested executor that does not apply ends the run. Not after an earlier stage,
    /// which would be lost: such a run has graphs, and their reason says why.
    bool may_refuse = true;
  };

  /// @param queue  must outlive the player
  /// @param wanted  `stream` where ticks cannot be captured; its reason unless it is `automatic`
  TickPlayer(Queue& queue, ExecutorChoice wanted, Parts parts);

  /// Whether it wants ticks to be captured.
  bool wants_capture() const noexcept { return wanted_ != Executor::stream && !tick_; }
  /// Launches what capture() captures, for a run that has stopped: a device loads kernels with
  /// their first launch.
  void touch();
  /// Captures one tick.
  /// @throws InvalidArgument for a requested executor that does not apply
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
  void begin_chunk() { chunks_.push_back(played_); }
  void forget_chunks() noexcept { chunks_.clear(); }

  ExecutorChoice choice() const;

 private:
  struct Several {
    std::int64_t ticks = 0;  ///< a power of two
    std::unique_ptr<TickGraph> graph;
  };
  using Graphs = std::vector<Several>;  // by increasing number of ticks
  bool holds_epochs(std::int64_t ticks) const noexcept {
    return parts_.ticks_per_epoch > 0 &&
           static_cast<std::uint64_t>(ticks) >= parts_.ticks_per_epoch;
  }
  bool ends_epoch(std::uint64_t ticks) const noexcept {
    return parts_.ticks_per_epoch > 0 && ticks % parts_.ticks_per_epoch == 0;
  }
  static std::int64_t longest_of(const Graphs& graphs) noexcept {
    return graphs.empty() ? 1 : graphs.back().ticks;
  }
  std::int64_t nodes_of(std::int64_t ticks) const noexcept;
  bool affords(std::int64_t ticks) const noexcept;
  bool in_trial() const noexcept;
  std::int64_t body_ticks() const noexcept;
  double chunk_s(const Look& look) const noexcept;
  void require_loop();
  void refuse(const char* code, const std::string& reason, const char* allowed);
  void require_resident();
  void capture_several(Graphs& graphs, std::int64_t count);
  std::unique_ptr<TickGraph> capture_graph(FunctionRef<void()> enqueue);
  void capture_loop();
  void enqueue_body(std::int64_t ticks, std::int64_t at_once = 1);
  std::int64_t enqueue_pair();
  std::int64_t ticks_at_once() const noexcept;
  const Several* fitting(const Graphs& graphs, std::uint64_t first, std::int64_t count,
                         bool records) const;
  bool fits_loop(std::uint64_t first, std::int64_t count, bool records) const;
  std::int64_t play_some(std::uint64_t first, std::int64_t count, bool records);
  void choose_for_trial();
  bool measured_loop() const noexcept;
  ExecutorChoice judged() const;
  void decide();

  Queue& queue_;
  Executor wanted_;
  Parts parts_;
  double tick_s_ = -1;      // -1: unknown
  double elapsed_s_ = 0;    // of the run, at the last chunk
  double mean_tick_s_ = 0;  // of the run so far
  std::unique_ptr<TickGraph> tick_;
  Graphs several_;
  Graphs resident_;             // several ticks in a launch, where `merges_`
  std::optional<bool> merges_;  // whether launches have several ticks, once one was tried
  std::unique_ptr<TickGraph> loop_;
  std::int64_t body_ = 0;     // ticks of an iteration of the loop
  bool recorded_ = false;     // by what play_some() enqueued: the end of its last epoch
  bool handed_over_ = false;  // likewise, to the host
  Executor current_ = Executor::stream;
  Executor played_ = Executor::stream;  // the last chunk; automatic: none that is measured
  std::string reason_;
  std::string refusal_;  // of the device, to loop
  std::string why_one_;  // no launch has several ticks
  bool decided_ = false;
  bool begun_ = false;           // something was captured
  std::deque<Executor> chunks_;  // enqueued, not ended
  ExecutorChoice measured_;
  std::vector<double> graph_trial_, loop_trial_, resident_trial_;  // seconds of a tick
};

}  // namespace kiln
