// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "kiln/device/run_control.hpp"
#include "kiln/memory/arena.hpp"

#include "cuda_device.hpp"
#include "executors/hold_flag.hpp"
#include "executors/loop_graph.hpp"
#include "stream.hpp"

namespace kiln::cuda {

/// What the loops of a queue share, which run one after another.
struct LoopParts {
  LoopParts(const CudaDevice& device, std::shared_ptr<const Stream> on);
  ~LoopParts();
  LoopParts(const LoopParts&) = delete;
  LoopParts& operator=(const LoopParts&) = delete;

  std::shared_ptr<const Stream> stream;
  PinnedBuffer<std::uint64_t> slots{loop_slots};
  PinnedBuffer<RunSummary> summaries{loop_slots};  // one for each launch in turn, too
  LoopState* state = nullptr;                      // on the device
  std::uint64_t launches = 0;
};

/// What makes a queue and is dear to make: queues leave it to later ones (CudaDevice::idle()). It
/// must be made and destroyed while the device is current.
struct QueueParts {
  static constexpr std::uint64_t max_summaries = 2;
  static constexpr std::size_t staging_bytes = std::size_t{256} << 10;

  explicit QueueParts(const CudaDevice& device);
  ~QueueParts();

  std::shared_ptr<const Stream> stream;  // shared with graphs, which wait on it before they go
  PinnedBuffer<RunSummary> summaries{max_summaries};
  PinnedBuffer<std::byte> staging{staging_bytes};  // of small copies, either way
  std::array<Event, max_summaries> summary_ready;
  std::array<Event, 2> launched;  // behind the last launches, and behind those before
  Event timer_begin{EventKind::timed}, timer_end{EventKind::timed};
  std::unique_ptr<LoopParts> loops;  // made for the first loop
  std::unique_ptr<HoldParts> hold;   // made for the first flag
  Arena arena;                       // device memory
  Arena pinned;                      // host memory that the device can write
};

}  // namespace kiln::cuda
