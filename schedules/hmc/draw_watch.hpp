// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/run_context.hpp"
#include "kiln/statistics/draw_conditions.hpp"

#include "draw_recorder.hpp"

namespace kiln::hmc {

/// The number of kept draws of each chain at the look after the look at `draws`: every 100 draws,
/// from 2000 draws on every tenth of the draws so far, in hundreds.
KILN_TEST_API std::int64_t draws_at_next_look(std::int64_t draws);

/// Looks at the kept draws while a run makes more of them. Of each draw the device is asked once.
class DrawWatch {
 public:
  /// The recorder must outlive the watch.
  void begin(const DrawRecorder& recorder);
  void forget();
  /// @throws InvalidArgument `budget.until` for effective draws that the run cannot have.
  void require_possible(const DrawConditions& conditions) const;
  /// In sweeps of the run; the largest number once no more draws are kept.
  std::uint64_t next_look(std::uint64_t sweeps) const;
  bool meets(ReportContext& run, const DrawConditions& conditions, std::int64_t sweeps);

 private:
  void read(ReportContext& run, std::int64_t draws);
  std::vector<double> column(std::size_t quantity) const;

  const DrawRecorder* recorder_ = nullptr;
  DrawJudge judge_;
  std::int64_t draws_ = 0;  // that were read, of each kept chain
  std::size_t quantities_ = 0;
  std::vector<double> values_;       // [draw][chain][quantity]
  std::vector<double> log_density_;  // [draw][chain]
};

}  // namespace kiln::hmc
