// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

class RunContext;

namespace ladder {
class Ladders;
}

/// Options of parallel tempering; 0, -1 and empty mean "choose for me".
struct ParallelTemperingOptions {
  std::int64_t rungs = 0;
  double beta_min = 0;
  double beta_max = 0;
  std::string ladder = "adaptive";
  std::vector<double> betas = {};
  std::int64_t burn_in = -1;
  std::int64_t adaptation_rounds = 6;
  std::int64_t sweeps_per_swap = 1;
  std::string pairs = "even_odd";
  std::string cadence = "fixed";
  std::int64_t interval_min = 1;
  std::int64_t interval_max = 64;
  double swap_target = 0.23;
  double swap_gain = 1.25;
  std::int64_t swap_window = 20;
  double swap_probability = 1;
  std::string exchange = "index";
  std::string cluster_moves = "automatic";
  std::int64_t cluster_interval = 10;

  KILN_API static const OptionTable<ParallelTemperingOptions>& table();
};

/// Parallel tempering: ladders of replicas at fixed temperatures that exchange their positions.
/// Each replica samples the Boltzmann distribution of its rung. See
/// docs/schedules/parallel_tempering.md.
///
/// A group of the batch is a ladder, or a block of 32 ladders (RunPlan::ladders_in_blocks()). All
/// ladders have the same temperatures and independent draws.
/// @par Source  Geyer (1991); Hukushima, Nemoto, J. Phys. Soc. Japan 65 (1996) 1604; Syed et al.,
/// J. R. Stat. Soc. B 84 (2022) 321.
class KILN_API ParallelTempering
    : public ScheduleOf<ParallelTemperingOptions, SetsTemperatures, TakesStates> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit ParallelTempering(ParallelTemperingOptions options = {});
  ~ParallelTempering() override;

  std::string name() const override { return "parallel-tempering"; }
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void enqueue(TickContext& run) override;
  /// The ladder, hottest first, one temperature for each rung. Its adaptation ends, and what was
  /// measured at the former temperatures starts anew; log Z then has no offset.
  void set_temperatures(RunContext& run, const std::vector<double>& temperatures) override;
  void descend(DescendContext& run) override;
  void report(ReportContext& run, Result& result) override;

 private:
  bool takes_ladder(const RunContext& run) const;
  void resolve_range(AllocateContext& run);
  std::vector<double> first_ladder() const;
  void choose_clusters(AllocateContext& run);
  void allocate_clusters(AllocateContext& run);
  void move_clusters(TickContext& run);
  void report_clusters(ReportContext& run, Result& result);

  std::uint32_t sweeps_per_tick_ = 1;
  std::unique_ptr<ladder::Ladders> ladders_;
  View1<std::uint32_t> moved_, open_;  // views of memory of the run; empty without cluster moves
  View1<std::uint64_t> moves_, sizes_;
  bool symmetric_ = false;
};

}  // namespace kiln
