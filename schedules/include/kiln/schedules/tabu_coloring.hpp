// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/coloring_tabu.hpp"
#include "kiln/objectives/coloring.hpp"
#include "kiln/options.hpp"
#include "kiln/own_work.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of the tabu search for colourings.
struct TabuColoringOptions {
  std::int64_t tenure = 10;
  double tenure_share = 0.6;

  KILN_API static const OptionTable<TabuColoringOptions>& table();
};

/// Tabu search on colourings: each replica moves vertices with conflicts until none is left, from a
/// greedy colouring downwards, one colour at a time. A sweep has as many moves as the graph has
/// vertices. See docs/schedules/tabu_coloring.md.
/// @par Source  Hertz, de Werra, Computing 39 (1987) 345.
class KILN_API TabuColoring : public ScheduleOf<TabuColoringOptions, OwnWork> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit TabuColoring(TabuColoringOptions options = {});
  ~TabuColoring() override;

  std::string name() const override { return "tabu-coloring"; }
  /// @throws InvalidArgument `schedule.objective` for objectives that are not ColoringModelled.
  Needs needs(const Problem& problem, const Budget& budget) override;
  WorkShape own_work(const Problem& problem) const override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  /// Notes `tried`, the number of colours of the current attempts, and `conflicts`, their mean
  /// number of edges between equal colours; NaN if unknown.
  void annotate(ReportPoint& point) const override;
  void report(ReportContext& run, Result& result) override;

 private:
  ColoringTabu kernel_;  // refers to memory of the run
  std::int32_t lower_bound_ = 1;
};

}  // namespace kiln
