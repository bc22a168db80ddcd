// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/bayesian_front.hpp"

#include "bayesian_optimization/search.hpp"
#include "fronts/pool.hpp"

namespace kiln {

/// Few evaluations, each where models of the objectives expect most of it: replicas are the points
/// of the next batch, the newcomers of the pool. Its residents are all evaluations that no other
/// dominates.
class SurrogateSearch {
 public:
  /// An evaluation that was known before the run, or made by it.
  struct Seen {
    std::size_t study = 0;
    std::int64_t batch = 0;  ///< from 1; 0: it was known before
    Point point;
    std::vector<double> values;  ///< [objectives], minimised; NaN: it failed
    std::vector<double> constraints;
  };

  /// Residents that are enough for a run of so many batches.
  static std::int64_t residents_for(std::int64_t batches, std::int64_t batch);

  /// In Schedule::allocate, of a run that may come to so many observations.
  void allocate(AllocateContext& run, const Pool& pool, const BayesianFrontOptions& options,
                std::int64_t observations);
  /// What is known before the run; for all studies.
  void add(const State& state, const std::vector<double>& values,
           const std::vector<double>& constraints);
  /// Shows the models of what was added: all of it if there are at most so many, else some that no
  /// other dominates, others spread over the rest, and whatever the box goes around.
  void show_past(std::size_t most);
  /// Where volumes are measured from now on.
  void measure_in(const FrontBox& box) { search_->measure_up_to(box.reference_values()); }
  /// Chooses and evaluates a batch; false where every point of the space is known.
  bool step(TickContext& run, const Pool& pool);
  /// Points of the initial design; a whole number of batches.
  std::int64_t design_size() const { return search_->design_size(); }
  /// Around the points that every run of the problem begins with; nothing before they are all
  /// known, or without numbers.
  std::optional<FrontBox> first_box() const;
  const std::vector<StateBlock>& members() const { return members_; }
  /// What was known before the run and is feasible, as far as none of it dominates another.
  void add_past_front(const Objectives& objectives, FrontCandidates& candidates) const;
  /// Numbers of evaluations, and advice on those that failed or that no model was shown.
  void report(const Objectives& objectives, Result& result) const;
  /// All there is, in order, as users read it.
  Evaluations history(const Objectives& objectives) const;
  void save(Archive& archive) const;
  void load(const Archive& archive);

 private:
  BayesianOptimizationOptions model_options(const RunContext& run,
                                            const BayesianFrontOptions& options,
                                            std::int64_t dimension, std::int64_t batch) const;
  void note(TickContext& run, const Pool& pool, const std::vector<std::vector<Trial>>& trials);
  Evaluation shown(const Seen& seen, const Objectives& objectives) const;

  // A queue of its own: models outlive the run that they were made for.
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<BayesianSearch> search_;
  std::vector<std::size_t> studies_;
  std::vector<StateBlock> members_;
  View2<double> constraint_;  // [constraints][columns of the pool]
  std::vector<Seen> history_;
  std::size_t past_ = 0;   // evaluations that were known before
  std::size_t shown_ = 0;  // to models, of these
  std::int64_t objectives_ = 2;
  std::int64_t batches_ = 0;  // that were evaluated
};

}  // namespace kiln
