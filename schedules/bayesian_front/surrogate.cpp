// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/alarm.hpp"
#include "kiln/archive.hpp"
#include "kiln/fronts/indicators.hpp"

#include "bayesian_optimization/checks.hpp"
#include "bayesian_optimization/memory.hpp"
#include "bayesian_optimization/past.hpp"

namespace kiln {
namespace {

// A model of more evaluations would take longer than most functions.
constexpr std::int64_t max_residents = 300;
// Of the points that every run of a problem begins with: no seed changes them.
constexpr std::uint64_t first_points_key = 0x66697273745f7074ull;

bool has_box(const Problem& problem) { return !problem.objectives->ideal.empty(); }

/// Points that the box goes around, where it is not known.
std::int64_t points_for_box(const BayesianFrontOptions& options, std::int64_t dimension) {
  const std::int64_t few = BayesianSearch::default_design(dimension);
  return options.initial > 0 ? std::min(options.initial, few) : few;
}

bool is_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

}  // namespace

std::int64_t SurrogateSearch::residents_for(std::int64_t batches, std::int64_t batch) {
  return std::max(batch, std::min(max_residents, batches * batch));
}

BayesianOptimizationOptions SurrogateSearch::model_options(const RunContext& run,
                                                           const BayesianFrontOptions& options,
                                                           std::int64_t dimension,
                                                           std::int64_t batch) const {
  BayesianOptimizationOptions of_models;
  of_models.batch = batch;
  of_models.initial = options.initial;
  // Half as many points again that differ between seeds.
  if (options.initial == 0 && !has_box(run.problem())) {
    const std::int64_t same = points_for_box(options, dimension);
    of_models.initial = (same + (same + 1) / 2 + batch - 1) / batch * batch;
  }
  // A front asks its models about places far from any one minimum: rougher functions, and noise
  // that explains what they cannot.
  of_models.covariance = "matern52";
  of_models.priors = "dimension-scaled";
  of_models.noise = "fitted";
  of_models.transform = "clip";
  return of_models;
}

void SurrogateSearch::allocate(AllocateContext& run, const Pool& pool,
                               const BayesianFrontOptions& options, std::int64_t observations) {
  ReplicaBatch& batch = run.batch();
  BayesianProblem problem;
  problem.space = batch.space();
  problem.constraints = run.problem().objective->constraints();
  problem.coordinates = run.problem().coordinates;
  const Experiment experiment = run.problem().experiment.value_or(Experiment{});
  problem.candidates = experiment.candidates;
  problem.noisy = experiment.noisy;
  const Encoding encoding(problem.space, problem.coordinates, "automatic");
  const std::int64_t q = batch.group_size();
  BayesianOptimizationOptions of_models = model_options(run, options, encoding.dimension(), q);
  const std::vector<std::uint64_t> keys = keys_of_groups(batch.seed(), batch.groups());
  members_ = make_states(run, "members", pool.islands * pool.residents);
  objectives_ = pool.objectives;
  const std::int64_t rows = problem.constraints, columns = pool.columns();
  if (rows > 0) {
    constraint_ = {run.scratch_zeros<double>("constraint", rows * columns).data, rows, columns,
                   columns};
  }
  if (run.counts_only()) {
    count_search(run.queue(), problem, of_models, keys, observations);
    return;
  }
  backend_ = run.backend().backend;
  queue_ = backend_->make_queue();
  queue_->charge(run.queue(), MemoryOwner::schedule);
  search_ = std::make_unique<BayesianSearch>(*queue_, problem, of_models, keys);
  const std::int64_t designed = search_->design_size();
  if (designed % q != 0) {
    of_models.initial = (designed + q - 1) / q * q;
    search_ = std::make_unique<BayesianSearch>(*queue_, problem, of_models, keys);
  }
  if (!has_box(run.problem())) {
    const std::int64_t same = points_for_box(options, encoding.dimension());
    Designs designs(*queue_, search_->encoding(), "sobol", {first_points_key}, problem.candidates);
    search_->begin_with(designs.points(0, 0, same, same));
  }
  studies_.clear();
  for (std::size_t study = 0; study < keys.size(); ++study) studies_.push_back(study);
}

void SurrogateSearch::add(const State& state, const std::vector<double>& values,
                          const std::vector<double>& constraints) {
  const Encoding& encoding = search_->encoding();
  encoding.check(state);
  history_.push_back({0, 0, encoding.encode(state), values, constraints});
}

void SurrogateSearch::show_past(std::size_t most) {
  // chosen_past() takes what is least: the front, before what is dominated or failed.
  std::vector<double> ranks(history_.size(), 1);
  if (history_.size() > most) {
    Points points;
    std::vector<std::size_t> feasible;
    for (std::size_t i = 0; i < history_.size(); ++i) {
      const Seen& seen = history_[i];
      const bool met = std::ranges::all_of(seen.constraints, [](double g) { return g <= 0; });
      if (!met || !is_finite(seen.values)) continue;
      feasible.push_back(i);
      points.push_back(seen.values);
    }
    for (const std::size_t i : nondominated(points)) ranks[feasible[i]] = 0;
  }
  const std::vector<std::size_t> chosen = chosen_past(ranks, most);
  past_ = history_.size();
  auto next = chosen.begin();
  for (std::size_t i = 0; i < history_.size(); ++i) {
    const Seen& seen = history_[i];
    const bool is_chosen = next != chosen.end() && *next == i;
    if (is_chosen) ++next;
    const bool is_first = std::ranges::any_of(
        search_->first_points(), [&](const Point& first) { return same_point(seen.point, first); });
    shown_ += is_chosen || is_first ? 1 : 0;
    for (const std::size_t study : studies_) {
      if (is_chosen || is_first) {
        search_->add(study, seen.point, seen.values.front(), seen.constraints,
                     {seen.values.begin() + 1, seen.values.end()});
      } else {
        search_->know(study, seen.point);
      }
    }
  }
}

bool SurrogateSearch::step(TickContext& run, const Pool& pool) {
  ReplicaBatch& batch = run.batch();
  const std::vector<std::vector<Trial>> trials = [&] {
    const ArmedQueue armed(*queue_, run.queue().alarm());  // models are not on the queue of the run
    return search_->suggest(studies_, batch.group_size());
  }();
  if (std::ranges::all_of(trials, [](const auto& of) { return of.empty(); })) return false;
  batch.write_states(search_->states_of(trials, batch.group_size()));
  run.keep_tick();
  const std::vector<StateBlock> newcomers = states_of(batch);
  pool.evaluate(run, newcomers, pool.newcomer_columns(), constraint_);
  note(run, pool, trials);
  pool.rank_points(run);
  pool.crowd(run);
  pool.select(run);
  move_states(run, newcomers, members_, pool.source);
  return true;
}

/// Reads the values of a batch, and tells them to the models and to whoever watches.
void SurrogateSearch::note(TickContext& run, const Pool& pool,
                           const std::vector<std::vector<Trial>>& trials) {
  const auto columns = static_cast<std::size_t>(pool.columns());
  const auto read = [&](const View2<double>& matrix) {
    return run.read(View1<double>(matrix.data, matrix.rows * matrix.columns));
  };
  const std::vector<double> values = read(pool.value);
  const std::vector<double> constraints =
      constraint_.rows > 0 ? read(constraint_) : std::vector<double>{};
  const auto column_of = [&](const std::vector<double>& matrix, std::size_t column) {
    std::vector<double> list;
    for (std::size_t at = column; at < matrix.size(); at += columns) list.push_back(matrix[at]);
    return list;
  };
  ++batches_;
  const PointColumns newcomers = pool.newcomer_columns();
  for (std::size_t study = 0; study < trials.size(); ++study) {
    std::int64_t slot = static_cast<std::int64_t>(study) * run.batch().group_size();
    for (const Trial& trial : trials[study]) {
      const auto column = static_cast<std::size_t>(newcomers[slot++]);
      Seen seen{study, batches_, trial.point, column_of(values, column),
                column_of(constraints, column)};
      search_->tell(study, trial.id, seen.values.front(), seen.constraints,
                    {seen.values.begin() + 1, seen.values.end()});
      run.tell_evaluation(shown(seen, *run.problem().objectives));
      history_.push_back(std::move(seen));
    }
  }
}

Evaluation SurrogateSearch::shown(const Seen& seen, const Objectives& objectives) const {
  Evaluation one;
  one.study = static_cast<std::int64_t>(seen.study);
  one.batch = seen.batch;
  one.state = search_->encoding().decode(seen.point);
  one.constraints = seen.constraints;
  for (std::size_t k = 0; k < seen.values.size(); ++k) {
    one.objectives.push_back(objectives.maximized[k] ? 0.0 - seen.values[k] : seen.values[k]);
  }
  one.value = one.objectives.front();
  return one;
}

Evaluations SurrogateSearch::history(const Objectives& objectives) const {
  Evaluations evaluations;
  for (const Seen& seen : history_) evaluations.all.push_back(shown(seen, objectives));
  return evaluations;
}

void SurrogateSearch::add_past_front(const Objectives& objectives,
                                     FrontCandidates& candidates) const {
  Points points;
  std::vector<const Seen*> feasible;
  for (const Seen& seen : history_) {
    const bool met = std::ranges::all_of(seen.constraints, [](double g) { return g <= 0; });
    if (seen.batch > 0 || !met || !is_finite(seen.values)) continue;
    feasible.push_back(&seen);
    points.push_back(seen.values);
  }
  for (const std::size_t i : nondominated(points)) {
    State state = search_->encoding().decode(feasible[i]->point);
    // The device says nothing of them, and a file is no claim of the run.
    ObjectiveVector vector = objectives.evaluate(spans_of(state));
    candidates.values.push_back(std::move(vector.values));
    candidates.violations.push_back(vector.violation);
    candidates.states.push_back(std::move(state));
  }
}

std::optional<FrontBox> SurrogateSearch::first_box() const {
  const Study& study = search_->study(0);
  const std::vector<Trial>& trials = study.regions.front().trials;
  Points points, others;
  for (const Trial& trial : trials) {
    if (trial.good()) others.push_back(trial.objectives());
  }
  for (const Point& first : search_->first_points()) {
    const auto known = std::ranges::find_if(
        trials, [&](const Trial& trial) { return same_point(trial.point, first); });
    if (known == trials.end()) return {};
    if (known->good()) points.push_back(known->objectives());
  }
  // Where none of them has a number, anything that has one.
  if (points.empty()) points = std::move(others);
  if (points.empty()) return {};
  return box_around(points);
}

void SurrogateSearch::report(const Objectives& objectives, Result& result) const {
  std::int64_t evaluations = 0, failed = 0, past = 0;
  for (const Seen& seen : history_) {
    ++(seen.batch == 0 ? past : evaluations);
    const bool good = is_finite(seen.values) && is_finite(seen.constraints);
    if (seen.batch > 0 && !good) ++failed;
  }
  result.evaluations = std::make_shared<const Evaluations>(history(objectives));
  result.work.evaluations = evaluations;
  result.diagnostics["evaluations"] = static_cast<double>(evaluations);
  result.diagnostics["failed_evaluations"] = static_cast<double>(failed);
  if (past > 0) result.diagnostics["past_evaluations"] = static_cast<double>(past);
  if (failed > 0) {
    result.advice.push_back("failed evaluations: " + std::to_string(failed) +
                            "; the models use the worst observed value at the points of failures");
  }
  if (shown_ == past_) return;
  result.advice.push_back("the models used " + std::to_string(shown_) + " of " +
                          std::to_string(past_) +
                          " past evaluations: some on the front, and an evenly spaced selection of "
                          "the other evaluations");
}

void SurrogateSearch::save(Archive& archive) const {
  search_->save(archive);
  std::vector<double> numbers;
  for (const Seen& seen : history_) {
    numbers.push_back(static_cast<double>(seen.study));
    numbers.push_back(static_cast<double>(seen.batch));
    numbers.insert(numbers.end(), seen.point.begin(), seen.point.end());
    numbers.insert(numbers.end(), seen.values.begin(), seen.values.end());
    numbers.insert(numbers.end(), seen.constraints.begin(), seen.constraints.end());
  }
  archive.put("surrogate.history", numbers);
  archive.put_value("surrogate.batches", batches_);
}

void SurrogateSearch::load(const Archive& archive) {
  search_->load(archive);
  batches_ = archive.get_value<std::int64_t>("surrogate.batches");
  const std::vector<double> numbers = archive.get<double>("surrogate.history");
  const auto d = search_->encoding().dimension();
  require_history(numbers, static_cast<std::size_t>(2 + d + objectives_ + constraint_.rows),
                  search_->studies());
  constexpr std::int64_t most = std::int64_t{1} << 53;  // as in the history
  if (batches_ < 0 || batches_ >= most) {
    throw InvalidArgument("archive.value", "'surrogate.batches' is no number of batches");
  }
  history_.clear();
  for (auto at = numbers.begin(); at != numbers.end();) {
    const auto point = at + 2, values = point + d, constraints = values + objectives_;
    const auto end = constraints + constraint_.rows;
    history_.push_back({static_cast<std::size_t>(at[0]), static_cast<std::int64_t>(at[1]),
                        Point(point, values), std::vector<double>(values, constraints),
                        std::vector<double>(constraints, end)});
    at = end;
  }
}

}  // namespace kiln
