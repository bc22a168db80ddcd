// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/run_context.hpp"
#include "kiln/statistics/draw_judge.hpp"

#include "draw_recorder.hpp"

namespace kiln::hmc {

/// The number of kept draws of each chain at the look after the look at `draws`, a multiple of 100.
/// Looks are at least 100 draws and a tenth of the draws apart, and no later than twice the draws.
/// In between, effective draws tell when conditions may hold at the earliest, with a tenth to
/// spare.
/// @param growth  see DrawVerdict; not infinite
KILN_TEST_API std::int64_t draws_at_next_look(std::int64_t draws, double growth);

/// Looks at the kept draws while a run makes more of them. Of each draw the device is asked once.
class DrawWatch {
 public:
  /// The recorder must outlive the watch.
  void begin(const DrawRecorder& recorder);
  void forget();
  /// @throws InvalidArgument `budget.until` for effective draws that the run cannot have.
  void require_possible(const DrawConditions& conditions) const;
  /// See LooksAtDraws.
  LooksAtDraws::Look look(ReportContext& run, const DrawConditions& conditions,
                          std::uint64_t sweeps);
  /// Quantities of the draws that were read, [draw][chain][quantity].
  std::span<const double> values() const { return values_; }

 private:
  void begin_looks(const DrawConditions& conditions);
  void read(ReportContext& run, std::int64_t draws);
  DrawVerdict judge(ReportContext& run, std::int64_t draws, std::int64_t made);
  std::vector<double> column(std::size_t quantity, std::int64_t draws) const;
  std::int64_t kept_after(std::uint64_t sweeps) const;
  std::uint64_t sweeps_of(std::int64_t draws) const;

  const DrawRecorder* recorder_ = nullptr;
  DrawConditions conditions_;
  DrawJudge judge_;
  std::int64_t next_ = 0;    // draws of the next look
  std::int64_t met_at_ = 0;  // draws of the last look, if the conditions held there; else 0
  std::int64_t looks_ = 0;
  std::int64_t draws_ = 0;  // that were read, of each kept chain
  std::size_t quantities_ = 0;
  std::vector<double> values_;       // [draw][chain][quantity]
  std::vector<double> log_density_;  // [draw][chain]
};

}  // namespace kiln::hmc
