// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kiln/queue.hpp"

#include "bench/statistics.hpp"

namespace kiln::cli {

/// Seconds of the steady clock since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// How often something is measured: until the time is up, but not less than `least` times.
struct Repetitions {
  std::int64_t least = 1, most = 1;
  double limit_s = 0;
};

/// Calls measure(0), measure(1), ...
template <class Measure>
void repeat(const Repetitions& how, const Measure& measure) {
  const Stopwatch spent;
  for (std::int64_t i = 0; i < how.most && (i < how.least || spent.seconds() < how.limit_s); ++i) {
    measure(i);
  }
}

/// What is timed: launches on a queue that may follow each other without a wait.
struct Launches {
  /// Enqueues launch number `index` of a batch, 0 .. most - 1.
  std::function<void(std::uint32_t index)> launch;
  /// Puts the data back before each batch, outside the time; may be empty.
  std::function<void()> reset = {};
  std::int64_t most = 1000;  ///< in one batch
};

/// How long to measure.
struct Effort {
  int repetitions = 25;
  double batch_s = 2e-3;  ///< what a batch should last, far above the cost of starting the clock
  double limit_s = 2;     ///< of one measurement; one batch is timed in any case
};

/// What came of it.
struct Timing {
  Spread seconds;          ///< of one launch; spread over batches
  std::int64_t batch = 1;  ///< launches in one
};

/// Times launches on a queue.
///
/// Where the queue can capture, a batch is one graph: its nodes follow each other without the host,
/// so the time of one is that of the device. A large copy goes ahead of each, so that the host has
/// enqueued clock, graph and clock before the device reaches them. Elsewhere a batch is a loop.
class LaunchTimer {
 public:
  explicit LaunchTimer(Queue& queue);

  Timing time(const Launches& work, const Effort& effort);

  /// A batch of launches that is timed again and again: where the queue can capture, a graph.
  struct Batch {
    std::int64_t launches = 1;
    std::unique_ptr<TickGraph> graph = nullptr;
  };
  /// Launches enough for a batch to last effort.batch_s, and warms up the device.
  std::int64_t choose_batch(const Launches& work, const Effort& effort);
  /// Captures a batch, and replays it once.
  Batch make_batch(const Launches& work, std::int64_t launches);
  /// Seconds of one launch in a batch.
  double sample(const Launches& work, const Batch& batch);

  /// "graph" or "loop".
  const char* method() const { return queue_.can_capture() ? "graph" : "loop"; }
  /// The methods in a sentence.
  std::string method_text() const;

  /// Seconds of a launch that reads one word and does nothing, and bytes per second (read and
  /// written) of a copy within device memory: nothing that is launched and moves bytes is faster,
  /// unless its data stay in a cache.
  struct Floors {
    double launch_s = 0;
    double bytes_per_s = 0;
    double of(double bytes) const;
  };
  Floors measure_floors(const Effort& effort);

 private:
  void run_batch(const Launches& work, std::int64_t batch);
  void keep_device_busy();

  Queue& queue_;
  DeviceArray<std::byte> from_, to_;
};

}  // namespace kiln::cli
