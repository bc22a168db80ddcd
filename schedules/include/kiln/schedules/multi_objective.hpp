// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/options.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of the search for fronts; 0 and empty lists mean "choose for me" where that is possible.
struct MultiObjectiveOptions {
  std::string strategy = "nsga2";
  std::int64_t population = 0;
  std::int64_t generations = 0;
  std::int64_t batch = 1;
  std::int64_t initial = 0;
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
  std::int64_t archive = 0;
  double temperature = 0;
  double temperature_end = 0;
  double temperature_spread = 1;
  std::vector<double> epsilon;
  std::vector<double> reference;

  KILN_API static const OptionTable<MultiObjectiveOptions>& table();
};

/// The search for the front of several objectives: populations that are ranked by dominance
/// (NSGA-II, NSGA-III, SMS-EMOA), by sub-problems (MOEA/D), replicas that anneal beside an archive
/// (AMOSA), or, for expensive functions, models of the objectives that say where an evaluation is
/// expected to add most to the hypervolume. See docs/schedules/multi_objective.md.
///
/// A group of the batch is an island, a replica one of its members, a sweep a generation. Parents,
/// children, ranks, archive and the volume of the front stay on the device. With strategy=surrogate
/// a replica is a point of the next batch, a sweep the evaluation of a batch, an island a study of
/// its own.
/// @par Source  NSGA-II: Deb, Pratap, Agarwal, Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182.
/// NSGA-III: Deb, Jain, ibid. 18 (2014) 577. MOEA/D: Zhang, Li, ibid. 11 (2007) 712. SMS-EMOA:
/// Beume, Naujoks, Emmerich, Eur. J. Oper. Res. 181 (2007) 1653. AMOSA: Bandyopadhyay, Saha,
/// Maulik, Deb, IEEE Trans. Evol. Comput. 12 (2008) 269. Expected hypervolume improvement: see
/// AcquisitionGradient.
class KILN_API MultiObjective
    : public ScheduleOf<MultiObjectiveOptions, ProducesFront, TakesPastEvaluations> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit MultiObjective(MultiObjectiveOptions options = {});
  ~MultiObjective() override;

  /// An evaluation that strategy=surrogate begins with, before the run: values and constraints as
  /// users read them, NaN where it failed. The front of a result has those of them, too.
  void add_past(State state, std::vector<double> values,
                std::vector<double> constraints = {}) override;
  bool learns_from_past() const override { return options_.strategy == "surrogate"; }

  std::string name() const override { return "multi-objective"; }
  /// @throws InvalidArgument for options that do not fit the number of objectives.
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  void report(ReportContext& run, Result& result) override;
  FrontCandidates front(ReportContext& run) override;
  void save(Archive& archive) const override;
  void load(const Archive& archive) override;

 private:
  struct Search;
  struct Past {
    State state;
    std::vector<double> values, constraints;
  };

  std::vector<Past> past_;
  std::unique_ptr<Search> search_;
};

}  // namespace kiln
