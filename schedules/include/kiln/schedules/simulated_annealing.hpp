// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/sweeps/sweep_rule.hpp"
#include "kiln/kernels/sweeps/temperature_update.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of simulated annealing; 0 and empty mean "choose for me".
struct SimulatedAnnealingOptions {
  std::string cooling = "automatic";
  double beta_min = 0;
  double beta_max = 0;
  double beta_min_last = 0;
  double beta_max_last = 0;
  double cooling_factor = 0;
  double cooling_rate = 1;
  std::vector<double> betas = {};
  double acceptance_begin = 0.44;
  double acceptance_end = 0.001;
  std::int64_t window = 10;
  double gain = 0.5;
  double pid_proportional = 0.1;
  double pid_integral = 0.01;
  double pid_derivative = 0.05;
  std::int64_t anneal_sweeps = 0;
  std::int64_t polish_sweeps = -1;
  std::int64_t growth = 0;
  std::string restart = "random";
  double reheat = 0;
  std::int64_t groups = 1;
  std::string moves = "metropolis";

  KILN_API static const OptionTable<SimulatedAnnealingOptions>& table();
};

/// Simulated annealing of many independent replicas: rounds of anneals, each ended by a greedy
/// descent, the next one from new random states or by heating the old ones up again. See
/// docs/schedules/simulated_annealing.md.
/// @par Source  Kirkpatrick, Gelatt, Vecchi, Science 220 (1983) 671.
class KILN_API SimulatedAnnealing : public ScheduleOf<SimulatedAnnealingOptions> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit SimulatedAnnealing(SimulatedAnnealingOptions options = {});
  /// One anneal per group, each with a cooling of its own (`groups` of the options is not used).
  /// What belongs to the batch must be the same in all: anneal_sweeps, polish_sweeps, growth,
  /// restart, moves and window.
  /// @throws InvalidArgument with every complaint, and for an empty list.
  explicit SimulatedAnnealing(std::vector<SimulatedAnnealingOptions> groups);
  ~SimulatedAnnealing() override;

  std::string name() const override { return "simulated-annealing"; }
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void enqueue(TickContext& run) override;
  void descend(DescendContext& run) override;
  void report(ReportContext& run, Result& result) override;

 private:
  using Options = SimulatedAnnealingOptions;
  void resolve(AllocateContext& run);
  Cooling plan_cooling(const Options& options) const;
  SweepRule rule() const;

  std::vector<Options> per_group_;  // empty: all are like the first, which is options_
  std::vector<Options> resolved_groups_;
  std::int64_t round_sweeps_ = 0;
  std::int64_t growth_ = 1;
  std::uint32_t sweeps_per_tick_ = 1;
  View1<Cooling> cooling_;  // these belong to the run
  View1<double> beta_, list_;
  View1<std::uint32_t> restart_;
  View2<std::uint64_t> window_;
};

}  // namespace kiln
