// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/export.hpp"

namespace kiln {

/// How a run enqueues its ticks. Every executor gives the same answer, bit by bit.
enum class Executor : std::uint8_t {
  automatic,  ///< the one that takes the least time, by measurement during the run
  stream,     ///< launches every kernel
  graph,      ///< captures ticks in CUDA graphs and replays many of them with one launch
  loop,       ///< a CUDA graph whose WHILE node repeats captured ticks until the run stops
  resident    ///< graphs whose kernels keep replicas on multiprocessors for many ticks
};

/// "auto", "stream", "graph", "loop", "resident".
KILN_API std::string_view to_string(Executor executor) noexcept;

/// The executor that enqueued the ticks of a run, and why.
struct ExecutorChoice {
  Executor executor = Executor::stream;  ///< never automatic
  std::string reason;                    ///< a sentence without its point
  double graph_tick_s = 0;               ///< measured by `automatic`, else 0
  double loop_tick_s = 0;                ///< likewise
  double resident_tick_s = 0;            ///< likewise
};

}  // namespace kiln
