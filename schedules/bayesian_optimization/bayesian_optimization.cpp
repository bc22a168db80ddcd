// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/bayesian_optimization.hpp"

#include <algorithm>
#include <limits>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/observer.hpp"
#include "kiln/run_context.hpp"

#include "checks.hpp"
#include "memory.hpp"
#include "past.hpp"
#include "search.hpp"
#include "search_of_run.hpp"

namespace kiln {

BayesianOptimization::BayesianOptimization(BayesianOptimizationOptions options)
    : ScheduleOf(std::move(options)) {
  check_options(options_);
}

BayesianOptimization::~BayesianOptimization() = default;

void BayesianOptimization::add_past(State state, std::vector<double> values,
                                    std::vector<double> constraints) {
  past_.push_back({std::move(state), values.at(0), std::move(constraints)});
}

Needs BayesianOptimization::needs(const Problem& problem, const Budget& budget) {
  const Encoding encoding(problem.objective->space(), problem.coordinates, options_.names);
  resolved_ = resolved(options_, encoding, problem.objective->space().outputs());
  const std::int64_t batches = (resolved_.evaluations + resolved_.batch - 1) / resolved_.batch;
  limited_ = !budget.has_limit() || ends_at_evaluations_;
  if (limited_ && resolved_.initial == 0) {
    const std::int64_t design = BayesianSearch::design_size(resolved_, encoding.dimension());
    resolved_.initial = std::min(design, resolved_.evaluations);
  }
  planned_ = static_cast<std::int64_t>(std::min(past_.size(), max_past)) +
             planned_observations(budget, batches, resolved_.batch);
  Needs needs;
  needs.group_size = resolved_.batch;
  needs.default_replicas = resolved_.batch * resolved_.studies;
  needs.default_sweeps = batches;
  needs.constraints = true;
  needs.pacing = Pacing::models;
  needs.own_states = true;
  return needs;
}

void BayesianOptimization::allocate(AllocateContext& run) {
  ReplicaBatch& batch = run.batch();
  search_ = std::make_unique<Search>();
  Search& s = *search_;
  const std::vector<std::uint64_t> keys = keys_of_groups(batch.seed(), batch.groups());
  resolved_.studies = batch.groups();
  BayesianProblem problem;
  problem.space = batch.space();
  problem.constraints = run.problem().objective->constraints();
  problem.coordinates = run.problem().coordinates;
  const Experiment experiment = run.problem().experiment.value_or(Experiment{});
  problem.candidates = experiment.candidates;
  problem.noisy = experiment.noisy;
  s.value = run.scratch_zeros<double>("value", batch.slots());
  const std::int64_t constraints = problem.constraints;
  if (constraints > 0) {
    s.constraint = {run.scratch_zeros<double>("constraint", constraints * batch.slots()).data,
                    constraints, batch.slots(), batch.slots()};
  }
  s.only = run.scratch_zeros<std::uint32_t>("only", batch.group_size());
  if (run.counts_only()) return count_search(run.queue(), problem, resolved_, keys, planned_);
  // Rungs are the points of a batch here, so that a shorter one can be evaluated alone.
  std::vector<std::int32_t> point_of(static_cast<std::size_t>(batch.rung_of().size));
  for (std::size_t slot = 0; slot < point_of.size(); ++slot) {
    point_of[slot] = static_cast<std::int32_t>(slot % static_cast<std::size_t>(s.only.size));
  }
  run.queue().upload(batch.rung_of().data, point_of.data(), point_of.size() * sizeof(std::int32_t));
  s.backend = run.backend().backend;
  s.queue = s.backend->make_queue();
  s.queue->charge(run.queue(), MemoryOwner::schedule);
  s.search = std::make_unique<BayesianSearch>(*s.queue, problem, resolved_, keys);
  resolved_.initial = s.search->design_size();
  for (std::int64_t g = 0; g < batch.groups(); ++g) {
    s.studies.push_back(static_cast<std::size_t>(g));
  }
}

void BayesianOptimization::initialize(InitializeContext& run) {
  Search& s = *search_;
  const Encoding& encoding = s.search->encoding();
  std::vector<double> values;
  for (const Past& past : past_) {
    encoding.check(past.state);
    values.push_back(run.problem().units.objective_of_stored.inverse(past.value));
  }
  const bool on_cpu = run.backend().backend->info().name == "cpu";
  const std::vector<std::size_t> chosen = chosen_past(values, past_to_model(run.budget(), on_cpu));
  s.modelled = chosen.size();
  auto next = chosen.begin();
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const Point point = encoding.encode(past_[i].state);
    const bool is_chosen = next != chosen.end() && *next == i;
    if (is_chosen) ++next;
    for (const std::size_t study : s.studies) {
      if (is_chosen) {
        s.search->add(study, point, values[i], past_[i].constraints);
      } else {
        s.search->know(study, point);
      }
    }
    s.history.push_back({0, 0, point, values[i], past_[i].constraints});
  }
}

void BayesianOptimization::enqueue(TickContext& run) {
  Search& s = *search_;
  // Ticks that were enqueued before a stop was seen do nothing.
  RunControl control = run.read(View1<RunControl>(run.control(), 1)).front();
  if (!control.active(0)) return;
  const std::int64_t batch = run.batch().group_size();
  const std::int64_t left = resolved_.evaluations - s.batches * batch;
  const bool shorter = limited_ && left > 0 && left < batch;  // beyond them somebody asked for more
  const std::vector<std::vector<Trial>> trials = s.suggest(run, shorter ? left : batch);
  s.exhausted = std::ranges::all_of(trials, [](const auto& of) { return of.empty(); });
  if (s.exhausted) {  // nothing is left to be done
    s.confirmed = s.confirm(run);
    control = run.read(View1<RunControl>(run.control(), 1)).front();
    control.stop = DeviceStop::step_limit;
    run.queue().upload(run.control(), &control, sizeof control);
    return;
  }
  s.evaluate(run, trials);
}

void BayesianOptimization::annotate(ReportPoint& point) const {
  const Study& first = search_->search->study(0);
  const auto made = std::ranges::count_if(search_->history,
                                          [](const Search::Seen& seen) { return seen.batch > 0; });
  point.notes.emplace_back("evaluations", static_cast<double>(made));
  point.notes.emplace_back("expected_gain", first.gain);
  const StudyModel& model = first.models.front();
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  point.notes.emplace_back("model_fit", model.lengths.empty() ? unknown : model.fit);
}

void BayesianOptimization::report(ReportContext& run, Result& result) {
  const Search& s = *search_;
  std::int64_t evaluations = 0, failed = 0, past = 0, restarts = 0;
  for (const Search::Seen& seen : s.history) {
    // What was known before is no work of the run.
    ++(seen.batch == 0 ? past : evaluations);
    if (seen.batch > 0 && !seen.good()) ++failed;
  }
  for (std::size_t i = 0; i < s.search->studies(); ++i) {
    for (const Region& region : s.search->study(i).regions) restarts += region.restarts;
  }
  result.work.evaluations = evaluations;
  result.diagnostics["evaluations"] = static_cast<double>(evaluations);
  result.diagnostics["failed_evaluations"] = static_cast<double>(failed);
  if (past > 0) result.diagnostics["past_evaluations"] = static_cast<double>(past);
  if (resolved_.trust_regions > 0) {
    result.diagnostics["region_restarts"] = static_cast<double>(restarts);
  }
  result.series["best_by_sweep"] = s.best_by_sweep(run.problem());
  result.evaluations = std::make_shared<const Evaluations>(s.evaluations(run.problem()));
  const StudyModel model = s.search->study(0).models.front();
  if (!model.lengths.empty()) {
    result.series["model_lengths"] = model.lengths;
    result.diagnostics["model_variance"] = model.variance;
    result.diagnostics["model_noise"] = result.evaluations->model.noise_of_values();
    result.diagnostics["model_log_evidence"] = model.evidence;
    result.diagnostics["model_fit"] = model.fit;
  }
  if (failed > 0) {
    result.advice.push_back("failed evaluations: " + std::to_string(failed) + " of " +
                            std::to_string(evaluations) +
                            "; the model uses the worst observed value at the points of failures");
  }
  if (s.modelled < past_.size()) {
    result.advice.push_back(
        "the model used " + std::to_string(s.modelled) + " of " + std::to_string(past_.size()) +
        " past evaluations: the best ones, and an evenly spaced selection of the other "
        "evaluations");
  }
  if (s.confirmed) {
    result.advice.emplace_back(
        s.batches > 1
            ? "every point of the space is known: the run evaluated the best past point "
              "once more"
            : "every point of the space was known before the run, which evaluated the best "
              "past point once more");
  } else if (s.exhausted) {
    result.advice.emplace_back(
        "every point of the space was evaluated: the best point found is the best point of the "
        "space");
  }
  if (s.best_of(true) < s.best_of(false)) {
    result.advice.push_back(
        "a past evaluation is better than all evaluations of this run: " +
        detail::show_real(run.problem().units.objective_of_stored(s.best_of(true))));
  }
}

void BayesianOptimization::save(Archive& archive) const {
  search_->search->save(archive);
  std::vector<double> numbers;
  for (const Search::Seen& seen : search_->history) {
    numbers.push_back(static_cast<double>(seen.study));
    numbers.push_back(static_cast<double>(seen.batch));
    numbers.push_back(seen.value);
    numbers.insert(numbers.end(), seen.point.begin(), seen.point.end());
    numbers.insert(numbers.end(), seen.constraints.begin(), seen.constraints.end());
  }
  archive.put("bayesian.history", numbers);
}

void BayesianOptimization::load(const Archive& archive) {
  Search& s = *search_;
  s.search->load(archive);
  const std::vector<double> numbers = archive.get<double>("bayesian.history");
  const auto dimension = s.search->encoding().dimension(), constraints = s.constraint.rows;
  require_history(numbers, static_cast<std::size_t>(3 + dimension + constraints),
                  s.search->studies());
  s.history.clear();
  for (auto at = numbers.begin(); at != numbers.end(); at += 3 + dimension + constraints) {
    const auto point = at + 3, rest = point + dimension;
    s.history.push_back({static_cast<std::size_t>(at[0]), static_cast<std::int64_t>(at[1]),
                         Point(point, rest), at[2], std::vector<double>(rest, rest + constraints)});
  }
  s.batches = s.history.empty() ? 0 : s.history.back().batch;
}

}  // namespace kiln
