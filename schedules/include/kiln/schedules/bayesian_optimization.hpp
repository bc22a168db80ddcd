// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/export.hpp"
#include "kiln/schedule.hpp"

namespace kiln {

/// Bayesian optimisation of expensive objectives: a Gaussian process, fitted to the evaluations so
/// far, proposes the next points. See docs/schedules/bayesian_optimization.md.
///
/// A group of the batch is a study, its replicas are the points of its next batch, a sweep is the
/// evaluation of one batch; the last batch is shorter if `evaluations` is no multiple of the batch
/// size. Models and searches run on the device; the host holds the observations and decides between
/// sweeps.
/// @par Source  Jones, Schonlau, Welch, J. Glob. Optim. 13 (1998) 455; logarithms of improvements:
/// Ament, Daulton, Eriksson, Balandat, Bakshy, NeurIPS 36 (2023); trust regions: Eriksson, Pearce,
/// Gardner, Turner, Poloczek, NeurIPS 32 (2019); under constraints: Eriksson, Poloczek, AISTATS
/// (2021).
class KILN_API BayesianOptimization
    : public ScheduleOf<BayesianOptimizationOptions, TakesPastEvaluations, EndsAtEvaluations> {
 public:
  /// @throws InvalidArgument with every complaint about the options.
  explicit BayesianOptimization(BayesianOptimizationOptions options = {});
  ~BayesianOptimization() override;

  /// Adds an evaluation from elsewhere, for all studies, before a run begins: with one value.
  void add_past(State state, std::vector<double> values,
                std::vector<double> constraints = {}) override;
  /// Adds one with a single value.
  /// @param state  the point
  /// @param value  in the user's sense and units; NaN: it failed.
  /// @param constraints  values of the constraints at the point
  void add_past(State state, double value, std::vector<double> constraints = {}) {
    add_past(std::move(state), std::vector<double>{value}, std::move(constraints));
  }
  void end_at_evaluations() override { ends_at_evaluations_ = true; }

  std::string name() const override { return "bayesian-optimization"; }
  std::string_view step_name() const override { return "batch"; }
  WorkKind work_kind() const noexcept override { return WorkKind::evaluations; }
  /// @throws InvalidArgument for unsupported spaces and objectives.
  Needs needs(const Problem& problem, const Budget& budget) override;
  void allocate(AllocateContext& run) override;
  void initialize(InitializeContext& run) override;
  void enqueue(TickContext& run) override;
  void annotate(ReportPoint& point) const override;
  void report(ReportContext& run, Result& result) override;
  void save(Archive& archive) const override;
  void load(const Archive& archive) override;

 private:
  struct Search;
  struct Past {
    State state;
    double value = 0;
    std::vector<double> constraints;
  };

  std::vector<Past> past_;
  std::unique_ptr<Search> search_;
  std::int64_t planned_ = 0;  // evaluations of a study by the budget, including past ones
  bool ends_at_evaluations_ = false;
  bool limited_ = false;  // by `evaluations`
};

}  // namespace kiln
