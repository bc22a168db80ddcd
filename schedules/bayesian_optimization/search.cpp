// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"

#include "checks.hpp"

namespace kiln {

BayesianSearch::BayesianSearch(Queue& queue, const BayesianProblem& problem,
                               const BayesianOptimizationOptions& options,
                               const std::vector<std::uint64_t>& keys)
    : queue_(queue),
      encoding_(problem.space, problem.coordinates, options.names),
      options_(resolved(options, encoding_, problem.space.outputs())),
      constraints_(problem.constraints),
      studies_(keys.size()),
      designs_(queue, encoding_, options.design, keys, problem.candidates),
      arms_(queue, encoding_, designs_, options_, problem.space.outputs(), problem.constraints,
            problem.noisy) {
  for (Study& study : studies_) {
    study.regions.resize(
        static_cast<std::size_t>(std::max<std::int64_t>(1, options.trust_regions)));
    study.models.resize(study.regions.size());
    study.memories.resize(study.regions.size());
    for (Region& region : study.regions) begin_region(region);
  }
}

const Study& BayesianSearch::study(std::size_t i) const {
  if (i < studies_.size()) return studies_[i];
  throw InvalidArgument("search.study",
                        "study " + std::to_string(static_cast<std::int64_t>(i)) + " does not exist",
                        "0 .. " + std::to_string(studies_.size() - 1));
}

std::int64_t BayesianSearch::design_size(const BayesianOptimizationOptions& options,
                                         std::int64_t dimension) {
  if (options.initial > 0) return options.initial;
  if (options.trust_regions > 0) return 2 * dimension;
  const std::int64_t few = default_design(dimension);
  // Whole batches, so that none is half by chance when a model could have it.
  const std::int64_t q = options.batch;
  return q > few ? few : (few + q / 2) / q * q;
}

std::int64_t BayesianSearch::default_design(std::int64_t dimension) {
  const double root = std::ceil(3 * std::sqrt(static_cast<double>(dimension)));
  return std::max<std::int64_t>(5, static_cast<std::int64_t>(root));
}

void BayesianSearch::begin_with(const std::vector<Point>& points) {
  first_.clear();
  for (const Point& point : points) first_.push_back(encoding_.encode(encoding_.decode(point)));
}

void BayesianSearch::begin_region(Region& region) const {
  const std::int64_t restarts = region.restarts;
  region = {};
  region.restarts = restarts;
  region.design_left = design_size();
}

void BayesianSearch::add_pending(std::size_t study, std::size_t region, Point point,
                                 std::vector<Trial>& found) {
  Trial trial;
  trial.point = encoding_.encode(encoding_.decode(point));  // as it will be evaluated
  trial.id = next_id_++;
  trial.region = region;
  studies_[study].seen.push_back(trial.point);
  studies_[study].pending.push_back(trial);
  found.push_back(std::move(trial));
}

std::optional<Point> BayesianSearch::unseen_point(std::size_t index) {
  Study& study = studies_[index];
  // A sequence has new points again and again, unless the space has none: a small one is gone
  // through at last.
  for (int tries = 1;; ++tries) {
    Point point = designs_.points(index, study.designed++, 1, design_size()).front();
    if (!study.knows(point)) return point;
    if (tries != 64) continue;
    const std::vector<Point> all = designs_.all_points(1 << 20);
    const auto unseen = std::ranges::find_if(all, [&](const Point& p) { return !study.knows(p); });
    if (unseen != all.end()) return *unseen;
    if (!all.empty()) return std::nullopt;
  }
}

void BayesianSearch::suggest_designs(std::size_t index, std::int64_t count,
                                     std::vector<Trial>& found) {
  Study& study = studies_[index];
  for (const Point& point : first_) {
    if (index > 0 || static_cast<std::int64_t>(found.size()) == count) break;
    if (study.knows(point)) continue;
    std::int64_t& left = study.regions.front().design_left;
    if (left > 0) --left;
    add_pending(index, 0, point, found);
  }
  for (std::size_t r = 0; r < study.regions.size(); ++r) {
    Region& region = study.regions[r];
    while (region.design_left > 0 && static_cast<std::int64_t>(found.size()) < count) {
      --region.design_left;
      std::optional<Point> point = unseen_point(index);
      if (!point) return;
      add_pending(index, r, std::move(*point), found);
    }
  }
}

std::vector<std::vector<Trial>> BayesianSearch::suggest(const std::vector<std::size_t>& wanted,
                                                        std::int64_t count) {
  std::vector<std::vector<Trial>> found(wanted.size());
  std::vector<std::size_t> unfinished;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    suggest_designs(wanted[w], count, found[w]);
    if (static_cast<std::int64_t>(found[w].size()) < count) unfinished.push_back(w);
  }
  if (!unfinished.empty() && arms_.can_measure()) suggest_by_model(wanted, count, found);
  // Where a model has nothing new, or there is no model: anything that was not seen.
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    while (static_cast<std::int64_t>(found[w].size()) < count) {
      std::optional<Point> point = unseen_point(wanted[w]);
      if (!point) break;
      add_pending(wanted[w], 0, std::move(*point), found[w]);
    }
  }
  return found;
}

std::vector<State> BayesianSearch::states_of(const std::vector<std::vector<Trial>>& trials,
                                             std::int64_t slots) const {
  const auto some = std::ranges::find_if(trials, [](const auto& of) { return !of.empty(); });
  std::vector<State> states;
  for (const std::vector<Trial>& of_study : trials) {
    for (std::size_t at = 0; at < static_cast<std::size_t>(slots); ++at) {
      const Trial& trial = at < of_study.size() ? of_study[at] : some->front();
      states.push_back(encoding_.decode(trial.point));
    }
  }
  return states;
}

void BayesianSearch::suggest_by_model(const std::vector<std::size_t>& wanted, std::int64_t count,
                                      std::vector<std::vector<Trial>>& found) {
  std::vector<std::size_t> studies;
  std::vector<std::size_t> place(studies_.size(), wanted.size());
  std::int64_t most = 0;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    const std::int64_t left = count - static_cast<std::int64_t>(found[w].size());
    if (left <= 0) continue;
    studies.push_back(wanted[w]);
    place[wanted[w]] = w;
    most = std::max(most, left);
  }
  arms_.fit(studies_, studies);
  const std::vector<Arm>& arms = arms_.all();
  if (arms.empty()) return;
  const bool draws = options_.acquisition == "thompson";
  std::vector<std::vector<Proposal>> drawn;
  if (draws) drawn = arms_.draw(studies_, most);
  for (std::int64_t j = 0; j < most; ++j) {
    std::vector<Proposal> proposals;
    if (!draws) proposals = arms_.propose(studies_);
    std::vector<std::size_t> chosen(studies_.size(), arms.size());
    const auto proposal_of = [&](std::size_t a) -> const Proposal& {
      return draws ? drawn[a][static_cast<std::size_t>(j)] : proposals[a];
    };
    for (std::size_t a = 0; a < arms.size(); ++a) {
      const Study& study = studies_[arms[a].study];
      if (!proposal_of(a).found || study.knows(proposal_of(a).point)) continue;
      std::size_t& best = chosen[arms[a].study];
      if (best == arms.size() || proposal_of(a).acquisition > proposal_of(best).acquisition)
        best = a;
    }
    std::vector<std::optional<Point>> pending(arms.size());
    for (const std::size_t s : studies) {
      std::vector<Trial>& list = found[place[s]];
      if (chosen[s] == arms.size() || static_cast<std::int64_t>(list.size()) >= count) continue;
      const Proposal& proposal = proposal_of(chosen[s]);
      add_pending(s, arms[chosen[s]].region, proposal.point, list);
      studies_[s].gain = gain_of(studies_[s], proposal.acquisition);
      pending[chosen[s]] = list.back().point;
    }
    if (!draws && j + 1 < most) arms_.append(pending);
  }
}

/// Promises are logarithms of gains where there is something to gain on.
double BayesianSearch::gain_of(const Study& study, double acquisition) const {
  const bool logarithm = options_.acquisition == "logei" || options_.acquisition == "qlogei";
  const bool same_units = options_.transform != "logarithm";
  if (!logarithm || !same_units || !study.best) return std::numeric_limits<double>::quiet_NaN();
  return std::exp(acquisition);
}

Trial BayesianSearch::take_pending(Study& study, std::int64_t id) {
  const auto found = std::ranges::find(study.pending, id, &Trial::id);
  if (found == study.pending.end()) {
    throw InvalidArgument(
        "search.pending",
        "point " + std::to_string(id) +
            " is not pending: tell() has received it, or ask() never returned it");
  }
  Trial trial = std::move(*found);
  study.pending.erase(found);
  return trial;
}

void BayesianSearch::tell(std::size_t index, std::int64_t id, double value,
                          const std::vector<double>& constraints, std::vector<double> further) {
  Study& study = studies_.at(index);
  check_constraints(constraints);
  Trial trial = take_pending(study, id);
  trial.value = value;
  trial.further = std::move(further);
  trial.constraints = constraints;
  take_trial(study, std::move(trial));
}

void BayesianSearch::forget(std::size_t index, std::int64_t id) {
  Study& study = studies_.at(index);
  const Trial trial = take_pending(study, id);
  std::erase(study.seen, trial.point);
}

void BayesianSearch::add(std::size_t index, Point point, double value,
                         const std::vector<double>& constraints, std::vector<double> further) {
  check_constraints(constraints);
  Study& study = studies_.at(index);
  study.seen.push_back(point);
  Trial trial;
  trial.point = std::move(point);
  trial.value = value;
  trial.further = std::move(further);
  trial.constraints = constraints;
  Region& region = study.regions.front();
  if (region.design_left > 0) --region.design_left;  // past evaluations are a design
  take_trial(study, std::move(trial));
}

void BayesianSearch::check_constraints(const std::vector<double>& constraints) const {
  if (static_cast<int>(constraints.size()) == constraints_) return;
  throw InvalidArgument("search.constraints", std::to_string(constraints.size()) +
                                                  " constraint values were given; expected " +
                                                  std::to_string(constraints_));
}

void BayesianSearch::take_trial(Study& study, Trial trial) {
  ++study.evaluations;
  if (!trial.good()) ++study.failed;
  if (trial.feasible() && (!study.best || trial.value < study.best->value)) study.best = trial;
  Region& region = study.regions[trial.region];
  const Trial* const before = region.best();
  const bool better = trial.good() && region.design_left == 0 && before != nullptr &&
                      (trial.violation() < before->violation() ||
                       (trial.violation() == before->violation() &&
                        trial.value < before->value - 1e-3 * std::abs(before->value)));
  region.improved |= better;
  region.trials.push_back(std::move(trial));
  if (!local() || region.good_trials() <= design_size()) return;
  if (++region.told_in_round < options_.batch) return;
  end_round(region);
}

/// After a whole batch: regions grow with success and shrink with failure.
void BayesianSearch::end_round(Region& region) const {
  const auto d = static_cast<double>(encoding_.dimension());
  const auto q = static_cast<double>(options_.batch);
  const auto patience = options_.failures > 0
                            ? options_.failures
                            : static_cast<std::int64_t>(std::ceil(std::max(4 / q, d / q)));
  region.successes = region.improved ? region.successes + 1 : 0;
  region.failures = region.improved ? 0 : region.failures + 1;
  region.improved = false;
  region.told_in_round = 0;
  if (region.successes >= 3) {
    region.side = std::min(2 * region.side, Region::largest_side);
    region.successes = 0;
  } else if (region.failures >= patience) {
    region.side /= 2;
    region.failures = 0;
  }
  if (region.side >= Region::min_side) return;
  ++region.restarts;
  begin_region(region);
}

}  // namespace kiln
