// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/multi_objective.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/run_context.hpp"

#include "advice.hpp"
#include "annealing.hpp"
#include "bayesian_optimization/memory.hpp"
#include "bayesian_optimization/past.hpp"
#include "children.hpp"
#include "front_volume.hpp"
#include "selection.hpp"
#include "shared/complaints.hpp"
#include "surrogate.hpp"

namespace kiln {
namespace {

bool anneals(const MultiObjectiveOptions& options) { return options.strategy == "amosa"; }
bool has_models(const MultiObjectiveOptions& options) { return options.strategy == "surrogate"; }

std::vector<std::string> complaints_about(const MultiObjectiveOptions& o) {
  std::vector<std::string> all = MultiObjectiveOptions::table().validate(o);
  const auto complain_if = [&](bool wrong, const char* sentence) {
    if (wrong) all.emplace_back(sentence);
  };
  complain_if(
      o.population > 0 && has_models(o),
      "strategy=surrogate has no population; batch says how many points are evaluated at the "
      "same time");
  complain_if((o.batch > 1 || o.initial > 0) && !has_models(o),
              "batch and initial are used by strategy=surrogate only");
  complain_if(o.archive > 0 && !anneals(o), "archive is used by strategy=amosa only");
  complain_if(o.temperature > 0 && o.temperature_end > o.temperature,
              "temperature_end must not be above temperature");
  complain_if(o.population > 0 && o.migrants > o.population,
              "migrants must not be more than the population");
  return all;
}

// In units of the box, from what users read.
std::vector<double> reference_in(const FrontBox& box, const Objectives& objectives,
                                 const std::vector<double>& reference) {
  std::vector<double> values;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    values.push_back(objectives.maximized[k] ? 0.0 - reference[k] : reference[k]);
  }
  return box.scaled(values);
}

}  // namespace

/// What a run of the schedule holds.
struct MultiObjective::Search {
  Pool pool;
  FrontVolume volume;
  FrontBox box;
  bool has_box = false;
  // One of them.
  std::unique_ptr<Selection> selection;
  std::unique_ptr<ArchiveAnnealing> annealing;
  std::unique_ptr<SurrogateSearch> surrogate;
  Children children;
  std::int64_t steps = 1;
  Budget budget;

  void measure_in(RunContext& run, FrontBox chosen, const MultiObjectiveOptions& options);
  void ask_models(TickContext& run, const MultiObjectiveOptions& options);
  std::vector<StateBlock> residents(RunContext& run) const {
    if (surrogate) return surrogate->members();
    return selection ? states_of(run.batch()) : annealing->archive();
  }
};

MultiObjective::MultiObjective(MultiObjectiveOptions options) : ScheduleOf(std::move(options)) {
  refuse_if_any(complaints_about(options_));
}

MultiObjective::~MultiObjective() = default;

Needs MultiObjective::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  MultiObjectiveOptions& o = resolved_;
  const Space& space = problem.objective->space();
  const int objectives = space.outputs();
  std::vector<std::string> complaints;
  if (o.strategy == "sms-emoa" && objectives > 3) {
    complaints.push_back("strategy=sms-emoa is for two or three objectives, not " +
                         std::to_string(objectives) + "; nsga3 takes more");
  }
  const bool models = has_models(o);
  if (models && objectives > AcquisitionGradient::max_objectives) {
    complaints.push_back("strategy=surrogate is for two to four objectives, not " +
                         std::to_string(objectives) + "; nsga3 takes more");
  }
  if (!models && !past_.empty()) {
    complaints.emplace_back("past evaluations are used by strategy=surrogate only");
  }
  if (!o.reference.empty() && o.reference.size() != static_cast<std::size_t>(objectives)) {
    complaints.push_back("reference has " + std::to_string(o.reference.size()) + " values for " +
                         std::to_string(objectives) + " objectives");
  }
  if (o.epsilon.size() == 1) o.epsilon.resize(static_cast<std::size_t>(objectives), o.epsilon[0]);
  if (!o.epsilon.empty() && o.epsilon.size() != static_cast<std::size_t>(objectives)) {
    complaints.push_back("epsilon has " + std::to_string(o.epsilon.size()) + " values for " +
                         std::to_string(objectives) + " objectives");
  }
  const bool has_directions = o.strategy == "nsga3" || o.strategy == "moead";
  if (has_directions && o.population > 0 && o.population < objectives) {
    complaints.push_back("population must not be less than the number of objectives");
  }
  refuse_if_any(complaints);

  const Points directions = objectives > 1 ? directions_of(o, objectives) : Points{};
  const auto lines = static_cast<std::int64_t>(directions.size());
  if (o.strategy == "moead") o.population = lines;
  if (models) o.population = o.batch;
  if (o.population == 0) o.population = lines > 0 ? lines + lines % 2 : anneals(o) ? 10 : 100;
  if (anneals(o)) {
    if (o.archive == 0) o.archive = 100;
    if (o.temperature == 0) o.temperature = std::max(0.01, o.temperature_end);
    if (o.temperature_end == 0) o.temperature_end = 1e-6 * o.temperature;
  }
  if (o.mutation_probability == 0) {
    const auto variables = static_cast<double>(space.variables());
    o.mutation_probability = std::min(1.0, (anneals(o) ? 2 : 1) / variables);
  }
  if (o.mutation_index == 0) o.mutation_index = anneals(o) ? 10 : 20;
  if (o.strategy == "moead") o.neighbors = std::min(o.neighbors, lines);

  Needs needs;
  needs.require<VectorValued>("it compares several objectives");
  needs.group_size = o.population;
  needs.default_replicas = o.population * o.islands;
  if (o.generations == 0) o.generations = models ? (100 + o.batch - 1) / o.batch : 250;
  needs.default_sweeps = o.generations;
  if (models) {
    // It refuses what it does not take.
    [[maybe_unused]] const Encoding encoding(space, problem.coordinates, "automatic");
    needs.pacing = Pacing::models;
    needs.own_states = true;
  }
  search_ = std::make_unique<Search>();
  search_->budget = budget;
  search_->steps = budget.sweeps ? *budget.sweeps : o.generations;
  if (!anneals(o) && !models) search_->selection = make_selection(o, directions);
  return needs;
}

void MultiObjective::allocate(AllocateContext& run) {
  Search& s = *search_;
  ReplicaBatch& batch = run.batch();
  // --replicas may say how many islands there are.
  resolved_.islands = batch.groups();
  if (resolved_.migrants == 0 && resolved_.islands > 1) {
    resolved_.migrants = std::max<std::int64_t>(1, resolved_.population / 20);
  }
  const bool models = has_models(resolved_);
  s.pool = {};
  s.pool.islands = batch.groups();
  s.pool.newcomers = batch.group_size();
  s.pool.residents = anneals(resolved_) ? resolved_.archive
                     : models ? SurrogateSearch::residents_for(s.steps, batch.group_size())
                              : batch.group_size();
  s.pool.objectives = batch.space().outputs();
  s.pool.counts_accepted = !anneals(resolved_);
  s.pool.allocate(run, resolved_.epsilon);
  s.volume.allocate(run, s.pool);
  s.has_box = false;
  if (models) {
    s.surrogate = std::make_unique<SurrogateSearch>();
    const auto known = static_cast<std::int64_t>(std::min(past_.size(), max_past));
    s.surrogate->allocate(run, s.pool, resolved_,
                          known + planned_observations(s.budget, s.steps, batch.group_size()));
    if (run.counts_only()) return;
    resolved_.initial = s.surrogate->design_size();
    return;
  }
  s.children.allocate(run, resolved_);
  if (s.selection) {
    s.selection->allocate(run, s.pool);
  } else {
    s.annealing = std::make_unique<ArchiveAnnealing>();
    s.annealing->allocate(run, s.pool, resolved_, s.steps);
  }
}

void MultiObjective::Search::measure_in(RunContext& run, FrontBox chosen,
                                        const MultiObjectiveOptions& options) {
  box = std::move(chosen);
  if (!options.reference.empty()) {
    box.reference = reference_in(box, *run.problem().objectives, options.reference);
  }
  has_box = true;
  volume.measure_in(run, box);
  if (surrogate) surrogate->measure_in(box);
}

void MultiObjective::initialize(InitializeContext& run) {
  Search& s = *search_;
  const Objectives& objectives = *run.problem().objectives;
  // Models make the box of a part of their design: no evaluation is for it alone.
  if (!s.surrogate || !objectives.ideal.empty()) s.measure_in(run, run.front_box(), resolved_);
  if (s.surrogate) {
    for (const Past& past : past_) {
      std::vector<double> values = past.values;
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (objectives.maximized[k]) values[k] = 0.0 - values[k];
      }
      s.surrogate->add(past.state, values, past.constraints);
    }
    const bool on_cpu = run.backend().backend->info().name == "cpu";
    s.surrogate->show_past(past_to_model(run.budget(), on_cpu));
    return;
  }
  const std::vector<StateBlock> states = states_of(run.batch());
  const PointColumns columns = s.selection ? s.pool.resident_columns() : s.pool.newcomer_columns();
  s.pool.evaluate(run, states, columns);
  if (s.selection) {
    // The newcomers are NaN: everybody stays, and gets a rank and a score.
    s.selection->survive(run, s.pool);
  } else {
    ObjectivesArgs args;
    args.state = states;
    args.replicas = run.batch().replicas();
    args.columns = {run.batch().group_size(), run.batch().group_size(), 0};
    args.value = s.annealing->value();
    args.violation = s.annealing->violation();
    args.control = run.control();
    run.objective<VectorValued>().evaluate_objectives(args, run.queue());
    s.annealing->begin(run, s.pool, states);
  }
  s.volume.follow(run, s.pool, s.residents(run));
}

void MultiObjective::Search::ask_models(TickContext& run, const MultiObjectiveOptions& options) {
  // Ticks that were enqueued before a stop was seen do nothing.
  RunControl control = run.read(View1<RunControl>(run.control(), 1)).front();
  if (!control.active(0)) return;
  const auto look_for_box = [&] {
    if (has_box) return;
    const std::optional<FrontBox> around = surrogate->first_box();
    if (around) measure_in(run, *around, options);
  };
  look_for_box();                     // it may follow from past evaluations
  if (!surrogate->step(run, pool)) {  // nothing is left to be done
    control.stop = DeviceStop::step_limit;
    run.queue().upload(run.control(), &control, sizeof control);
    return;
  }
  look_for_box();
  if (has_box) volume.follow(run, pool, residents(run));
}

void MultiObjective::enqueue(TickContext& run) {
  Search& s = *search_;
  if (s.surrogate) return s.ask_models(run, resolved_);
  s.children.make(run, s.pool, s.selection.get(), resolved_);
  const std::vector<StateBlock>& children = s.children.states();
  s.pool.evaluate(run, children, s.pool.newcomer_columns());
  if (s.selection) {
    s.selection->survive(run, s.pool);
    move_states(run, children, states_of(run.batch()), s.pool.source);
  } else {
    s.annealing->step(run, s.pool, children);
  }
  s.volume.follow(run, s.pool, s.residents(run));
}

void MultiObjective::report(ReportContext& run, Result& result) {
  const auto generations = static_cast<double>(result.work.sweeps);
  result.diagnostics["evaluations"] =
      (generations + 1) * static_cast<double>(run.batch().replicas()) +
      static_cast<double>(run.box_evaluations());
  if (search_->surrogate) search_->surrogate->report(*run.problem().objectives, result);
  if (!result.front) return;
  const Front& front = *result.front;
  result.diagnostics["front_size"] = static_cast<double>(front.members.size());
  std::string advice = advice_on_reference(front);
  if (!advice.empty()) result.advice.push_back(std::move(advice));
}

void MultiObjective::add_past(State state, std::vector<double> values,
                              std::vector<double> constraints) {
  past_.push_back({std::move(state), std::move(values), std::move(constraints)});
}

FrontCandidates MultiObjective::front(ReportContext& run) {
  Search& s = *search_;
  const Pool& pool = s.pool;
  const std::vector<std::int32_t> rank = run.read(pool.rank);
  const std::vector<double> violation = run.read(pool.violation);
  const std::vector<double> value =
      run.read(View1<double>(pool.value.data, pool.objectives * pool.columns()));
  const PointColumns columns = pool.resident_columns();
  std::vector<std::int64_t> members;
  FrontCandidates candidates;
  for (std::int64_t member = 0; member < pool.islands * pool.residents; ++member) {
    const std::int64_t column = columns[member];
    if (rank[static_cast<std::size_t>(column)] != 0) continue;
    members.push_back(member);
    std::vector<double> point;
    for (std::int64_t k = 0; k < pool.objectives; ++k) {
      point.push_back(value[static_cast<std::size_t>(k * pool.columns() + column)]);
    }
    candidates.values.push_back(std::move(point));
    candidates.violations.push_back(violation[static_cast<std::size_t>(column)]);
  }
  candidates.box = s.box;
  candidates.states = read_states_of(run.queue(), s.residents(run), members);
  if (s.surrogate) {  // forgets nothing, and its evaluations are expensive
    s.surrogate->add_past_front(*run.problem().objectives, candidates);
    return candidates;
  }
  // A population forgets. What was measured, and shown, is what is handed out at least.
  FrontVolume::Best best = s.volume.best(run);
  if (best.states.empty()) return candidates;
  const Front now = make_front(run.problem(), candidates, run.queue());
  if (!(now.hypervolume < best.volume)) return candidates;
  FrontCandidates kept;
  kept.states = std::move(best.states);
  kept.box = s.box;
  // Ends beyond the reference point add nothing to a volume. Of a box there may be one member only.
  if (!resolved_.epsilon.empty()) return kept;
  for (const std::size_t end : now.extremes) kept.states.push_back(now.members[end].state);
  return kept;
}

// Of the other strategies everything lies in the run's scratch.
void MultiObjective::save(Archive& archive) const {
  const Search& s = *search_;
  if (!s.surrogate) return;
  s.surrogate->save(archive);
  archive.put("surrogate.ideal", s.box.ideal);
  archive.put("surrogate.nadir", s.box.nadir);
  archive.put("surrogate.reference", s.box.reference);
}

void MultiObjective::load(const Archive& archive) {
  Search& s = *search_;
  if (!s.surrogate) return;
  s.surrogate->load(archive);
  s.box = {archive.get<double>("surrogate.ideal"), archive.get<double>("surrogate.nadir"),
           archive.get<double>("surrogate.reference")};
  s.has_box = !s.box.ideal.empty();
  if (s.has_box) s.surrogate->measure_in(s.box);
}

}  // namespace kiln
