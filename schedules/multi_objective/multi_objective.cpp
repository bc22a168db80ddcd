// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/multi_objective.hpp"

#include "kiln/errors.hpp"
#include "kiln/schedules/amosa.hpp"
#include "kiln/schedules/bayesian_front.hpp"
#include "kiln/schedules/evolutionary.hpp"

#include "multi_objective/renamed.hpp"
#include "shared/complaints.hpp"

namespace kiln {
namespace {

EvolutionaryOptions evolutionary(const MultiObjectiveOptions& o) {
  EvolutionaryOptions to;
  to.strategy = o.strategy;
  to.population = o.population;
  to.generations = o.generations;
  to.islands = o.islands;
  to.migration_interval = o.migration_interval;
  to.migrants = o.migrants;
  to.crossover = o.crossover;
  to.crossover_probability = o.crossover_probability;
  to.crossover_index = o.crossover_index;
  to.differential_scale = o.differential_scale;
  to.differential_rate = o.differential_rate;
  to.mutation_probability = o.mutation_probability;
  to.mutation_index = o.mutation_index;
  to.neighbors = o.neighbors;
  to.neighbor_share = o.neighbor_share;
  to.replacements = o.replacements;
  to.decomposition = o.decomposition;
  to.epsilon = o.epsilon;
  to.reference = o.reference;
  return to;
}

AmosaOptions amosa(const MultiObjectiveOptions& o) {
  AmosaOptions to;
  if (o.population != 0) to.chains = o.population;
  to.islands = o.islands;
  if (o.archive != 0) to.archive = o.archive;
  if (o.generations != 0) to.cooling_sweeps = o.generations;
  to.temperature = o.temperature;
  to.temperature_end = o.temperature_end;
  to.temperature_spread = o.temperature_spread;
  to.mutation_probability = o.mutation_probability;
  if (o.mutation_index != 0) to.mutation_index = o.mutation_index;
  to.epsilon = o.epsilon;
  to.reference = o.reference;
  return to;
}

BayesianFrontOptions bayesian_front(const MultiObjectiveOptions& o) {
  BayesianFrontOptions to;
  to.batch = o.batch;
  if (o.generations != 0) to.evaluations = evaluations_in(o.generations, o.batch);
  to.initial = o.initial;
  to.studies = o.islands;
  to.epsilon = o.epsilon;
  to.reference = o.reference;
  return to;
}

// The former class refused options of other strategies, as far as they were not ignored.
void refuse_strangers(const MultiObjectiveOptions& o) {
  const bool models = o.strategy == "surrogate";
  std::vector<std::string> complaints;
  if (models && o.population > 0) complaints.emplace_back("strategy=surrogate has no population");
  if (!models && (o.batch != 1 || o.initial != 0)) {
    complaints.emplace_back("batch and initial are parameters of strategy=surrogate");
  }
  if (o.archive != 0 && o.strategy != "amosa") {
    complaints.emplace_back("archive is a parameter of strategy=amosa");
  }
  refuse_if_any(complaints);
}

std::unique_ptr<Schedule> make(const MultiObjectiveOptions& options) {
  refuse_strangers(options);
  if (options.strategy == "amosa") return std::make_unique<Amosa>(amosa(options));
  if (options.strategy == "surrogate") {
    return std::make_unique<BayesianFront>(bayesian_front(options));
  }
  return std::make_unique<Evolutionary>(evolutionary(options));
}

}  // namespace

FormerMultiObjective::FormerMultiObjective(const MultiObjectiveOptions& options)
    : schedule_(make(options)) {}
FormerMultiObjective::~FormerMultiObjective() = default;

void FormerMultiObjective::add_past(State state, std::vector<double> values,
                                    std::vector<double> constraints) {
  auto* const models = schedule_->as<TakesPastEvaluations>();
  if (models == nullptr) {
    throw InvalidArgument("config.option", "schedule '" + name() + "' takes no past evaluations",
                          {}, "use BayesianFront");
  }
  models->add_past(std::move(state), std::move(values), std::move(constraints));
}
std::string FormerMultiObjective::name() const { return schedule_->name(); }
std::string_view FormerMultiObjective::step_name() const { return schedule_->step_name(); }
std::map<std::string, std::string> FormerMultiObjective::parameters() const {
  return schedule_->parameters();
}
Needs FormerMultiObjective::needs(const Problem& problem, const Budget& budget) {
  return schedule_->needs(problem, budget);
}
void FormerMultiObjective::allocate(AllocateContext& run) { schedule_->allocate(run); }
void FormerMultiObjective::initialize(InitializeContext& run) { schedule_->initialize(run); }
void FormerMultiObjective::enqueue(TickContext& run) { schedule_->enqueue(run); }
void FormerMultiObjective::report(ReportContext& run, Result& result) {
  schedule_->report(run, result);
}
FrontCandidates FormerMultiObjective::front(ReportContext& run) {
  return schedule_->as<ProducesFront>()->front(run);
}
void FormerMultiObjective::save(Archive& archive) const { schedule_->save(archive); }
void FormerMultiObjective::load(const Archive& archive) { schedule_->load(archive); }

}  // namespace kiln
