// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/shape_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <variant>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/errors.hpp"

namespace kiln::cli {
namespace {

/// The trials of a search: those of earlier searches, and new ones.
class Trials {
 public:
  Trials(const TuneTask& task, const TuneRecords& before, const TuneActions& actions)
      : task_(task), actions_(actions) {
    for (const TuneTrial& one : before.trials) {
      if (one.subject != task.subject) continue;
      if (const auto shape = launch_shape(*task.tunable, one.shape)) {
        (one.again ? confirmed_ : tried_).insert_or_assign(*shape, one);
      }
    }
  }

  /// The trial of a shape, made now or before; null if the search has ended.
  const TuneTrial* of(const LaunchShape& shape, bool again = false) {
    auto& there = again ? confirmed_ : tried_;
    if (const auto found = there.find(shape); found != there.end()) return &found->second;
    if (actions_.ended()) return nullptr;
    if (actions_.begin) {
      actions_.begin(static_cast<std::int64_t>(tried_.size()) + 1, count, shape);
    }
    std::optional<TuneTrial> trial = actions_.test(shape, again);
    if (!trial) return nullptr;
    trial->subject = task_.subject;
    trial->shape = named_shape(*task_.tunable, shape);
    trial->again = again;
    actions_.keep(*trial);
    return &there.emplace(shape, *std::move(trial)).first->second;
  }

  std::int64_t count = 0;  ///< of trials, at most

  std::vector<const TuneTrial*> measured() const {
    std::vector<const TuneTrial*> all;
    for (const auto& [shape, trial] : tried_) {
      if (trial.verdict == TrialVerdict::measured) all.push_back(&trial);
    }
    std::ranges::sort(all, [](const TuneTrial* a, const TuneTrial* b) {
      return a->gain.median > b->gain.median;
    });
    return all;
  }
  std::int64_t count_of(TrialVerdict verdict) const {
    return std::ranges::count_if(tried_,
                                 [&](const auto& one) { return one.second.verdict == verdict; });
  }
  std::int64_t size() const { return static_cast<std::int64_t>(tried_.size()); }

 private:
  const TuneTask& task_;
  const TuneActions& actions_;
  std::map<LaunchShape, TuneTrial> tried_, confirmed_;
};

bool try_all(const std::vector<LaunchShape>& shapes, Trials& trials) {
  trials.count = static_cast<std::int64_t>(shapes.size());
  return std::ranges::all_of(shapes, [&](const LaunchShape& one) { return trials.of(one); });
}

Space space_of(const Tunable& tunable) {
  std::vector<Block> blocks;
  for (const ShapeParameter& one : tunable.description().parameters) {
    if (one.values.size() == 1) continue;
    const Space single = Space::categories(1, static_cast<std::int32_t>(one.values.size()));
    blocks.push_back(single.blocks().front());
  }
  return Space(std::move(blocks));
}

LaunchShape shape_of(const Tunable& tunable, const State& state) {
  LaunchShape shape{};
  std::size_t block = 0;
  for (std::size_t i = 0; i < tunable.description().parameters.size(); ++i) {
    const std::vector<std::int32_t>& values = tunable.description().parameters[i].values;
    const auto place =
        values.size() == 1 ? 0 : std::get<std::vector<std::int32_t>>(state[block++]).front();
    shape[i] = values[static_cast<std::size_t>(place)];
  }
  return shape;
}

// The logarithm of the time relative to the default; a shape that cannot be measured has none.
double value_of(const TuneTrial& trial) {
  if (trial.verdict != TrialVerdict::measured) return std::numeric_limits<double>::quiet_NaN();
  return -std::log(trial.gain.median);
}

// The same values give the same points, so a search that continues repeats what was tried.
bool try_by_model(const TuneTask& task, const std::vector<LaunchShape>& shapes, Trials& trials) {
  const Tunable& tunable = *task.tunable;
  trials.count = max_bayesian_trials;
  BayesianProblem problem;
  problem.space = space_of(tunable);
  BayesianOptimizationOptions options;
  options.evaluations = 4 * max_bayesian_trials;
  options.initial = max_bayesian_trials / 4;
  BayesianOptimizer search(std::move(problem), options, 1, "cpu");
  std::int64_t tried = 0;
  for (std::int64_t asked = 0; asked < options.evaluations && tried < max_bayesian_trials;
       ++asked) {
    std::vector<Suggestion> next;
    try {
      next = search.ask();
    } catch (const InvalidArgument& error) {
      if (error.code() != "search.exhausted") throw;
      break;
    }
    const LaunchShape shape = shape_of(tunable, next.front().state);
    double value = std::numeric_limits<double>::quiet_NaN();
    if (shape == tunable.description().default_shape) {
      value = 0;
    } else if (std::ranges::count(shapes, shape) > 0) {
      const TuneTrial* const trial = trials.of(shape);
      if (trial == nullptr) return false;
      value = value_of(*trial);
      ++tried;
    }
    search.tell(next.front().id, value);
  }
  return true;
}

// The fastest of many is fast by luck, too: what it gains is measured again.
bool confirm(const Tunable& tunable, Trials& trials, TuneOutcome& outcome) {
  const std::vector<const TuneTrial*> best = trials.measured();
  if (!best.empty()) outcome.gain = best.front()->gain;
  std::size_t finalists = 0;
  for (const TuneTrial* one : best) {
    if (!beats_default(*one)) continue;
    if (finalists++ == max_finalists) break;
    const TuneTrial* const again = trials.of(*launch_shape(tunable, one->shape), true);
    if (again == nullptr) return false;
    if (finalists == 1) outcome.gain = again->gain;
    if (again->verdict != TrialVerdict::measured || !beats_default(*again)) continue;
    outcome.chosen = again->shape;
    outcome.gain = again->gain;
    break;
  }
  return true;
}

}  // namespace

std::vector<LaunchShape> allowed_shapes(const Tunable& tunable, const ShapeLimits& limits) {
  std::vector<LaunchShape> shapes;
  for (std::int64_t i = 0; i < tunable.combinations(); ++i) {
    const LaunchShape shape = tunable.combination(i);
    if (shape == tunable.description().default_shape) continue;
    if (tunable.refusal(shape, limits).empty()) shapes.push_back(shape);
  }
  return shapes;
}

bool beats_default(const TuneTrial& trial) {
  return trial.verdict == TrialVerdict::measured &&
         trial.seconds.high < trial.default_seconds.low && trial.gain.low > 1;
}

std::optional<TuneOutcome> search_shapes(const TuneTask& task, const TuneRecords& before,
                                         const TuneActions& actions) {
  const Tunable& tunable = *task.tunable;
  const std::vector<LaunchShape> shapes = allowed_shapes(tunable, task.limits);
  const auto space = static_cast<std::int64_t>(shapes.size());
  const auto& standard = tunable.description().default_shape;
  TuneOutcome outcome;
  outcome.subject = task.subject;
  outcome.workload = task.workload;
  outcome.default_text = standard ? tunable.text_of(*standard) : "rule";
  outcome.space = space;
  outcome.search = space <= max_exhaustive_shapes ? "exhaustive" : "bayesian";
  if (actions.ended()) return std::nullopt;
  outcome.default_complaint = actions.default_fault();
  if (!outcome.default_complaint.empty()) return outcome;
  Trials trials(task, before, actions);
  const bool complete =
      space <= max_exhaustive_shapes ? try_all(shapes, trials) : try_by_model(task, shapes, trials);
  if (!complete || !confirm(tunable, trials, outcome)) return std::nullopt;
  outcome.tried = trials.size();
  outcome.wrong = trials.count_of(TrialVerdict::wrong);
  outcome.failed = trials.count_of(TrialVerdict::failed);
  return outcome;
}

}  // namespace kiln::cli
