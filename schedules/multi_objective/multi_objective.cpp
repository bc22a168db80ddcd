// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/multi_objective.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/errors.hpp"
#include "kiln/kernels/select_parents.hpp"
#include "kiln/kernels/vary_states.hpp"
#include "kiln/run.hpp"

#include "annealing.hpp"
#include "front_volume.hpp"
#include "selection.hpp"
#include "shared/arrays.hpp"
#include "shared/complaints.hpp"

namespace kiln {
namespace {

constexpr double beyond_worst = 1.1;

bool anneals(const MultiObjectiveOptions& options) { return options.strategy == "amosa"; }

std::vector<std::string> complaints_about(const MultiObjectiveOptions& o) {
  std::vector<std::string> all = MultiObjectiveOptions::table().validate(o);
  const auto complain_if = [&](bool wrong, const char* sentence) {
    if (wrong) all.emplace_back(sentence);
  };
  complain_if(o.population > 0 && o.population < 4, "population must be at least 4");
  complain_if(o.archive > 0 && o.archive < 4, "archive must be at least 4");
  complain_if(std::ranges::any_of(o.epsilon, [](double e) { return !(e > 0); }),
              "each epsilon must be greater than 0");
  complain_if(o.archive > 0 && !anneals(o), "archive is used by strategy=amosa only");
  complain_if(o.temperature > 0 && o.temperature_end > o.temperature,
              "temperature_end must not be above temperature");
  complain_if(o.population > 0 && o.migrants > o.population,
              "migrants must not be more than the population");
  return all;
}

Variation variation_of(const MultiObjectiveOptions& o, BlockKind kind) {
  Variation rule;
  rule.cross_pair = o.crossover_probability;
  rule.cross_index = o.crossover_index;
  rule.scale = o.differential_scale;
  rule.mutate = o.mutation_probability;
  rule.mutate_index = o.mutation_index;
  const bool numbers = kind == BlockKind::real || kind == BlockKind::integer;
  rule.mutation = numbers ? Mutation::polynomial : Mutation::reset;
  rule.crossover = Crossover::uniform;
  if (kind == BlockKind::permutation) {
    rule.crossover = Crossover::order;
    rule.mutation = Mutation::inversion;
  } else if (numbers && o.crossover == "differential") {
    rule.crossover = Crossover::differential;
    rule.cross_pair = 1;
    rule.cross_variable = o.differential_rate;
  } else if (numbers && o.crossover != "uniform") {
    rule.crossover = Crossover::simulated_binary;
  }
  if (o.crossover == "none") rule.crossover = Crossover::none;
  return rule;
}

// Where volumes are measured, for a problem that does not know its front: around the first points.
FrontBox first_box(Run& run, const Pool& pool, const PointColumns& columns) {
  const std::vector<double> values =
      run.read(View1<double>(pool.value.data, pool.value.rows * pool.value.columns));
  Points points;
  for (std::int64_t slot = 0; slot < run.batch().replicas(); ++slot) {
    std::vector<double> point;
    for (std::int64_t k = 0; k < pool.objectives; ++k) {
      point.push_back(values[static_cast<std::size_t>(k * pool.columns() + columns[slot])]);
    }
    points.push_back(std::move(point));
  }
  return box_around(points);
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
  std::unique_ptr<Selection> selection;         // null where replicas anneal
  std::unique_ptr<ArchiveAnnealing> annealing;  // null where they do not
  std::vector<StateBlock> children;
  View2<std::int32_t> parents, work;
  View1<std::int32_t> immigrants;
  std::int64_t steps = 1;

  void make_children(Run& run, const MultiObjectiveOptions& options) const;
  void evaluate(Run& run, const std::vector<StateBlock>& states, const PointColumns& columns) const;
};

MultiObjective::MultiObjective(MultiObjectiveOptions options)
    : options_(std::move(options)), resolved_(options_) {
  refuse_if_any(complaints_about(options_));
}

MultiObjective::~MultiObjective() = default;

std::map<std::string, std::string> MultiObjective::parameters() const {
  return MultiObjectiveOptions::table().show(resolved_);
}

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
  needs.several_objectives = true;
  needs.group_size = o.population;
  needs.default_replicas = o.population * o.islands;
  needs.default_sweeps = o.generations;
  search_ = std::make_unique<Search>();
  search_->steps = budget.sweeps ? *budget.sweeps : o.generations;
  if (!anneals(o)) search_->selection = make_selection(o, directions);
  return needs;
}

void MultiObjective::start(Run& run) {
  Search& s = *search_;
  ReplicaBatch& batch = run.batch();
  const std::int64_t slots = batch.slots();
  // --replicas may say how many islands there are.
  resolved_.islands = batch.groups();
  if (resolved_.migrants == 0 && resolved_.islands > 1) {
    resolved_.migrants = std::max<std::int64_t>(1, resolved_.population / 20);
  }
  s.pool = {};
  s.pool.islands = batch.groups();
  s.pool.newcomers = batch.group_size();
  s.pool.residents = anneals(resolved_) ? resolved_.archive : batch.group_size();
  s.pool.objectives = batch.space().outputs();
  s.pool.counts_accepted = !anneals(resolved_);
  s.pool.allocate(run, resolved_.epsilon);
  s.children = make_states(run, "children", batch.replicas());
  const std::int64_t rows = resolved_.crossover == "differential" && !anneals(resolved_) ? 4 : 2;
  std::vector<std::int32_t> parents = filled<std::int32_t>(rows * slots, -1);
  if (anneals(resolved_)) {  // each proposal has one parent, the present state
    for (std::int64_t slot = 0; slot < batch.replicas(); ++slot) {
      for (std::int64_t row = 0; row < rows; ++row) {
        parents[static_cast<std::size_t>(row * slots + slot)] = static_cast<std::int32_t>(slot);
      }
    }
  }
  s.parents = {run.scratch("parents", parents).data, rows, slots, slots};
  if (batch.groups() > 1 && resolved_.migration_interval > 0 && !anneals(resolved_)) {
    s.immigrants = run.scratch("immigrants", filled<std::int32_t>(slots, -1));
  }
  std::int64_t longest = 0;
  for (const Block& block : batch.space().blocks()) {
    if (block.kind == BlockKind::permutation) longest = std::max(longest, block.count);
  }
  s.work = {run.scratch_zeros<std::int32_t>("crossover.work", longest * slots).data, longest, slots,
            slots};
  s.volume.allocate(run, s.pool);
  if (s.selection) {
    s.selection->allocate(run, s.pool);
  } else {
    s.annealing = std::make_unique<ArchiveAnnealing>();
    s.annealing->allocate(run, s.pool, resolved_, s.steps);
  }
}

void MultiObjective::Search::evaluate(Run& run, const std::vector<StateBlock>& states,
                                      const PointColumns& columns) const {
  ObjectivesArgs args;
  args.state = states;
  args.replicas = run.batch().replicas();
  args.columns = columns;
  args.value = pool.value;
  args.violation = pool.violation;
  args.not_finite = run.batch().not_finite();
  run.evaluate_objectives(args);
}

void MultiObjective::begin(Run& run) {
  Search& s = *search_;
  const std::vector<StateBlock> states = states_of(run.batch());
  const PointColumns columns = s.selection ? s.pool.resident_columns() : s.pool.newcomer_columns();
  s.evaluate(run, states, columns);
  const Objectives& objectives = *run.problem().objectives;
  if (objectives.ideal.empty()) {
    s.box = first_box(run, s.pool, columns);
  } else {
    s.box = {objectives.ideal, objectives.nadir,
             std::vector<double>(objectives.count(), beyond_worst)};
  }
  if (!resolved_.reference.empty()) {
    s.box.reference = reference_in(s.box, objectives, resolved_.reference);
  }
  s.volume.measure_in(run, s.box);
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
    run.evaluate_objectives(args);
    s.annealing->begin(run, s.pool, states);
  }
  s.volume.follow(run, s.pool);
}

void MultiObjective::Search::make_children(Run& run, const MultiObjectiveOptions& options) const {
  ReplicaBatch& batch = run.batch();
  if (selection) {
    SelectParents choose;
    choose.replicas = batch.replicas();
    choose.group_size = batch.group_size();
    choose.columns = pool.resident_columns();
    selection->choose_by(choose, pool);
    choose.parents = parents;
    choose.immigrants = immigrants;
    choose.migrate_every = options.migration_interval;
    choose.migrants = options.migrants;
    choose.names = batch.names();
    choose.control = run.control();
    run.queue().launch(choose);
  }
  std::int64_t first = 0;
  for (int b = 0; b < batch.n_blocks(); ++b) {
    const StateBlock block = batch.state(b);
    VaryStates vary;
    vary.parent = block;
    vary.child = children[static_cast<std::size_t>(b)];
    vary.parents = {parents.data, parents.rows, parents.columns, parents.stride};
    vary.rule = variation_of(options, block.kind);
    if (!selection) vary.rule.crossover = Crossover::none;
    if (block.kind == BlockKind::permutation) {
      vary.rule.mutate = std::max(vary.rule.mutate, 0.3);
      vary.work = work;
    }
    vary.names = batch.names();
    vary.first_variable = first;
    vary.all_variables = batch.space().variables();
    vary.control = run.control();
    run.queue().launch(vary);
    first += block.variables;
  }
  if (immigrants) move_states(run, states_of(batch), children, immigrants);
}

void MultiObjective::enqueue(Run& run) {
  const Search& s = *search_;
  s.make_children(run, resolved_);
  s.evaluate(run, s.children, s.pool.newcomer_columns());
  if (s.selection) {
    s.selection->survive(run, s.pool);
    move_states(run, s.children, states_of(run.batch()), s.pool.source);
  } else {
    s.annealing->step(run, s.pool, s.children);
  }
  s.volume.follow(run, s.pool);
}

void MultiObjective::report(Run& run, Result& result) {
  const auto generations = static_cast<double>(result.work.sweeps);
  result.diagnostics["evaluations"] =
      (generations + 1) * static_cast<double>(run.batch().replicas());
  if (!result.front) return;
  const Front& front = *result.front;
  result.diagnostics["front_size"] = static_cast<double>(front.members.size());
  std::int64_t beyond = 0;
  for (const FrontMember& member : front.members) {
    const std::vector<double> scaled = front.box.scaled(member.values);
    bool below = true;
    for (std::size_t k = 0; k < scaled.size(); ++k) below &= scaled[k] < front.box.reference[k];
    beyond += below ? 0 : 1;
  }
  if (beyond > 0) {
    result.advice.push_back(std::to_string(beyond) + " of " + std::to_string(front.members.size()) +
                            " members of the front lie beyond the reference point and add nothing "
                            "to the hypervolume; -p reference=... moves it");
  }
}

FrontCandidates MultiObjective::front(Run& run) {
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
  const std::vector<StateBlock> residents =
      s.selection ? states_of(run.batch()) : s.annealing->archive();
  candidates.states = read_states_of(run.queue(), residents, members);
  return candidates;
}

void MultiObjective::save(Archive&) const {}
void MultiObjective::load(const Archive&) {}

}  // namespace kiln
