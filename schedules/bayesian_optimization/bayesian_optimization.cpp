// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/bayesian_optimization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/run.hpp"

#include "checks.hpp"
#include "search.hpp"

namespace kiln {

/// What a run of the schedule holds.
struct BayesianOptimization::Search {
  std::unique_ptr<BayesianSearch> search;
  View1<double> value;       // [slots], as evaluated
  View2<double> constraint;  // [constraints][slots]
  std::vector<std::size_t> studies;
  std::vector<double> best_by_sweep;  // of the first study, minimised
  double model_s = 0;                 // spent on models and acquisitions

  void evaluate(Run& run, const std::vector<std::vector<Trial>>& trials);
};

BayesianOptimization::BayesianOptimization(BayesianOptimizationOptions options)
    : options_(std::move(options)), resolved_(options_) {
  check_options(options_);
}

BayesianOptimization::~BayesianOptimization() = default;

std::map<std::string, std::string> BayesianOptimization::parameters() const {
  return BayesianOptimizationOptions::table().show(resolved_);
}

void BayesianOptimization::add_past(State state, double value, std::vector<double> constraints) {
  past_.push_back({std::move(state), value, std::move(constraints)});
}

Needs BayesianOptimization::needs(const Problem& problem, const Budget&) {
  resolved_ = options_;
  const Encoding encoding(problem.objective->space(), problem.coordinates);
  (void)encoding;  // refuses spaces that it does not take
  const std::int64_t batches = (resolved_.evaluations + resolved_.batch - 1) / resolved_.batch;
  Needs needs;
  needs.group_size = resolved_.batch;
  needs.default_replicas = resolved_.batch * resolved_.studies;
  needs.default_sweeps = batches;
  needs.constraints = true;
  needs.works_on_device = true;
  needs.host_paced = true;
  needs.own_states = true;
  return needs;
}

void BayesianOptimization::start(Run& run) {
  ReplicaBatch& batch = run.batch();
  search_ = std::make_unique<Search>();
  Search& s = *search_;
  resolved_.studies = batch.groups();
  BayesianProblem problem;
  problem.space = batch.space();
  problem.constraints = run.problem().objective->abilities().constraints;
  problem.coordinates = run.problem().coordinates;
  problem.candidates = run.problem().candidates;
  problem.noisy = run.problem().noisy;
  s.search = std::make_unique<BayesianSearch>(run.queue(), problem, resolved_,
                                              keys_of_groups(batch.seed(), batch.groups()));
  resolved_.initial = s.search->design_size();
  s.value = run.scratch_zeros<double>("value", batch.slots());
  const std::int64_t constraints = problem.constraints;
  if (constraints > 0) {
    s.constraint = {run.scratch_zeros<double>("constraint", constraints * batch.slots()).data,
                    constraints, batch.slots(), batch.slots()};
  }
  for (std::int64_t g = 0; g < batch.groups(); ++g) {
    s.studies.push_back(static_cast<std::size_t>(g));
  }
}

void BayesianOptimization::begin(Run& run) {
  Search& s = *search_;
  for (const Past& past : past_) {
    const double stored = run.problem().objective_of_stored.inverse(past.value);
    for (const std::size_t study : s.studies) {
      s.search->add(study, s.search->encoding().encode(past.state), stored, past.constraints);
    }
  }
}

void BayesianOptimization::enqueue(Run& run) {
  Search& s = *search_;
  // Ticks that were enqueued before a stop was seen do nothing.
  const RunControl control = run.read(View1<RunControl>(run.control(), 1)).front();
  if (!control.active(0)) return;
  s.evaluate(run, s.search->suggest(s.studies, run.batch().group_size()));
  const Study& first = s.search->study(0);
  s.best_by_sweep.push_back(first.best ? first.best->value
                                       : std::numeric_limits<double>::infinity());
}

void BayesianOptimization::Search::evaluate(Run& run,
                                            const std::vector<std::vector<Trial>>& trials) {
  ReplicaBatch& batch = run.batch();
  std::vector<State> states;
  for (const std::vector<Trial>& of_study : trials) {
    for (const Trial& trial : of_study) states.push_back(search->encoding().decode(trial.point));
  }
  batch.write_states(states);
  run.evaluate(value, {}, constraint);
  std::vector<double> values = run.read(value), energies = values;
  std::vector<double> g;
  if (constraint.rows > 0) {
    g = run.read(View1<double>(constraint.data, constraint.rows * constraint.columns));
  }
  std::size_t slot = 0;
  for (std::size_t study = 0; study < trials.size(); ++study) {
    for (const Trial& trial : trials[study]) {
      std::vector<double> of_slot;
      for (std::int64_t j = 0; j < constraint.rows; ++j) {
        of_slot.push_back(g[static_cast<std::size_t>(j * constraint.columns) + slot]);
      }
      const bool met = std::ranges::all_of(of_slot, [](double x) { return x <= 0; });
      if (!met || !std::isfinite(values[slot])) {
        energies[slot] = std::numeric_limits<double>::infinity();  // never the best
      }
      search->tell(study, trial.id, values[slot], of_slot);
      ++slot;
    }
  }
  run.queue().upload(batch.energy().data, energies.data(), energies.size() * sizeof(double));
  run.track_best();
}

void BayesianOptimization::report(Run& run, Result& result) {
  const Search& s = *search_;
  std::int64_t evaluations = 0, failed = 0, restarts = 0;
  for (std::size_t i = 0; i < s.search->studies(); ++i) {
    const Study& study = s.search->study(i);
    evaluations += study.evaluations;
    failed += study.failed;
    for (const Region& region : study.regions) restarts += region.restarts;
  }
  result.diagnostics["evaluations"] = static_cast<double>(evaluations);
  result.diagnostics["failed_evaluations"] = static_cast<double>(failed);
  if (resolved_.trust_regions > 0) {
    result.diagnostics["region_restarts"] = static_cast<double>(restarts);
  }
  std::vector<double> best;
  for (const double stored : s.best_by_sweep) {
    best.push_back(run.problem().objective_of_stored(stored));
  }
  result.series["best_by_sweep"] = best;
  const StudyModel model = s.search->study(0).models.front();
  if (!model.lengths.empty()) {
    result.series["model_lengths"] = model.lengths;
    result.diagnostics["model_variance"] = model.variance;
    result.diagnostics["model_noise"] = model.noise;
    result.diagnostics["model_log_evidence"] = model.evidence;
    result.diagnostics["model_fit"] = model.fit;
  }
  if (failed > 0) {
    result.advice.push_back(std::to_string(failed) + " of " + std::to_string(evaluations) +
                            " evaluations gave no number; their places count as bad ones");
  }
}

void BayesianOptimization::save(Archive& archive) const { search_->search->save(archive); }
void BayesianOptimization::load(const Archive& archive) { search_->search->load(archive); }

}  // namespace kiln
