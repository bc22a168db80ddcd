// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kiln/engine.hpp"
#include "kiln/schedules/parallel_tempering.hpp"

#include "backends/cpu_options.hpp"

namespace kiln::test {

/// A ladder of so many rungs between two temperatures.
inline ParallelTemperingOptions ladder(std::int64_t rungs, double beta_min, double beta_max,
                                       const std::string& kind = "adaptive") {
  ParallelTemperingOptions chosen;
  chosen.rungs = rungs;
  chosen.beta_min = beta_min;
  chosen.beta_max = beta_max;
  chosen.ladder = kind;
  return chosen;
}

/// A run on one CPU thread.
inline Result tempered(const Problem& problem, const ParallelTemperingOptions& chosen,
                       std::int64_t replicas, std::int64_t sweeps, std::uint64_t seed = 1) {
  ParallelTempering schedule(chosen);
  return Engine(options(replicas, seed)).run(problem, schedule, {.sweeps = sweeps});
}

}  // namespace kiln::test
