// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executors/tick_player.hpp"

namespace kiln::test::played_run {

using Work = std::vector<std::function<void()>>;

struct Recorded final : TickGraph {
  Work work, after;
  std::int64_t nodes() const noexcept override { return static_cast<std::int64_t>(work.size()); }
};

/// Runs what is enqueued at once, or records it.
class RecordingQueue final : public Queue {
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

/// A run whose ticks count themselves, as a device does.
struct PlayedRun {
  PlayedRun(Executor executor, std::uint64_t epoch, bool loops = true, bool is_told = false) {
    queue.refuses_loops = !loops;
    TickPlayer::Parts parts;
    parts.is_told = is_told;
    parts.control = &control;
    parts.ticks_per_epoch = epoch;
    parts.tick = [this](const TickPlace& place) {
      queue.enqueue([this, place] {
        ++enqueued;
        if (control.stop != DeviceStop::none) return;
        const std::uint64_t known =
            place.modulus == 0 ? control.tick : control.tick % place.modulus;
        wrong_places += known == place.number ? 0 : 1;
        known_places += place.modulus != 1 ? 1 : 0;
        ++control.tick;
        if (control.tick == stop_at) control.stop = DeviceStop::target;
      });
    };
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
    if (player->wants_capture()) player->capture();
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
  std::vector<std::uint64_t> epochs;
  std::optional<TickPlayer> player;
};

/// Chunks as the loop of a run asks for them, of ticks that take so long by graph and by loop.
/// @param late  chunks of the loop, from its first on, that seem to take three times as long
inline void advance(PlayedRun& run, double run_s, double graph_tick_s, double loop_tick_s,
                    std::uint64_t late = 0) {
  double now_s = 0;
  run.player->set_tick_s(graph_tick_s);
  while (now_s < run_s) {
    const std::int64_t count = run.player->chunk({run.first, now_s, 0.1, 1e8});
    ASSERT_GE(count, 1);
    const std::uint64_t loops = run.queue.loops;
    run.play(count);
    const double tick_s = run.queue.loops > loops ? loop_tick_s : graph_tick_s;
    const double chunk_s = tick_s * static_cast<double>(count);
    const bool is_late = run.queue.loops > loops && run.queue.loops <= late;
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
