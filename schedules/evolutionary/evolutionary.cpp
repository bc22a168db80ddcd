// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/evolutionary.hpp"

#include <algorithm>

#include "kiln/errors.hpp"
#include "kiln/run_context.hpp"

#include "fronts/children.hpp"
#include "fronts/front_search.hpp"
#include "selection.hpp"
#include "shared/complaints.hpp"

namespace kiln {
namespace {

std::vector<std::string> complaints_about(const EvolutionaryOptions& o) {
  std::vector<std::string> all = EvolutionaryOptions::table().validate(o);
  if (o.population > 0 && o.migrants > o.population) {
    all.emplace_back("migrants must not be greater than population");
  }
  return all;
}

// Of options beside a number of objectives; `o` is completed where that number says how.
std::vector<std::string> complaints_about(EvolutionaryOptions& o, int objectives) {
  std::vector<std::string> complaints;
  if (o.strategy == "sms-emoa" && objectives > 3) {
    complaints.push_back("strategy=sms-emoa supports two or three objectives, not " +
                         std::to_string(objectives) + "; strategy=nsga3 supports more");
  }
  check_lengths(o.reference, o.epsilon, static_cast<std::size_t>(objectives), complaints);
  if (uses_directions(o) && o.population > 0 && o.population < objectives) {
    complaints.emplace_back("population must not be less than the number of objectives");
  }
  return complaints;
}

VariationOptions variation_of(const EvolutionaryOptions& o) {
  VariationOptions variation;
  variation.crossover = o.crossover;
  variation.crossover_probability = o.crossover_probability;
  variation.crossover_index = o.crossover_index;
  variation.differential_scale = o.differential_scale;
  variation.differential_rate = o.differential_rate;
  variation.mutation_probability = o.mutation_probability;
  variation.mutation_index = o.mutation_index;
  variation.migration_interval = o.migration_interval;
  variation.migrants = o.migrants;
  return variation;
}

}  // namespace

/// What a run of the schedule holds.
struct Evolutionary::Search : FrontSearch {
  std::unique_ptr<Selection> selection;
  VariationOptions variation;  // of resolved_
  Children children;
};

Evolutionary::Evolutionary(EvolutionaryOptions options) : ScheduleOf(std::move(options)) {
  refuse_if_any(complaints_about(options_));
}

Evolutionary::~Evolutionary() = default;

Needs Evolutionary::needs(const Problem& problem, const Budget&) {
  resolved_ = options_;
  EvolutionaryOptions& o = resolved_;
  const Space& space = problem.objective->space();
  const int objectives = space.outputs();
  refuse_if_any(complaints_about(o, objectives));

  const Points directions = objectives > 1 ? directions_of(o, objectives) : Points{};
  const auto lines = static_cast<std::int64_t>(directions.size());
  if (o.strategy == "moead") o.population = lines;
  if (o.population == 0) o.population = lines > 0 ? lines + lines % 2 : 100;
  if (o.mutation_probability == 0) {
    o.mutation_probability = std::min(1.0, 1 / static_cast<double>(space.variables()));
  }
  if (o.mutation_index == 0) o.mutation_index = 20;
  if (o.strategy == "moead") o.neighbors = std::min(o.neighbors, lines);
  if (o.generations == 0) o.generations = 250;

  Needs needs;
  needs.require<VectorValued>("evolutionary compares several objectives");
  needs.group_size = o.population;
  needs.default_replicas = o.population * o.islands;
  needs.default_sweeps = o.generations;
  search_ = std::make_unique<Search>();
  search_->selection = make_selection(o, directions);
  return needs;
}

void Evolutionary::allocate(AllocateContext& run) {
  Search& s = *search_;
  ReplicaBatch& batch = run.batch();
  // The number of replicas may say how many islands there are.
  resolved_.islands = batch.groups();
  if (resolved_.migrants == 0 && resolved_.islands > 1) {
    resolved_.migrants = std::max<std::int64_t>(1, resolved_.population / 20);
  }
  s.pool = {};
  s.pool.islands = batch.groups();
  s.pool.newcomers = batch.group_size();
  s.pool.residents = batch.group_size();
  s.pool.objectives = batch.space().outputs();
  s.allocate(run, resolved_.epsilon);
  s.variation = variation_of(resolved_);
  s.children.allocate(run, s.variation);
  s.selection->allocate(run, s.pool);
}

void Evolutionary::initialize(InitializeContext& run) {
  Search& s = *search_;
  s.measure_in(run, run.front_box(), resolved_.reference);
  const std::vector<StateBlock> states = states_of(run.batch());
  s.pool.evaluate(run, states, s.pool.resident_columns());
  // The newcomers are NaN: everybody stays, and gets a rank and a score.
  s.selection->survive(run, s.pool);
  s.volume.follow(run, s.pool, states);
}

void Evolutionary::enqueue(TickContext& run) {
  Search& s = *search_;
  s.children.choose_parents(run, s.pool, *s.selection, s.variation);
  s.children.make(run, s.variation);
  const std::vector<StateBlock>& children = s.children.states();
  const std::vector<StateBlock> residents = states_of(run.batch());
  s.pool.evaluate(run, children, s.pool.newcomer_columns());
  s.selection->survive(run, s.pool);
  move_states(run, children, residents, s.pool.source);
  s.volume.follow(run, s.pool, residents);
}

void Evolutionary::report(ReportContext& run, Result& result) {
  report_evaluations(run, result);
  report_front(result);
}

FrontCandidates Evolutionary::front(ReportContext& run) {
  return search_->best_front(run, states_of(run.batch()), !resolved_.epsilon.empty());
}

}  // namespace kiln
