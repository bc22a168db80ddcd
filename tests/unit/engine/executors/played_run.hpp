// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/executors/loop_summaries.hpp"

#include "executors/tick_player.hpp"

namespace kiln::test::played_run {

using Work = std::vector<std::function<void()>>;

struct Recorded final : TickGraph {
  Work work, after;
  std::int64_t nodes() const noexcept override { return static_cast<std::int64_t>(work.size()); }
};

/// Runs what is enqueued at once, or records it.
class RecordingQueue final : public Queue, public LoopSummaries {
 public:
  RecordingQueue() : Queue(nullptr, DeviceShape{}) {}

  void enqueue(const std::function<void()>& one) {
    if (capturing_) return work_.push_back(one);
    count_launch();
    one();
  }

  const char* backend_name() const noexcept override { return "cuda"; }
  void zero(void*, std::size_t) override {}
  void copy(void*, const void*, std::size_t) override {}
  RunSummary* summary_target() override { return &summaries_[plain_ % summaries_.size()]; }
  void post_summary() override { posted_.push_back(&summaries_[plain_++ % summaries_.size()]); }
  SummaryTarget loop_summary_target() override { return {slots_.data(), &loops, slots_.size()}; }
  void post_loop_summary() override { posted_.push_back(&slots_[(loops - 1) % slots_.size()]); }
  RunSummary wait_summary() override {  // reads memory now, as the host of a device does
    const RunSummary oldest = *posted_.at(0);
    posted_.pop_front();
    return oldest;
  }
  bool can_capture() const noexcept override { return true; }
  void begin_capture() override { capturing_ = true; }
  std::unique_ptr<TickGraph> end_capture() override {
    auto graph = std::make_unique<Recorded>();
    graph->work = taken();
    return graph;
  }
  std::unique_ptr<TickGraph> capture_loop(const RunControl* control,
                                          const std::function<void()>& body,
                                          const std::function<void()>& after,
                                          std::string& refusal) override {
    if (refuses_loops) {
      refusal = "no loops here";
      return nullptr;
    }
    control_ = control;
    auto graph = std::make_unique<Recorded>();
    capturing_ = true;
    body();
    graph->work = taken();
    capturing_ = true;
    if (after) after();
    graph->after = taken();
    return graph;
  }

  bool refuses_loops = false;
  std::uint64_t loops = 0;

 protected:
  void* do_allocate(std::size_t) override { return nullptr; }
  void do_deallocate(void*, std::size_t) noexcept override {}
  void do_upload(void*, const void*, std::size_t) override {}
  void do_download(void*, const void*, std::size_t) override {}
  void do_wait() override {}
  void do_replay(TickGraph& graph) override { play(dynamic_cast<Recorded&>(graph).work); }
  void do_replay_loop(TickGraph& graph, std::uint64_t iterations) override {
    ++loops;
    const auto& loop = dynamic_cast<Recorded&>(graph);
    for (std::uint64_t i = 0; i < iterations && control_->stop == DeviceStop::none; ++i) {
      play(loop.work);
    }
    play(loop.after);
  }

 private:
  static void play(const Work& work) {
    for (const auto& one : work) one();
  }
  Work taken() {
    capturing_ = false;
    return std::exchange(work_, {});
  }

  bool capturing_ = false;
  Work work_;
  const RunControl* control_ = nullptr;
  std::array<RunSummary, 2> summaries_;
  std::array<RunSummary, 3> slots_;  // of loops
  std::size_t plain_ = 0;
  std::deque<const RunSummary*> posted_;
};

/// The properties of a PlayedRun.
struct Setting {
  bool loops = true;             ///< the device repeats ticks
  bool is_told = false;          ///< commands may hold the run
  bool merges = false;           ///< a launch makes several ticks
  std::uint64_t interval = 0;    ///< ticks from one launch that begins a tick to the next; 0: none
  const bool* single = nullptr;  ///< whether launches have become single ticks; null: never
};

/// A run whose ticks count themselves, as a device does.
struct PlayedRun {
  PlayedRun(Executor executor, std::uint64_t epoch, const Setting& setting = {}) {
    queue.refuses_loops = !setting.loops;
    TickPlayer::Parts parts;
    parts.is_told = setting.is_told;
    parts.control = &control;
    parts.ticks_per_epoch = epoch;
    parts.tick = [this, setting](const TickPlace& place, std::int64_t at_once) {
      const bool single = setting.single != nullptr && *setting.single;
      std::int64_t ticks = setting.merges && !single ? at_once : 1;
      if (setting.interval > 0) {
        const std::uint64_t until = place.until_multiple_of(setting.interval);
        ticks = std::min(ticks, static_cast<std::int64_t>(until));
      }
      asked = std::max(asked, at_once);
      asked_for_several += at_once > 1 ? 1 : 0;
      queue.enqueue([this, setting, place, ticks] { launch(setting, place, ticks); });
      return ticks;
    };
    parts.why_one = [] { return "one by one"; };
    parts.end_epoch = [this, epoch] {
      queue.enqueue([this, epoch] {
        const std::uint64_t tick = control.tick;
        // As the kernel does: nothing where none ends, or where it is recorded.
        if (tick % epoch != 0 || (!epochs.empty() && epochs.back() == tick)) return;
        epochs.push_back(tick);
      });
    };
    parts.hand_over = [this](const SummaryTarget& target) {
      queue.enqueue([this] { ++handed_over; });
      queue.enqueue([this, target] { target.slot().control = control; });
    };
    const std::string reason = executor == Executor::automatic ? "" : "requested";
    player.emplace(queue, ExecutorChoice{executor, reason}, std::move(parts));
    if (player->wants_capture()) touch_and_capture();
  }

  void touch_and_capture() {
    control.stop = DeviceStop::step_limit;
    const std::uint64_t before = enqueued;
    player->touch();
    enqueued = before;
    control.stop = DeviceStop::none;
    player->capture();
  }

  void launch(const Setting& setting, const TickPlace& place, std::int64_t ticks) {
    for (std::int64_t t = 0; t < ticks; ++t) {
      ++enqueued;
      if (control.stop != DeviceStop::none) continue;
      const std::uint64_t known = place.modulus == 0 ? control.tick : control.tick % place.modulus;
      wrong_places += known == place.number + static_cast<std::uint64_t>(t) ? 0 : 1;
      known_places += place.modulus != 1 ? 1 : 0;
      if (t > 0 && setting.interval > 0) {
        skipped_begins += control.tick % setting.interval == 0 ? 1 : 0;
      }
      merged += ticks > 1 ? 1 : 0;
      ++control.tick;
      if (control.tick == stop_at) control.stop = DeviceStop::target;
    }
    longest = std::max(longest, ticks);
  }

  void play(std::int64_t count) {
    player->prepare(count);
    player->play(first, count, true);
    player->hand_over();
    ASSERT_EQ(queue.wait_summary().control.tick, control.tick);
    player->begin_chunk();
    first += static_cast<std::uint64_t>(count);
  }

  /// Launches of the host so far.
  std::uint64_t launches() const {
    return queue.counters().launches + queue.counters().graph_launches;
  }

  RecordingQueue queue;
  RunControl control;
  std::uint64_t stop_at = ~0ull;
  std::uint64_t first = 0, enqueued = 0, handed_over = 0;
  std::uint64_t wrong_places = 0, known_places = 0;
  std::uint64_t merged = 0;          ///< ticks in launches of several
  std::uint64_t skipped_begins = 0;  ///< ticks whose first launch is missing
  std::int64_t longest = 0;          ///< ticks of a launch
  std::int64_t asked = 0;            ///< ticks of a launch that were asked for
  std::uint64_t asked_for_several = 0;
  std::vector<std::uint64_t> epochs;
  std::optional<TickPlayer> player;
};

/// How long a tick takes, s.
struct TickTimes {
  double graph = 0, loop = 0, resident = 0;
};

/// Chunks as the loop of a run asks for them.
/// @param late  chunks of the loop and of resident graphs, from the first of each on, that seem to
/// take three times as long
/// @param max_ticks  of a chunk
inline void advance(PlayedRun& run, double run_s, const TickTimes& tick_s, std::uint64_t late = 0,
                    std::int64_t max_ticks = 1ll << 40) {
  double now_s = 0;
  run.player->set_tick_s(tick_s.graph);
  std::uint64_t residents = 0;
  while (now_s < run_s) {
    const std::int64_t count = run.player->chunk({run.first, now_s, 0.1, 1e8, max_ticks});
    ASSERT_GE(count, 1);
    const std::uint64_t loops = run.queue.loops, merged = run.merged;
    run.play(count);
    const bool looped = run.queue.loops > loops, resident = run.merged > merged + 2;
    residents += resident ? 1 : 0;
    const double chunk_s = static_cast<double>(count) * (looped     ? tick_s.loop
                                                         : resident ? tick_s.resident
                                                                    : tick_s.graph);
    const bool is_late = (looped && run.queue.loops <= late) || (resident && residents <= late);
    run.player->end_chunk(count, is_late ? 3 * chunk_s : chunk_s);
    now_s += chunk_s;
  }
}

inline void expect_whole(const PlayedRun& run, std::uint64_t epoch) {
  EXPECT_EQ(run.control.tick, run.first);
  ASSERT_EQ(run.epochs.size(), run.first / epoch);
  for (std::size_t i = 0; i < run.epochs.size(); ++i) ASSERT_EQ(run.epochs[i], (i + 1) * epoch);
}

}  // namespace kiln::test::played_run
