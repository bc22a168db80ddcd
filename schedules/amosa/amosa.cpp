// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/amosa.hpp"

#include <algorithm>
#include <limits>

#include "kiln/errors.hpp"
#include "kiln/run_context.hpp"

#include "annealing.hpp"
#include "fronts/children.hpp"
#include "fronts/front_search.hpp"
#include "shared/complaints.hpp"

namespace kiln {
namespace {

std::vector<std::string> complaints_about(const AmosaOptions& o) {
  std::vector<std::string> all = AmosaOptions::table().validate(o);
  if (o.temperature > 0 && o.temperature_end > o.temperature) {
    all.emplace_back("temperature_end must not be above temperature");
  }
  return all;
}

// Each proposal has one parent, the present state of its chain, and is mutated only.
VariationOptions variation_of(const AmosaOptions& o) {
  VariationOptions variation;
  variation.has_selection = false;
  variation.crossover = "none";
  variation.mutation_probability = o.mutation_probability;
  variation.mutation_index = o.mutation_index;
  return variation;
}

}  // namespace

/// What a run of the schedule holds.
struct Amosa::Search : FrontSearch {
  ArchiveAnnealing annealing;
  VariationOptions variation;  // of resolved_
  Children proposals;
  std::int64_t sweeps = 1;
};

Amosa::Amosa(AmosaOptions options) : ScheduleOf(std::move(options)) {
  refuse_if_any(complaints_about(options_));
}

Amosa::~Amosa() = default;

Needs Amosa::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  AmosaOptions& o = resolved_;
  const Space& space = problem.objective->space();
  std::vector<std::string> complaints;
  check_lengths(o.reference, o.epsilon, static_cast<std::size_t>(space.outputs()), complaints);
  refuse_if_any(complaints);
  if (o.temperature == 0) o.temperature = std::max(0.01, o.temperature_end);
  if (o.temperature_end == 0) o.temperature_end = 1e-6 * o.temperature;
  if (o.mutation_probability == 0) {
    o.mutation_probability = std::min(1.0, 2 / static_cast<double>(space.variables()));
  }

  Needs needs;
  needs.require<VectorValued>("amosa compares several objectives");
  needs.group_size = o.chains;
  needs.default_replicas = o.chains * o.islands;
  needs.default_sweeps = o.cooling_sweeps;
  search_ = std::make_unique<Search>();
  search_->sweeps = budget.sweeps.value_or(o.cooling_sweeps);
  return needs;
}

void Amosa::allocate(AllocateContext& run) {
  Search& s = *search_;
  ReplicaBatch& batch = run.batch();
  // The number of replicas may say how many islands there are.
  resolved_.islands = batch.groups();
  s.pool = {};
  s.pool.islands = batch.groups();
  s.pool.newcomers = batch.group_size();
  s.pool.residents = resolved_.archive;
  s.pool.objectives = batch.space().outputs();
  s.pool.counts_accepted = false;
  s.allocate(run, resolved_.epsilon);
  s.variation = variation_of(resolved_);
  s.proposals.allocate(run, s.variation);
  s.annealing.allocate(run, s.pool, resolved_, s.sweeps);
}

void Amosa::initialize(InitializeContext& run) {
  Search& s = *search_;
  s.measure_in(run, run.front_box(), resolved_.reference);
  const std::vector<StateBlock> states = states_of(run.batch());
  s.pool.evaluate(run, states, s.pool.newcomer_columns());
  s.annealing.begin(run, s.pool, states);
  s.volume.follow(run, s.pool, s.annealing.archive());
}

void Amosa::enqueue(TickContext& run) {
  Search& s = *search_;
  s.proposals.make(run, s.variation);
  s.pool.evaluate(run, s.proposals.states(), s.pool.newcomer_columns());
  s.annealing.step(run, s.pool, s.proposals.states());
  s.volume.follow(run, s.pool, s.annealing.archive());
}

void Amosa::report(ReportContext& run, Result& result) {
  report_evaluations(run, result);
  report_front(result);
}

FrontCandidates Amosa::front(ReportContext& run) {
  return search_->best_front(run, search_->annealing.archive(), !resolved_.epsilon.empty());
}

}  // namespace kiln
