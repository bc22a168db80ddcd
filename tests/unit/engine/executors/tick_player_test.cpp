// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a player enqueues, by a queue that executes captures in its own way: each tick once and in
// order, each epoch at its end, and nothing after a stop where the device repeats ticks.
#include "executors/tick_player.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln::test::tick_player_test {
namespace {

using Work = std::vector<std::function<void()>>;

struct Recorded final : TickGraph {
  Work work, after;
  std::int64_t nodes() const noexcept override { return static_cast<std::int64_t>(work.size()); }
};

/// Runs what is enqueued at once, or records it.
class RecordingQueue final : public Queue {
 public:
  RecordingQueue() : Queue(nullptr, DeviceShape{}) {}

  void enqueue(const std::function<void()>& one) { capturing_ ? work_.push_back(one) : one(); }

  const char* backend_name() const noexcept override { return "cuda"; }
  void zero(void*, std::size_t) override {}
  void copy(void*, const void*, std::size_t) override {}
  RunSummary* summary_target() override { return nullptr; }
  void post_summary() override {}
  RunSummary wait_summary() override { return {}; }
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
    parts.hand_over = [this] { queue.enqueue([this] { ++handed_over; }); };
    const std::string reason = executor == Executor::automatic ? "" : "requested";
    player.emplace(queue, ExecutorChoice{executor, reason}, std::move(parts));
    if (player->wants_capture()) player->capture();
  }

  void play(std::int64_t count) {
    player->prepare(count);
    const Counters before = queue.counters();
    player->play(first, count, true);
    const Counters used = queue.counters() - before;
    launches += used.launches + used.graph_launches;
    player->begin_chunk();
    first += static_cast<std::uint64_t>(count);
  }

  RecordingQueue queue;
  RunControl control;
  std::uint64_t stop_at = ~0ull;
  std::uint64_t first = 0, enqueued = 0, handed_over = 0, launches = 0;
  std::uint64_t wrong_places = 0, known_places = 0;
  std::vector<std::uint64_t> epochs;
  std::optional<TickPlayer> player;
};

/// Chunks as the loop of a run asks for them, of ticks that take so long by graph and by loop.
/// @param late  chunks of the loop, from its first on, that seem to take three times as long
void advance(PlayedRun& run, double run_s, double graph_tick_s, double loop_tick_s,
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

void expect_whole(const PlayedRun& run, std::uint64_t epoch) {
  EXPECT_EQ(run.control.tick, run.first);
  ASSERT_EQ(run.epochs.size(), run.first / epoch);
  for (std::size_t i = 0; i < run.epochs.size(); ++i) ASSERT_EQ(run.epochs[i], (i + 1) * epoch);
}

TEST(TickPlace, SaysWhereAMultipleMayBe) {
  for (std::uint64_t modulus : {1, 2, 8, 64, 0}) {
    for (std::uint64_t number = 0; number < (modulus == 0 ? 100 : modulus); ++number) {
      for (std::uint64_t ticks = 1; ticks < 20; ++ticks) {
        bool expected = false;
        for (std::uint64_t tick = number; tick < 5000; tick += modulus == 0 ? 5000 : modulus) {
          expected |= tick % ticks == 0;
        }
        EXPECT_EQ((TickPlace{number, modulus}.may_be_multiple_of(ticks)), expected)
            << number << " modulo " << modulus << ", " << ticks;
      }
    }
  }
}

TEST(TickPlayer, EnqueuesEachTickAndEachEpochOnce) {
  for (const Executor executor : {Executor::graph, Executor::loop, Executor::automatic}) {
    for (const std::uint64_t epoch : {1, 4, 64, 512}) {
      for (const double tick_s : {3e-6, 30e-6, 150e-6, 2e-3}) {
        SCOPED_TRACE(std::string(to_string(executor)) + " " + std::to_string(epoch) + " " +
                     std::to_string(tick_s));
        PlayedRun run(executor, epoch);
        advance(run, 2, tick_s, 0.9 * tick_s);
        expect_whole(run, epoch);
        EXPECT_EQ(run.enqueued, run.first);
        EXPECT_EQ(run.wrong_places, 0u);
        if (tick_s < 1e-3) {
          EXPECT_GE(run.known_places, run.first / 2);
        }
      }
    }
  }
}

// Where a run is cut, the next chunk begins anywhere.
TEST(TickPlayer, BeginsAnywhere) {
  std::mt19937_64 random(5);
  for (const Executor executor : {Executor::graph, Executor::loop}) {
    for (const std::uint64_t epoch : {2, 16, 128}) {
      PlayedRun run(executor, epoch);
      advance(run, 1, 20e-6, 20e-6);
      for (int i = 0; i < 300; ++i) run.play(1 + static_cast<std::int64_t>(random() % 3000));
      expect_whole(run, epoch);
      EXPECT_EQ(run.wrong_places, 0u);
    }
  }
}

TEST(TickPlayer, EnqueuesFewTicksAfterAStop) {
  PlayedRun loop(Executor::loop, 64), graph(Executor::graph, 64);
  loop.stop_at = graph.stop_at = 40000;
  advance(loop, 1.5, 30e-6, 30e-6);
  advance(graph, 1.5, 30e-6, 30e-6);
  EXPECT_EQ(loop.control.tick, 40000u);
  EXPECT_EQ(graph.control.tick, 40000u);
  // An iteration has up to 512 ticks of about a millisecond together.
  EXPECT_LE(loop.enqueued, 40000u + 1e-3 / 30e-6 * 2);
  EXPECT_EQ(graph.enqueued, graph.first);
}

// At most one launch for 10 ms, 50 ms where the device repeats ticks, once ticks are known. A look
// of the host is one more: the summary.
TEST(TickPlayer, LaunchesSeldom) {
  struct Floor {
    Executor executor;
    double s;
  };
  for (const Floor floor : {Floor{Executor::graph, 0.01}, Floor{Executor::loop, 0.05}}) {
    for (const double tick_s : {8e-6, 30e-6, 90e-6, 180e-6, 700e-6}) {
      SCOPED_TRACE(std::string(to_string(floor.executor)) + " " + std::to_string(tick_s));
      PlayedRun run(floor.executor, 64);
      advance(run, 2, tick_s, tick_s);
      const std::uint64_t before = run.launches, first = run.first;
      double seconds = 0;
      std::uint64_t looks = 0;
      while (seconds < 5) {
        const std::int64_t count = run.player->chunk({run.first, 2 + seconds, 0.1, 1e8});
        run.play(count);
        seconds += tick_s * static_cast<double>(count);
        looks += run.player->handed_over() ? 1 : 2;
      }
      const auto launches = static_cast<double>(run.launches - before + looks);
      EXPECT_GE(seconds / launches, floor.s) << run.first - first << " ticks";
    }
  }
}

// The records of telemetry bound a chunk, to a number that is no multiple of the ticks of a graph.
TEST(TickPlayer, LaunchesSeldomInBoundedChunks) {
  constexpr double tick_s = 31.7e-6;
  constexpr std::int64_t max_ticks = 1650;
  PlayedRun run(Executor::graph, 64);
  advance(run, 2, tick_s, tick_s);
  const std::uint64_t before = run.launches;
  double seconds = 0;
  std::uint64_t looks = 0;
  for (; seconds < 5; looks += 2) {
    const std::int64_t count = run.player->chunk({run.first, 2 + seconds, 0.1, 1e8, max_ticks});
    ASSERT_LE(count, max_ticks);
    run.play(count);
    seconds += tick_s * static_cast<double>(count);
  }
  EXPECT_GE(seconds / static_cast<double>(run.launches - before + looks), 0.01);
}

TEST(TickPlayer, ChoosesTheFaster) {
  PlayedRun faster(Executor::automatic, 64), slower(Executor::automatic, 64),
      equal(Executor::automatic, 64);
  advance(faster, 2, 30e-6, 28e-6);
  advance(slower, 2, 30e-6, 33e-6);
  advance(equal, 2, 30e-6, 29.9e-6);
  EXPECT_EQ(faster.player->choice().executor, Executor::loop);
  EXPECT_EQ(faster.player->choice().reason, "a tick took 28 us by loop and 30 us by graph");
  EXPECT_DOUBLE_EQ(faster.player->choice().graph_tick_s, 30e-6);
  EXPECT_DOUBLE_EQ(faster.player->choice().loop_tick_s, 28e-6);
  EXPECT_EQ(slower.player->choice().executor, Executor::graph);
  EXPECT_EQ(equal.player->choice().executor, Executor::graph) << "within a percent";
}

// Commands act sooner there, which is worth a percent.
TEST(TickPlayer, ChoosesTheLoopForARunThatIsTold) {
  PlayedRun equal(Executor::automatic, 64, true, true), slower(Executor::automatic, 64, true, true);
  advance(equal, 2, 30e-6, 30.2e-6);
  advance(slower, 2, 30e-6, 30.4e-6);
  EXPECT_EQ(equal.player->choice().executor, Executor::loop);
  EXPECT_EQ(slower.player->choice().executor, Executor::graph);
}

// Where a graph follows a loop the host waits in the launch, and sees the end of a chunk late.
TEST(TickPlayer, DoesNotCountTheChangeToTheLoop) {
  PlayedRun run(Executor::automatic, 64);
  advance(run, 2, 30e-6, 28e-6, 3);
  EXPECT_EQ(run.player->choice().executor, Executor::loop);
  EXPECT_DOUBLE_EQ(run.player->choice().loop_tick_s, 28e-6);
}

TEST(TickPlayer, SaysWhyItDidNotChoose) {
  PlayedRun brief(Executor::automatic, 64), long_ticks(Executor::automatic, 64),
      refused(Executor::automatic, 64, false);
  advance(brief, 0.05, 30e-6, 30e-6);
  advance(long_ticks, 2, 1e-3, 1e-3);
  advance(refused, 2, 30e-6, 30e-6);
  EXPECT_EQ(brief.player->choice().reason, "the run ended before the loop was measured");
  EXPECT_EQ(long_ticks.player->choice().reason,
            "a tick takes 1e+03 us, beside which its launches do not count");
  EXPECT_EQ(refused.player->choice().reason, "no loops here");
  for (const PlayedRun* run : {&brief, &long_ticks, &refused}) {
    EXPECT_EQ(run->player->choice().executor, Executor::graph);
  }
  EXPECT_THROW(PlayedRun(Executor::loop, 64, false), InvalidArgument);
}

// Or to 10 ms, if that is more.
TEST(TickPlayer, KeepsToTheIntervalOfReports) {
  for (const Executor executor : {Executor::graph, Executor::loop}) {
    for (const double interval_s : {0.0, 0.02, 0.05}) {
      PlayedRun run(executor, 64);
      advance(run, 1, 30e-6, 30e-6);
      const std::int64_t count = run.player->chunk({run.first, 1, interval_s, 1e8});
      const double ratio = 30e-6 * static_cast<double>(count) / std::max(interval_s, 0.01);
      EXPECT_LE(ratio, 1.5) << interval_s;
      EXPECT_GE(ratio, 0.5) << interval_s;
    }
  }
}

// Two chunks are under way when a limit comes.
TEST(TickPlayer, KeepsToATimeLimit) {
  for (const Executor executor : {Executor::graph, Executor::loop}) {
    PlayedRun run(executor, 64);
    advance(run, 1, 30e-6, 30e-6);
    for (const double left_s : {0.05, 1e-3, 1e-4, 0.0, -1.0}) {
      const std::int64_t count = run.player->chunk({run.first, 1, 0.1, left_s / 2});
      EXPECT_LE(static_cast<double>(count) * 30e-6, std::max(left_s / 2, 30e-6)) << left_s;
      EXPECT_GE(count, 1);
    }
  }
}

}  // namespace
}  // namespace kiln::test::tick_player_test
