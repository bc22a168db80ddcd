// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/run.hpp"
#include "kiln/schedules/multi_objective.hpp"

#include "bayesian_optimization/search.hpp"
#include "pool.hpp"

namespace kiln {

/// Few evaluations, each where models of the objectives expect most of it: replicas are the points
/// of the next batch, the newcomers of the pool. Its residents are all evaluations that no other
/// dominates.
class SurrogateSearch {
 public:
  /// Residents that are enough for a run of so many batches.
  static std::int64_t residents_for(std::int64_t batches, std::int64_t batch);

  /// In Schedule::start, of a run that may come to so many observations.
  void allocate(Run& run, const Pool& pool, const MultiObjectiveOptions& options,
                std::int64_t observations);
  /// Where volumes are measured from now on.
  void measure_in(const FrontBox& box) { search_->measure_up_to(box.reference_values()); }
  /// Chooses and evaluates a batch; false where every point of the space is known.
  bool step(Run& run, const Pool& pool);
  /// Points of the initial design; a whole number of batches.
  std::int64_t design_size() const { return search_->design_size(); }
  /// Around the points of the initial design; nothing before it is complete, or without numbers.
  std::optional<FrontBox> design_box() const;
  std::int64_t evaluations() const;
  std::int64_t failed() const;
  const std::vector<StateBlock>& members() const { return members_; }
  void save(Archive& archive) const { search_->save(archive); }
  void load(const Archive& archive) { search_->load(archive); }

 private:
  // A queue of its own: models outlive the run that they were made for.
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<BayesianSearch> search_;
  std::vector<std::size_t> studies_;
  std::vector<StateBlock> members_;
};

}  // namespace kiln
