// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/fronts/front.hpp"

#include "designs.hpp"
#include "encoding.hpp"
#include "study.hpp"

namespace kiln {

/// A region of a study that has observations to be modelled.
struct Arm {
  std::size_t study = 0, region = 0;
  std::uint64_t step = 0;  ///< of the study
  double best = 0;         ///< what is to be improved, in standard units; NaN: nothing is feasible
  Points front;            ///< the same of several objectives, in their own units
  PendingPoints pending;   ///< of the (first) objective
  std::vector<PendingPoints> others;  ///< the same points for the other processes
};

/// A point that an arm proposes, and its acquisition value in units of its study.
struct Proposal {
  Point point;
  double acquisition = 0;
  bool found = false;
};

/// The models of all arms that are at work, and maximises their acquisition functions.
class SurrogateSet {
 public:
  /// Climbs of an arm, if there are any.
  static std::int64_t climbs_of(const BayesianOptimizationOptions& options) {
    return options.starts > 0 ? options.starts : 32;
  }
  /// How many of the best candidates of an arm are looked at: some more than climbs, as a few will
  /// be known. Without climbs, which is 0 of them, the best one that is not known is taken.
  static std::int64_t looked_at(std::int64_t climbs, std::int64_t candidates) {
    return climbs > 1 ? std::min(candidates, 4 * climbs) : candidates;
  }
  SurrogateSet(Queue& queue, const Encoding& encoding, Designs& designs,
               const BayesianOptimizationOptions& options, int objectives, int constraints,
               bool noisy);

  /// Of several objectives: what they are to fall below.
  void measure_up_to(std::vector<double> reference) { reference_ = std::move(reference); }
  int objectives() const { return objectives_; }
  bool can_measure() const { return objectives_ == 1 || !reference_.empty(); }
  /// Fits models to the regions of some studies, and conditions them on what is pending there.
  void fit(std::vector<Study>& studies, const std::vector<std::size_t>& wanted);
  const std::vector<Arm>& all() const { return arms_; }
  /// The best point of each arm by the acquisition; none where all are known.
  std::vector<Proposal> propose(const std::vector<Study>& studies);
  /// The best points of `count` functions drawn from each model: [arms][count].
  std::vector<std::vector<Proposal>> draw(const std::vector<Study>& studies, std::int64_t count);
  /// Points that are pending from now on, one for each arm or none.
  void append(const std::vector<std::optional<Point>>& points);

 private:
  struct Candidates {
    std::int64_t count = 0;      // of each arm
    std::vector<double> points;  // [arms][count][dimension]
  };
  /// Of each arm those with the largest acquisitions, in that order.
  struct BestCandidates {
    std::int64_t count = 0;              // of each arm
    std::vector<double> points, values;  // [arms][count][dimension], [arms][count]
  };
  /// Where climbs begin, what is promised there, and their boxes, the same number for each arm.
  struct Starts {
    Starts(std::size_t count, std::size_t dimension)
        : acquisition(count),
          points(count * dimension),
          lower(count * dimension),
          upper(count * dimension) {}
    std::vector<double> acquisition, points, lower, upper;
  };
  /// Processes of an arm: first the objectives, then the constraints.
  int outputs() const { return objectives_ + constraints_; }
  std::int64_t lists() const;
  void make_process();
  Observations observations_of(const Study& study, const Arm& arm, int output) const;
  void find_fronts(const std::vector<Study>& studies);
  void set_cells(AcquisitionGradient& kernel);
  void find_best(const std::vector<Study>& studies);
  std::vector<double> means_at(const std::vector<double>& points, std::size_t each);
  void note_models(std::vector<Study>& studies) const;
  /// Models go on from where the last fit of their own region ended.
  void remember_fits(const std::vector<Study>& studies);
  void keep_fits(std::vector<Study>& studies) const;
  void condition();
  bool local() const { return options_.trust_regions > 0; }
  /// The box that an arm searches, [2][dimension].
  std::vector<Point> box_of(const Study& study, std::size_t arm) const;
  Candidates make_candidates(const std::vector<Study>& studies);
  std::vector<std::size_t> shuffled(std::size_t n, const Arm& arm) const;
  void fill_candidates(const Study& study, std::size_t arm, const double* unit, std::int64_t begin,
                       std::int64_t end, Candidates& candidates) const;
  bool climbs() const { return encoding_.any_continuous() && designs_.table().empty(); }
  BestCandidates find_best_candidates(const Candidates& candidates);
  void choose_starts(const std::vector<Study>& studies, std::size_t arm,
                     const BestCandidates& candidates, std::size_t wanted, Starts& from) const;
  AcquisitionGradient kernel(std::int64_t items_per_arm);
  std::vector<Proposal> climb(const std::vector<Study>& studies, const BestCandidates& candidates);

  Queue& queue_;
  const Encoding& encoding_;
  Designs& designs_;
  BayesianOptimizationOptions options_;
  int objectives_ = 1, constraints_ = 0;
  bool noisy_ = true;
  std::vector<double> reference_;
  std::vector<Arm> arms_;
  std::optional<GaussianProcess> process_;
  DeviceArray<double> best_, bound_, cell_lower_, cell_upper_;
  DeviceArray<std::int32_t> cell_counts_;
};

}  // namespace kiln
