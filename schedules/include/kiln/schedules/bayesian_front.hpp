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

/// Options of Bayesian search for fronts; 0 and empty lists mean "choose for me".
struct BayesianFrontOptions {
  std::int64_t evaluations = 100;
  std::int64_t batch = 1;
  std::int64_t initial = 0;
  std::int64_t studies = 1;
  std::vector<double> epsilon;
  std::vector<double> reference;

  KILN_API static const OptionTable<BayesianFrontOptions>& table();
};

/// Bayesian search for the front of two to four expensive objectives: a Gaussian process models
/// each objective and constraint, and the next batch maximises the expected hypervolume
/// improvement. See docs/schedules/bayesian_front.md.
///
/// A group of the batch is a study, a replica a point of its next batch, a step the evaluation of a
/// batch.
/// @par Source  Expected hypervolume improvement: see AcquisitionGradient.
class KILN_API BayesianFront
    : public ScheduleOf<BayesianFrontOptions, ProducesFront, TakesPastEvaluations> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit BayesianFront(BayesianFrontOptions options = {});
  ~BayesianFront() override;

  /// Adds an evaluation that was made before the run: values and constraints in the user's sense
  /// and units, NaN where it failed. The front of a result includes them.
  void add_past(State state, std::vector<double> values,
                std::vector<double> constraints = {}) override;

  std::string name() const override { return "bayesian-front"; }
  std::string_view step_name() const override { return "batch"; }
  WorkKind work_kind() const noexcept override { return WorkKind::evaluations; }
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
