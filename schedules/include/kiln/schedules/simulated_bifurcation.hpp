// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/bifurcation/bifurcation_readout.hpp"
#include "kiln/kernels/bifurcation/bifurcation_steps.hpp"
#include "kiln/options.hpp"
#include "kiln/own_work.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

struct CouplingScale;

/// Options of simulated bifurcation; 0 means "choose for me" where a range says so.
struct SimulatedBifurcationOptions {
  std::string variant = "heated-discrete";
  double xi = 0.65;
  double xi_last = 0;
  double time_step = 0;
  double gamma = 0.06;
  std::int64_t steps = 0;
  std::int64_t growth = 0;
  std::int64_t polish_sweeps = 2;
  std::int64_t groups = 1;

  KILN_API static const OptionTable<SimulatedBifurcationOptions>& table();
};

/// Simulated bifurcation of many independent replicas: rounds in which the oscillators of a
/// pairwise model follow Hamilton's equations while a pump rises, each from new random positions.
/// See docs/schedules/simulated_bifurcation.md.
/// @par Source  Goto, Endo, Suzuki, Sakai, Kanao, Hamakawa, Hidaka, Yamasaki, Tatsumura, Science
/// Advances 7 (2021) eabe7953; Kanao, Goto, Communications Physics 5 (2022) 153.
class KILN_API SimulatedBifurcation : public ScheduleOf<SimulatedBifurcationOptions, OwnWork> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit SimulatedBifurcation(SimulatedBifurcationOptions options = {});
  /// Runs a group of replicas with each of these options (`groups` of the options is not used).
  /// Members that belong to the batch must be equal in all groups: variant, steps, growth and
  /// polish_sweeps.
  /// @throws InvalidArgument with every complaint, and for an empty list.
  explicit SimulatedBifurcation(std::vector<SimulatedBifurcationOptions> groups);
  ~SimulatedBifurcation() override;

  std::string name() const override { return "simulated-bifurcation"; }
  std::string_view step_name() const override { return "step"; }
  Needs needs(const Problem& problem, const Budget& budget) override;
  WorkShape own_work(const Problem& problem) const override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  void annotate(ReportPoint& point) const override;
  void descend(DescendContext& run) override;
  void report(ReportContext& run, Result& result) override;

 private:
  BifurcationReadout readout_of(ReplicaBatch& batch, const RunControl* control) const;
  using Options = SimulatedBifurcationOptions;
  void resolve(const CouplingScale& scale, std::size_t groups);
  BifurcationTuning tuning_of(const Options& options, const CouplingScale& scale) const;
  void allocate_matrix(AllocateContext& run, std::int64_t sites);

  std::vector<Options> per_group_;  // empty: all are like the first, which is options_
  std::vector<Options> resolved_groups_;
  std::vector<double> time_step_limits_;  // of the groups
  BifurcationRounds rounds_;
  std::uint32_t steps_per_tick_ = 1;
  double coupling_strength_ = 0;  // c0 of group 0, in stored units
  BifurcationSteps kernel_;       // its views belong to the run
  View2<std::int8_t> matrix_;     // the same, where this schedule fills it in
  View1<double> cold_;
  View1<std::uint32_t> is_read_;
};

}  // namespace kiln
