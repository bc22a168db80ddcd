// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"

#include "designs.hpp"
#include "encoding.hpp"
#include "study.hpp"
#include "surrogate_set.hpp"

namespace kiln {

class Archive;

/// Bayesian optimisation of many studies together: observations on the host, models and searches
/// for the maxima of acquisitions on the device, all studies in the same launches.
class BayesianSearch {
 public:
  /// @param keys  of the draws of each study.
  BayesianSearch(Queue& queue, const BayesianProblem& problem,
                 const BayesianOptimizationOptions& options,
                 const std::vector<std::uint64_t>& keys);

  /// The next `count` points of some studies, which become pending: [wanted][count], fewer where a
  /// space has no more that are not known.
  std::vector<std::vector<Trial>> suggest(const std::vector<std::size_t>& wanted,
                                          std::int64_t count);
  /// The states of a batch with `slots` slots for each study. Slots without a point of their own,
  /// in the last batch of a space, have one of another's.
  /// @pre some study has a trial, and none has more than `slots`.
  std::vector<State> states_of(const std::vector<std::vector<Trial>>& trials,
                               std::int64_t slots) const;
  /// A pending trial has been evaluated.
  /// @throws InvalidArgument if there is none of its id.
  /// @param further  values of the other objectives, where the space has several outputs
  void tell(std::size_t study, std::int64_t id, double value,
            const std::vector<double>& constraints, std::vector<double> further = {});
  /// A pending trial will not be evaluated: as if it had not been suggested.
  /// @throws InvalidArgument if there is none of its id.
  void forget(std::size_t study, std::int64_t id);
  /// A point that is not to be suggested, though no model is shown it.
  void know(std::size_t study, Point point) { studies_.at(study).seen.push_back(std::move(point)); }
  /// An evaluation that nobody asked for.
  void add(std::size_t study, Point point, double value, const std::vector<double>& constraints,
           std::vector<double> further = {});
  /// Points that the first study asks for before all others, unless it knows them.
  void begin_with(const std::vector<Point>& points);
  const std::vector<Point>& first_points() const { return first_; }

  /// Of several objectives: the point up to which volumes are measured, before the first model is
  /// asked.
  /// Until then no model is asked.
  void measure_up_to(std::vector<double> reference) { arms_.measure_up_to(std::move(reference)); }
  static constexpr const char* section = "bayesian.studies";  ///< of an archive
  void save(Archive& archive) const;
  void load(const Archive& archive);

  const Encoding& encoding() const { return encoding_; }
  /// @throws InvalidArgument if there is no such study.
  const Study& study(std::size_t i) const;
  std::size_t studies() const { return studies_.size(); }
  std::int64_t design_size() const { return design_size(options_, encoding_.dimension()); }
  /// Of a space of this dimension: the points of a design, before which no model is asked.
  static std::int64_t design_size(const BayesianOptimizationOptions& options,
                                  std::int64_t dimension);
  /// Points that fill a space of this dimension: where nobody says how many, and batches are of 1.
  static std::int64_t default_design(std::int64_t dimension);

 private:
  bool local() const { return options_.trust_regions > 0; }
  void begin_region(Region& region) const;
  void check_constraints(const std::vector<double>& constraints) const;
  static Trial take_pending(Study& study, std::int64_t id);
  void take_trial(Study& study, Trial trial);
  void end_round(Region& region) const;
  void add_pending(std::size_t study, std::size_t region, Point point, std::vector<Trial>& found);
  void suggest_designs(std::size_t study, std::int64_t count, std::vector<Trial>& found);
  void suggest_by_model(const std::vector<std::size_t>& wanted, std::int64_t count,
                        std::vector<std::vector<Trial>>& found);
  double gain_of(const Study& study, double acquisition) const;
  std::optional<Point> unseen_point(std::size_t study);

  Queue& queue_;
  Encoding encoding_;
  BayesianOptimizationOptions options_;
  int constraints_ = 0;
  std::vector<Study> studies_;
  std::vector<Point> first_;
  Designs designs_;
  SurrogateSet arms_;
  std::int64_t next_id_ = 1;
};

/// Checks saved rows of a history: each begins with a study and a batch.
/// @throws InvalidArgument `archive.value`
void require_history(const std::vector<double>& numbers, std::size_t width, std::size_t studies);

}  // namespace kiln
