// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "surrogate.hpp"

#include <algorithm>

#include "kiln/alarm.hpp"

#include "bayesian_optimization/checks.hpp"
#include "bayesian_optimization/memory.hpp"

namespace kiln {
namespace {

// A model of more evaluations would take longer than most functions.
constexpr std::int64_t most_residents = 300;

}  // namespace

std::int64_t SurrogateSearch::residents_for(std::int64_t batches, std::int64_t batch) {
  return std::max(batch, std::min(most_residents, batches * batch));
}

void SurrogateSearch::allocate(Run& run, const Pool& pool, const MultiObjectiveOptions& options,
                               std::int64_t observations) {
  ReplicaBatch& batch = run.batch();
  BayesianProblem problem;
  problem.space = batch.space();
  problem.coordinates = run.problem().coordinates;
  problem.candidates = run.problem().candidates;
  problem.noisy = run.problem().noisy;
  BayesianOptimizationOptions of_models;
  of_models.batch = batch.group_size();
  of_models.initial = options.initial;
  // A front asks its models about places far from any one minimum: rougher functions, and noise
  // that explains what they cannot.
  of_models.covariance = "matern52";
  of_models.priors = "dimension-scaled";
  of_models.noise = "fitted";
  of_models.transform = "clip";
  const std::vector<std::uint64_t> keys = keys_of_groups(batch.seed(), batch.groups());
  members_ = make_states(run, "members", pool.islands * pool.residents);
  if (run.counts_only()) {
    count_search(run.queue(), problem, of_models, keys, observations);
    return;
  }
  backend_ = run.backend().backend;
  queue_ = backend_->make_queue();
  search_ = std::make_unique<BayesianSearch>(*queue_, problem, of_models, keys);
  const std::int64_t designed = search_->design_size(), q = of_models.batch;
  if (designed % q != 0) {
    of_models.initial = (designed + q - 1) / q * q;
    search_ = std::make_unique<BayesianSearch>(*queue_, problem, of_models, keys);
  }
  studies_.clear();
  for (std::size_t study = 0; study < keys.size(); ++study) studies_.push_back(study);
}

bool SurrogateSearch::step(Run& run, const Pool& pool) {
  ReplicaBatch& batch = run.batch();
  const std::vector<std::vector<Trial>> trials = [&] {
    const ArmedQueue armed(*queue_, run.queue().alarm());  // models are not on the queue of the run
    return search_->suggest(studies_, batch.group_size());
  }();
  const auto some = std::ranges::find_if(trials, [](const auto& of) { return !of.empty(); });
  if (some == trials.end()) return false;
  std::vector<State> states;
  for (const std::vector<Trial>& of_study : trials) {
    for (std::int64_t i = 0; i < batch.group_size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      // Slots without a point of their own, in the last batch of a space, have one of another's.
      const Trial& trial = at < of_study.size() ? of_study[at] : some->front();
      states.push_back(search_->encoding().decode(trial.point));
    }
  }
  batch.write_states(states);
  run.keep_tick();
  const std::vector<StateBlock> newcomers = states_of(batch);
  ObjectivesArgs args;
  args.state = newcomers;
  args.replicas = batch.replicas();
  args.columns = pool.newcomer_columns();
  args.value = pool.value;
  args.violation = pool.violation;
  args.not_finite = batch.not_finite();
  run.evaluate_objectives(args);
  const std::vector<double> values =
      run.read(View1<double>(pool.value.data, pool.objectives * pool.columns()));
  for (std::size_t study = 0; study < trials.size(); ++study) {
    std::int64_t slot = static_cast<std::int64_t>(study) * batch.group_size();
    for (const Trial& trial : trials[study]) {
      std::vector<double> point;
      for (std::int64_t k = 0; k < pool.objectives; ++k) {
        point.push_back(values[static_cast<std::size_t>(k * pool.columns() + args.columns[slot])]);
      }
      search_->tell(study, trial.id, point.front(), {}, {point.begin() + 1, point.end()});
      ++slot;
    }
  }
  pool.rank_points(run);
  pool.crowd(run);
  pool.select(run);
  move_states(run, newcomers, members_, pool.source);
  return true;
}

std::optional<FrontBox> SurrogateSearch::design_box() const {
  Points points;
  for (const std::size_t study : studies_) {
    if (search_->study(study).evaluations < search_->design_size()) return {};
    for (const Trial& trial : search_->study(study).regions.front().trials) {
      if (trial.good()) points.push_back(trial.objectives());
    }
  }
  if (points.empty()) return {};
  return box_around(points);
}

std::int64_t SurrogateSearch::evaluations() const {
  std::int64_t all = 0;
  for (const std::size_t study : studies_) all += search_->study(study).evaluations;
  return all;
}

std::int64_t SurrogateSearch::failed() const {
  std::int64_t all = 0;
  for (const std::size_t study : studies_) all += search_->study(study).failed;
  return all;
}

}  // namespace kiln
