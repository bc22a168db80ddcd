// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/kernels/stepping_stone.hpp"
#include "kiln/result.hpp"
#include "kiln/run.hpp"

namespace kiln::hmc {

/// log Z between the ends of a ladder over the power of the likelihood, while the ladder runs.
class SteppingStones {
 public:
  /// @param warmup transitions that do not count, because rungs still move in them.
  void start(Run& run, std::int64_t rungs, std::int64_t warmup);
  /// After a tick: every neighbouring pair of rungs of every ladder gives one weight each way.
  void add(Run& run, View1<const double> parameter, View1<const std::int32_t> slot_of,
           std::uint32_t step_offset) const;
  /// Diagnostics log_z and log_z_error, and the series log_z by rung.
  void report(Run& run, Result& result) const;

 private:
  std::int64_t rungs_ = 0, ladders_ = 0;
  std::uint64_t warmup_ = 0;
  View1<LogSum> forward_, backward_;
};

}  // namespace kiln::hmc
