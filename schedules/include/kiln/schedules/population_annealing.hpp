// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kiln/export.hpp"
#include "kiln/kernels/population/population_step.hpp"
#include "kiln/kernels/population/resample.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of population annealing; a beta_max of 0 means "choose for me".
struct PopulationAnnealingOptions {
  std::int64_t sweeps_per_step = 10;
  double overlap = 0.86;
  double beta_min = 0;
  double beta_max = 0;
  double step_max = 0;
  std::int64_t polish_sweeps = 10;
  std::int64_t groups = 1;

  KILN_API static const OptionTable<PopulationAnnealingOptions>& table();
};

/// Population annealing: many replicas are cooled together; at each temperature step replicas of
/// high energy die and others are copied. Each population samples the Boltzmann distribution of
/// every temperature that it passes, and estimates log Z and the free energy. See
/// docs/schedules/population_annealing.md.
///
/// A group of the batch is a population with independent draws. All populations use the same
/// temperature steps, so that their estimates of Z are independent given these. Each round starts
/// from new random states.
/// @par Source  Hukushima, Iba, AIP Conf. Proc. 690 (2003) 200; Machta, Phys. Rev. E 82 (2010)
/// 026704.
class KILN_API PopulationAnnealing : public ScheduleOf<PopulationAnnealingOptions> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit PopulationAnnealing(PopulationAnnealingOptions options = {});
  ~PopulationAnnealing() override;

  std::string name() const override { return "population-annealing"; }
  Needs needs(const Problem& problem, const Budget& budget) override;
  /// @throws InvalidArgument for more than Resample::max_replicas replicas in a population.
  void allocate(AllocateContext& run) override;
  void enqueue(TickContext& run) override;
  void descend(DescendContext& run) override;
  void report(ReportContext& run, Result& result) override;

 private:
  void resolve_range(AllocateContext& run);
  PopulationPlan plan() const;
  void allocate_resampling(AllocateContext& run);
  PopulationStep step_kernel(RunContext& run) const;
  Resample resample_kernel(RunContext& run) const;
  void copy_states(RunContext& run, View1<const std::uint32_t> active_rungs);
  void open_rounds(TickContext& run);

  std::uint32_t sweeps_per_tick_ = 1;
  View1<Population> populations_;  // these views refer to memory of the run
  View1<PopulationChoice> choice_;
  View1<double> beta_, cold_;
  View1<std::uint32_t> begins_;
  View1<std::uint32_t> opens_;  ///< empty if all energies are finite
  View1<std::uint64_t> weight_;
  View1<PopulationStep::Part> step_parts_;
  View1<std::uint32_t> step_arrivals_;  ///< zero between launches
  View1<PopulationEnd> ends_;
  View1<PopulationRecord> records_;
  View1<PopulationHistory> history_;
  View1<std::int32_t> family_, source_, copies_before_, extra_before_;
  View1<std::uint32_t> members_;
  View1<ResampleTotals> totals_;
  View1<Resample::Part> resample_parts_;
};

}  // namespace kiln
