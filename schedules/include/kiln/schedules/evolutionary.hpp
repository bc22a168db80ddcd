// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of evolutionary search; 0 and empty lists mean "choose for me" where that is possible.
struct EvolutionaryOptions {
  std::string strategy = "nsga2";
  std::int64_t population = 0;
  std::int64_t generations = 0;
  std::int64_t islands = 1;
  std::int64_t migration_interval = 20;
  std::int64_t migrants = 0;
  std::string crossover = "automatic";
  double crossover_probability = 0.9;
  double crossover_index = 20;
  double differential_scale = 0.5;
  double differential_rate = 1;
  double mutation_probability = 0;
  double mutation_index = 0;
  std::int64_t neighbors = 20;
  double neighbor_share = 0.9;
  std::int64_t replacements = 4;
  std::string decomposition = "chebyshev";
  std::vector<double> epsilon;
  std::vector<double> reference;

  KILN_API static const OptionTable<EvolutionaryOptions>& table();
};

/// Evolutionary search for the front of several objectives. Populations evolve by crossover and
/// mutation; the strategy decides who survives: NSGA-II, NSGA-III, MOEA/D or SMS-EMOA. See
/// docs/schedules/evolutionary.md.
///
/// A group of the batch is an island, a replica a member of its population, a step a generation.
/// Parents, children, ranks and the hypervolume of the front stay on the device.
/// @par Source  NSGA-II: Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182.
/// NSGA-III: Deb, Jain, ibid. 18 (2014) 577. MOEA/D: Zhang, Li, ibid. 11 (2007) 712. SMS-EMOA:
/// Beume, Naujoks, Emmerich, Eur. J. Oper. Res. 181 (2007) 1653.
class KILN_API Evolutionary : public ScheduleOf<EvolutionaryOptions, ProducesFront> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit Evolutionary(EvolutionaryOptions options = {});
  ~Evolutionary() override;

  std::string name() const override { return "evolutionary"; }
  std::string_view step_name() const override { return "generation"; }
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
