// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/bayesian_optimization.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/alarm.hpp"
#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/observer.hpp"
#include "kiln/run.hpp"

#include "checks.hpp"
#include "memory.hpp"
#include "past.hpp"
#include "search.hpp"

namespace kiln {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::string> names_of(const Problem& problem, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) {
    const bool named = k < problem.coordinates.size() && !problem.coordinates[k].name.empty();
    names.push_back(named ? problem.coordinates[k].name : "x[" + std::to_string(k + 1) + "]");
  }
  return names;
}

ModelSummary summary_of(const StudyModel& model, const Problem& problem, std::size_t count) {
  ModelSummary summary;
  if (model.lengths.empty()) return summary;
  const std::vector<std::string> names = names_of(problem, count);
  for (std::size_t k = 0; k < count; ++k) {
    summary.lengths.emplace_back(names[k], model.lengths[model.lengths.size() == 1 ? 0 : k]);
  }
  summary.noise = std::sqrt(model.noise);
  summary.fit = model.fit;
  return summary;
}

}  // namespace

/// What a run of the schedule holds.
struct BayesianOptimization::Search {
  /// One evaluation in the order of the run; values are stored ones.
  struct Seen {
    std::size_t study = 0;
    std::int64_t batch = 0;  // 0: it was known before
    Point point;
    double value = 0;
    std::vector<double> constraints;

    bool feasible() const {
      const bool met = std::ranges::all_of(constraints, [](double g) { return g <= 0; });
      return met && std::isfinite(value);
    }
  };

  // A queue of its own: models outlive the run that they were made for.
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<BayesianSearch> search;
  View1<double> value;       // [slots], as evaluated
  View2<double> constraint;  // [constraints][slots]
  std::vector<std::size_t> studies;
  std::vector<Seen> history;  // in order
  std::int64_t batches = 0;   // that were evaluated
  bool exhausted = false;     // no study has points left
  bool confirmed = false;     // the answer was known before
  std::size_t modelled = 0;   // of what was known before

  /// What to evaluate next; given up when the tick is.
  std::vector<std::vector<Trial>> suggest(Run& run);
  void evaluate(Run& run, const std::vector<std::vector<Trial>>& trials);
  /// The best point that was known before, once more where the run has none as good: what others
  /// say of it is no claim of the run. False where there is none.
  bool confirm(Run& run);
  /// Values at the slots as they were evaluated, those of infeasible points as energies that are
  /// never the best.
  void note(Run& run, const std::vector<std::vector<Trial>>& trials, std::vector<double>& energies);
  Evaluations evaluations(const Problem& problem) const;
  /// The best value of the first study after each sweep, past evaluations included.
  std::vector<double> best_by_sweep(const Problem& problem) const;
  /// The best feasible evaluation of the run, or of what was known before; null if there is none.
  const Seen* best_seen(bool past) const;
  double best_of(bool past) const;  // its value; infinity: there is none
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

Needs BayesianOptimization::needs(const Problem& problem, const Budget& budget) {
  const Encoding encoding(problem.objective->space(), problem.coordinates, options_.names);
  resolved_ = resolved(options_, encoding, problem.objective->space().outputs());
  const std::int64_t batches = (resolved_.evaluations + resolved_.batch - 1) / resolved_.batch;
  planned_ = static_cast<std::int64_t>(std::min(past_.size(), most_past)) +
             planned_observations(budget, batches, resolved_.batch);
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
  const std::vector<std::uint64_t> keys = keys_of_groups(batch.seed(), batch.groups());
  resolved_.studies = batch.groups();
  BayesianProblem problem;
  problem.space = batch.space();
  problem.constraints = run.problem().objective->abilities().constraints;
  problem.coordinates = run.problem().coordinates;
  problem.candidates = run.problem().candidates;
  problem.noisy = run.problem().noisy;
  s.value = run.scratch_zeros<double>("value", batch.slots());
  const std::int64_t constraints = problem.constraints;
  if (constraints > 0) {
    s.constraint = {run.scratch_zeros<double>("constraint", constraints * batch.slots()).data,
                    constraints, batch.slots(), batch.slots()};
  }
  if (run.counts_only()) return count_search(run.queue(), problem, resolved_, keys, planned_);
  s.backend = run.backend().backend;
  s.queue = s.backend->make_queue();
  s.search = std::make_unique<BayesianSearch>(*s.queue, problem, resolved_, keys);
  resolved_.initial = s.search->design_size();
  for (std::int64_t g = 0; g < batch.groups(); ++g) {
    s.studies.push_back(static_cast<std::size_t>(g));
  }
}

void BayesianOptimization::begin(Run& run) {
  Search& s = *search_;
  const Encoding& encoding = s.search->encoding();
  std::vector<double> values;
  for (const Past& past : past_) {
    encoding.check(past.state);
    values.push_back(run.problem().objective_of_stored.inverse(past.value));
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

void BayesianOptimization::enqueue(Run& run) {
  Search& s = *search_;
  // Ticks that were enqueued before a stop was seen do nothing.
  RunControl control = run.read(View1<RunControl>(run.control(), 1)).front();
  if (!control.active(0)) return;
  const std::vector<std::vector<Trial>> trials = s.suggest(run);
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

std::vector<std::vector<Trial>> BayesianOptimization::Search::suggest(Run& run) {
  // Fits of a thousand observations take a minute, and they are not on the queue of the run.
  const ArmedQueue armed(*queue, run.queue().alarm());
  return search->suggest(studies, run.batch().group_size());
}

void BayesianOptimization::Search::evaluate(Run& run,
                                            const std::vector<std::vector<Trial>>& trials) {
  ReplicaBatch& batch = run.batch();
  const auto some = std::ranges::find_if(trials, [](const auto& of) { return !of.empty(); });
  std::vector<State> states;
  for (const std::vector<Trial>& of_study : trials) {
    for (std::int64_t i = 0; i < batch.group_size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      // Slots without a point of their own, in the last batch of a space, have one of another's.
      const Trial& trial = at < of_study.size() ? of_study[at] : some->front();
      states.push_back(search->encoding().decode(trial.point));
    }
  }
  batch.write_states(states);
  run.keep_tick();
  run.evaluate(value, {}, constraint);
  std::vector<double> energies = run.read(value);
  note(run, trials, energies);
  run.queue().upload(batch.energy().data, energies.data(), energies.size() * sizeof(double));
  run.track_best();
}

bool BayesianOptimization::Search::confirm(Run& run) {
  const Seen* const known = best_seen(true);
  if (known == nullptr || known->value >= best_of(false)) return false;
  Trial again;  // of no number: nobody asked for it
  again.point = known->point;
  std::vector<std::vector<Trial>> trials(studies.size());
  trials.front().push_back(std::move(again));
  evaluate(run, trials);
  return true;
}

void BayesianOptimization::Search::note(Run& run, const std::vector<std::vector<Trial>>& trials,
                                        std::vector<double>& energies) {
  std::vector<double> g;
  if (constraint.rows > 0) {
    g = run.read(View1<double>(constraint.data, constraint.rows * constraint.columns));
  }
  ++batches;
  const auto size = static_cast<std::size_t>(run.batch().group_size());
  for (std::size_t study = 0; study < trials.size(); ++study) {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t slot = study * size + i;
      std::vector<double> of_slot;
      for (std::int64_t j = 0; j < constraint.rows; ++j) {
        of_slot.push_back(g[static_cast<std::size_t>(j * constraint.columns) + slot]);
      }
      const double stored = energies[slot];
      // Host objectives give NaN for what was cut off, and infinity for what has no value.
      const bool cut_off = std::isnan(stored) && run.problem().watch_stop != nullptr;
      const bool met = std::ranges::all_of(of_slot, [](double x) { return x <= 0; });
      if (!met || !std::isfinite(stored)) energies[slot] = infinity;  // never the best
      if (i >= trials[study].size()) continue;
      const Trial& trial = trials[study][i];
      const bool asked_for = trial.id != 0;
      if (cut_off) {
        if (asked_for) search->forget(study, trial.id);
        continue;
      }
      if (asked_for) search->tell(study, trial.id, stored, of_slot);
      history.push_back({study, batches, trial.point, stored, std::move(of_slot)});
    }
  }
}

Evaluations BayesianOptimization::Search::evaluations(const Problem& problem) const {
  Evaluations evaluations;
  for (const Seen& seen : history) {
    // The engine's word for a value that is none is infinity.
    const double shown = std::isfinite(seen.value) ? problem.objective_of_stored(seen.value)
                                                   : std::numeric_limits<double>::quiet_NaN();
    evaluations.all.push_back({static_cast<std::int64_t>(seen.study), seen.batch,
                               search->encoding().decode(seen.point), shown, seen.constraints});
  }
  evaluations.model = summary_of(search->study(0).models.front(), problem,
                                 static_cast<std::size_t>(search->encoding().dimension()));
  return evaluations;
}

std::vector<double> BayesianOptimization::Search::best_by_sweep(const Problem& problem) const {
  std::vector<double> best;
  double lowest = infinity;
  for (const Seen& seen : history) {
    if (seen.study != 0) continue;
    if (seen.feasible()) lowest = std::min(lowest, seen.value);
    if (seen.batch == 0) continue;
    best.resize(static_cast<std::size_t>(seen.batch));
    best.back() = problem.objective_of_stored(lowest);
  }
  return best;
}

auto BayesianOptimization::Search::best_seen(bool past) const -> const Seen* {
  const Seen* best = nullptr;
  for (const Seen& seen : history) {
    if ((seen.batch == 0) != past || !seen.feasible()) continue;
    if (best == nullptr || seen.value < best->value) best = &seen;
  }
  return best;
}

double BayesianOptimization::Search::best_of(bool past) const {
  const Seen* const best = best_seen(past);
  return best == nullptr ? infinity : best->value;
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
  result.series["best_by_sweep"] = s.best_by_sweep(run.problem());
  result.evaluations = std::make_shared<const Evaluations>(s.evaluations(run.problem()));
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
  if (s.modelled < past_.size()) {
    result.advice.push_back("models were shown " + std::to_string(s.modelled) + " of " +
                            std::to_string(past_.size()) +
                            " past evaluations: the best, and others spread over the rest");
  }
  if (s.confirmed) {
    result.advice.push_back(
        std::string("every point of the space ") +
        (s.batches > 1 ? "is known: the best past one" : "was known already: the best of them") +
        " was evaluated once more");
  } else if (s.exhausted) {
    result.advice.emplace_back(
        "every point of the space was evaluated: the best one that was seen is the best there is");
  }
  if (s.best_of(true) < s.best_of(false)) {
    result.advice.push_back("a past evaluation is better than all of this run: " +
                            detail::show_real(run.problem().objective_of_stored(s.best_of(true))));
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
  s.history.clear();
  for (auto at = numbers.begin(); at != numbers.end(); at += 3 + dimension + constraints) {
    const auto point = at + 3, rest = point + dimension;
    s.history.push_back({static_cast<std::size_t>(at[0]), static_cast<std::int64_t>(at[1]),
                         Point(point, rest), at[2], std::vector<double>(rest, rest + constraints)});
  }
  s.batches = s.history.empty() ? 0 : s.history.back().batch;
}

}  // namespace kiln
