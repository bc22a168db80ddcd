// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Options of MultiObjective: those of Evolutionary, Amosa and BayesianFront together.
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
};

/// The schedule `multi-objective` of version 0.1: makes the schedule that `strategy` means now and
/// passes every call on to it. A later version removes it.
class KILN_API FormerMultiObjective : public Offers<Schedule, ProducesFront, TakesPastEvaluations> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit FormerMultiObjective(const MultiObjectiveOptions& options = {});
  ~FormerMultiObjective() override;

  void add_past(State state, std::vector<double> values,
                std::vector<double> constraints = {}) override;

  /// The name of the schedule that was made.
  std::string name() const override;
  std::string_view step_name() const override;
  WorkKind work_kind() const noexcept override { return WorkKind::evaluations; }
  std::map<std::string, std::string> parameters() const override;
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  void report(ReportContext& run, Result& result) override;
  FrontCandidates front(ReportContext& run) override;
  void save(Archive& archive) const override;
  void load(const Archive& archive) override;

 private:
  std::unique_ptr<Schedule> schedule_;
};

using MultiObjective [[deprecated("use Evolutionary, Amosa or BayesianFront")]] =
    FormerMultiObjective;

}  // namespace kiln
