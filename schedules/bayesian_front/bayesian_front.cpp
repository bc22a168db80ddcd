// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/bayesian_front.hpp"

#include <algorithm>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"
#include "kiln/run_context.hpp"

#include "bayesian_optimization/memory.hpp"
#include "bayesian_optimization/past.hpp"
#include "fronts/front_search.hpp"
#include "shared/complaints.hpp"
#include "surrogate.hpp"

namespace kiln {

/// What a run of the schedule holds.
struct BayesianFront::Search : FrontSearch {
  SurrogateSearch surrogate;
  std::int64_t batches = 1;
  Budget budget;

  void measure_in(RunContext& run, FrontBox chosen, const std::vector<double>& reference) {
    FrontSearch::measure_in(run, std::move(chosen), reference);
    surrogate.measure_in(box);
  }
  // The box may follow from past evaluations, or from the first batches.
  void look_for_box(RunContext& run, const std::vector<double>& reference) {
    if (has_box) return;
    const std::optional<FrontBox> around = surrogate.first_box();
    if (around) measure_in(run, *around, reference);
  }
};

BayesianFront::BayesianFront(BayesianFrontOptions options)
    : ScheduleOf(BayesianFrontOptions::table().checked(options)) {}

BayesianFront::~BayesianFront() = default;

void BayesianFront::add_past(State state, std::vector<double> values,
                             std::vector<double> constraints) {
  past_.push_back({std::move(state), std::move(values), std::move(constraints)});
}

Needs BayesianFront::needs(const Problem& problem, const Budget& budget) {
  resolved_ = options_;
  BayesianFrontOptions& o = resolved_;
  const Space& space = problem.objective->space();
  const int objectives = space.outputs();
  std::vector<std::string> complaints;
  if (objectives > AcquisitionGradient::max_objectives) {
    complaints.push_back("bayesian-front supports two to four objectives, not " +
                         std::to_string(objectives) +
                         "; evolutionary with strategy=nsga3 supports more");
  }
  check_lengths(o.reference, o.epsilon, static_cast<std::size_t>(objectives), complaints);
  refuse_if_any(complaints);
  // It refuses what it does not take.
  [[maybe_unused]] const Encoding encoding(space, problem.coordinates, "automatic");

  Needs needs;
  needs.require<VectorValued>("bayesian-front compares several objectives");
  needs.group_size = o.batch;
  needs.default_replicas = o.batch * o.studies;
  needs.default_sweeps = (o.evaluations + o.batch - 1) / o.batch;
  needs.pacing = Pacing::models;
  needs.own_states = true;
  search_ = std::make_unique<Search>();
  search_->budget = budget;
  search_->batches = budget.sweeps.value_or(needs.default_sweeps);
  return needs;
}

void BayesianFront::allocate(AllocateContext& run) {
  Search& s = *search_;
  ReplicaBatch& batch = run.batch();
  // The number of replicas may say how many studies there are.
  resolved_.studies = batch.groups();
  s.pool = {};
  s.pool.islands = batch.groups();
  s.pool.newcomers = batch.group_size();
  s.pool.residents = SurrogateSearch::residents_for(s.batches, batch.group_size());
  s.pool.objectives = batch.space().outputs();
  s.allocate(run, resolved_.epsilon);
  const auto known = static_cast<std::int64_t>(std::min(past_.size(), max_past));
  s.surrogate.allocate(run, s.pool, resolved_,
                       known + planned_observations(s.budget, s.batches, batch.group_size()));
  if (!run.counts_only()) resolved_.initial = s.surrogate.design_size();
}

void BayesianFront::initialize(InitializeContext& run) {
  Search& s = *search_;
  const Objectives& objectives = *run.problem().objectives;
  // Otherwise a part of the initial design gives the box: no evaluation is for it alone.
  if (!objectives.ideal.empty()) s.measure_in(run, run.front_box(), resolved_.reference);
  for (const Past& past : past_) {
    std::vector<double> values = past.values;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (objectives.maximized[k]) values[k] = 0.0 - values[k];
    }
    s.surrogate.add(past.state, values, past.constraints);
  }
  const bool on_cpu = run.backend().backend->info().name == "cpu";
  s.surrogate.show_past(past_to_model(run.budget(), on_cpu));
}

void BayesianFront::enqueue(TickContext& run) {
  Search& s = *search_;
  // Ticks that were enqueued before a stop was seen do nothing.
  RunControl control = run.read(View1<RunControl>(run.control(), 1)).front();
  if (!control.active(0)) return;
  s.look_for_box(run, resolved_.reference);
  if (!s.surrogate.step(run, s.pool)) {  // nothing is left to be done
    control.stop = DeviceStop::step_limit;
    run.queue().upload(run.control(), &control, sizeof control);
    return;
  }
  s.look_for_box(run, resolved_.reference);
  if (s.has_box) s.volume.follow(run, s.pool, s.surrogate.members());
}

void BayesianFront::report(ReportContext& run, Result& result) {
  search_->surrogate.report(*run.problem().objectives, result);
  report_front(result);
}

// Nothing is forgotten: the members of the pool are the front, and past evaluations join them.
FrontCandidates BayesianFront::front(ReportContext& run) {
  FrontCandidates candidates = search_->first_front(run, search_->surrogate.members());
  search_->surrogate.add_past_front(*run.problem().objectives, candidates);
  return candidates;
}

void BayesianFront::save(Archive& archive) const {
  const Search& s = *search_;
  s.surrogate.save(archive);
  archive.put("surrogate.ideal", s.box.ideal);
  archive.put("surrogate.nadir", s.box.nadir);
  archive.put("surrogate.reference", s.box.reference);
}

void BayesianFront::load(const Archive& archive) {
  Search& s = *search_;
  s.surrogate.load(archive);
  s.box = {archive.get<double>("surrogate.ideal"), archive.get<double>("surrogate.nadir"),
           archive.get<double>("surrogate.reference")};
  s.has_box = !s.box.ideal.empty();
  const std::size_t size = s.has_box ? static_cast<std::size_t>(s.pool.objectives) : 0;
  if (s.box.ideal.size() != size || s.box.nadir.size() != size || s.box.reference.size() != size) {
    throw InvalidArgument("archive.size", "the box of the front has another number of objectives");
  }
  if (s.has_box) s.surrogate.measure_in(s.box);
}

}  // namespace kiln
