// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of AMOSA; 0 and empty lists mean "choose for me" where that is possible.
struct AmosaOptions {
  std::int64_t chains = 10;
  std::int64_t islands = 1;
  std::int64_t archive = 100;
  std::int64_t cooling_sweeps = 250;
  double temperature = 0;
  double temperature_end = 0;
  double temperature_spread = 1;
  double mutation_probability = 0;
  double mutation_index = 10;
  std::vector<double> epsilon;
  std::vector<double> reference;

  KILN_API static const OptionTable<AmosaOptions>& table();
};

/// Archived multi-objective simulated annealing (AMOSA): chains anneal by the amount of domination
/// beside an archive of nondominated states. See docs/schedules/amosa.md.
///
/// A group of the batch is an island with an archive, a replica one of its chains. A sweep proposes
/// one mutated state to each chain. Archive and hypervolume stay on the device. The temperature
/// falls over the sweeps of the budget, or over `cooling_sweeps` if the budget does not limit them.
/// @par Source  Bandyopadhyay, Saha, Maulik, Deb, IEEE Trans. Evol. Comput. 12 (2008) 269.
class KILN_API Amosa : public ScheduleOf<AmosaOptions, ProducesFront> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit Amosa(AmosaOptions options = {});
  ~Amosa() override;

  std::string name() const override { return "amosa"; }
  WorkKind work_kind() const noexcept override { return WorkKind::evaluations; }
  /// @throws InvalidArgument for options that do not fit the number of objectives.
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  void report(ReportContext& run, Result& result) override;
  FrontCandidates front(ReportContext& run) override;

 private:
  struct Search;
  std::unique_ptr<Search> search_;
};

}  // namespace kiln
