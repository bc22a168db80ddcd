// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "kiln/kernels/run/advance_tick.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"

namespace kiln::cli {

/// The ticks of a run whose memory is ready, without the engine's loop: the kernels that its
/// schedule launches, and nothing else.
class TickByHand {
 public:
  /// Enqueues one tick beyond the limit of the run, which shows whether the schedule ends its ticks
  /// itself.
  /// @param run       after a call of advance(); its control is changed
  /// @param schedule  of the run
  /// @param sweeps    of a tick
  TickByHand(Run& run, Schedule& schedule, std::uint64_t sweeps)
      : run_(run), schedule_(schedule), sweeps_(sweeps) {
    RunControl control = read_control();
    control.stop = DeviceStop::none;
    write_control(control);
    TickContext tick(run_.core());
    schedule_.enqueue(tick);
    finishes_ = read_control().tick != control.tick;
  }

  void enqueue() {
    TickContext tick(run_.core());
    schedule_.enqueue(tick);
    if (!finishes_) {
      run_.queue().launch(AdvanceTick{RunContext(run_.core()).control(), sweeps_});
    }
  }

  std::unique_ptr<TickGraph> capture(std::int64_t ticks) {
    run_.queue().begin_capture();
    for (std::int64_t i = 0; i < ticks; ++i) enqueue();
    return run_.queue().end_capture();
  }

  /// Waits for the queue.
  RunControl read_control() const {
    const RunContext context(run_.core());
    return context.read(View1<const RunControl>{context.control(), 1}).front();
  }
  void write_control(const RunControl& control) {
    run_.queue().upload(RunContext(run_.core()).control(), &control, sizeof(control));
  }

 private:
  Run& run_;
  Schedule& schedule_;
  std::uint64_t sweeps_;
  bool finishes_ = false;
};

}  // namespace kiln::cli
