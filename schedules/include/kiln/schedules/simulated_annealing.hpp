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
#include "kiln/schedules/cooling.hpp"
#include "kiln/upgrades/former_field.hpp"

namespace kiln {

class WorkContext;

/// Options of simulated annealing; 0 and empty mean "choose for me".
///
/// Fields of single coolings have moved into the policies; the former fields still work in this
/// version. The constructor of the schedule moves those that are set into the policy of `cooling`.
/// It ignores those of other policies, as before, and refuses `betas` without ListCooling.
struct SimulatedAnnealingOptions {
  CoolingPolicy cooling = {};
  double beta_min = 0;
  double beta_max = 0;
  double beta_min_last = 0;
  double beta_max_last = 0;
  FormerField<double> cooling_factor = {};      ///< now ExponentialCooling::factor
  FormerField<double> cooling_rate = {};        ///< now LogarithmicCooling::rate
  FormerField<std::vector<double>> betas = {};  ///< now ListCooling::betas
  FormerField<double> acceptance_begin = {};    ///< now of AdaptiveCooling and PidCooling
  FormerField<double> acceptance_end = {};      ///< now of AdaptiveCooling and PidCooling
  FormerField<std::int64_t> window = {};        ///< now of AdaptiveCooling and PidCooling
  FormerField<double> gain = {};                ///< now AdaptiveCooling::gain
  FormerField<double> pid_proportional = {};    ///< now PidCooling::gain
  FormerField<double> pid_integral = {};        ///< now PidCooling::integral
  FormerField<double> pid_derivative = {};      ///< now PidCooling::derivative
  std::int64_t anneal_sweeps = 0;
  std::int64_t polish_sweeps = -1;
  std::int64_t growth = 0;
  std::string restart = "automatic";
  double reheat = 0;
  std::int64_t groups = 1;
  std::string moves = "metropolis";
  std::string noise = "independent";

  KILN_API static const OptionTable<SimulatedAnnealingOptions>& table();
};

/// Simulated annealing of many independent replicas: rounds of anneals, each ended by a greedy
/// descent, the next one from new random states or by heating the old ones up again. See
/// docs/schedules/simulated_annealing.md.
/// @par Source  Kirkpatrick, Gelatt, Vecchi, Science 220 (1983) 671.
class KILN_API SimulatedAnnealing : public ScheduleOf<SimulatedAnnealingOptions, TakesStates> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit SimulatedAnnealing(SimulatedAnnealingOptions options = {});
  /// Runs one anneal per group, each with its options (`groups` of the options is not used).
  /// Members that belong to the batch must be equal in all groups: anneal_sweeps, polish_sweeps,
  /// growth, restart, moves, noise, and the window of adaptive and pid coolings.
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
  void begin_rounds(TickContext& run, std::uint32_t sweep) const;
  void choose_restart(AllocateContext& run);
  double reheat_of_couplings(AllocateContext& run, const Options& options) const;
  void allocate_crossover(AllocateContext& run);
  void cross_with_best(WorkContext& run, View1<const std::uint32_t> active_groups) const;
  void cross_pairs(WorkContext& run, View1<const std::uint32_t> active_groups,
                   std::int64_t distance) const;
  void cross_all(DescendContext& run) const;

  std::vector<Options> per_group_;  // empty: all are like the first, which is options_
  std::vector<Options> resolved_groups_;
  std::int64_t round_sweeps_ = 0;
  bool round_is_free_ = false;  // neither options nor a budget of sweeps determine it
  bool single_round_ = false;   // as long as the budget of sweeps
  std::int64_t growth_ = 1;
  std::uint32_t sweeps_per_tick_ = 1;
  std::uint32_t sweeps_in_row_ = 1;  // by one launch: of a tick, or each alone
  std::int64_t window_size_ = 0;     // sweeps; 0: no group measures its acceptance rate
  View1<Cooling> cooling_;           // these belong to the run
  View1<double> beta_, list_;
  View1<std::uint32_t> restart_, restart_long_;
  View2<std::uint64_t> window_;
  View2<std::int32_t> crossover_room_;
  bool crosses_ = false;    // restart=crossover, or what automatic took
  bool symmetric_ = false;  // no fields
};

}  // namespace kiln
