// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/objectives/turned.hpp"
#include "kiln/options.hpp"
#include "kiln/problems/best_known.hpp"
#include "kiln/problems/pairwise.hpp"

#include "pairwise/pairwise_objective.hpp"
#include "pairwise/stored_model.hpp"
#include "pairwise/stored_scale.hpp"
#include "sum_of_terms.hpp"

namespace kiln {
namespace {

using Spins = std::span<const std::int8_t>;

Spins values_of(StateSpan state) { return std::get<Spins>(state.front()); }

void require_variables(std::int64_t n, const std::string& name) {
  if (n < 1)
    throw InvalidArgument("problem.size", name + ": a problem needs at least one variable");
}

void require_finite(double value, const std::string& name) {
  if (!std::isfinite(value)) {
    throw InvalidArgument("problem.value", name + ": a coefficient is not a finite number");
  }
}

// The objective of a model, and how energies round, in their units.
void lay_out(const problems::StoredModel& stored, double offset, BlockKind kind, Problem& problem) {
  problems::PairwisePlan plan = problems::plan_pairwise(*stored.model, stored.sizes);
  const double rows =
      problems::rounding_of_rows(stored.model->n, plan.longest_row, stored.sizes.sum);
  problem.units.rounding =
      rows / stored.scale + problems::rounding_of_offset(offset) + stored.shift;
  problem.objective = problems::make_pairwise_objective(problem.identity.name, *stored.model,
                                                        stored.sizes, std::move(plan), kind);
}

// Of a model in stored units.
double sum_of_weights(const problems::StoredModel& stored) {
  const std::vector<Edge>& couplings = stored.model->couplings;
  if (!stored.sizes.exact()) {
    problems::TermSum total;
    for (const Edge& e : couplings) total.add(e.weight);
    return total.value();
  }
  double total = 0;
  for (const double some :
       of_each_block(std::ssize(couplings), [&](std::int64_t begin, std::int64_t end) {
         double sum = 0;
         for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
           sum += couplings[k].weight;
         }
         return sum;
       })) {
    total += some;
  }
  return total;
}

// Sides of the cut, or values of the bits, one per line.
std::string format_lines(Spins values) {
  std::string text;
  for (const std::int8_t value : values) text += std::to_string(static_cast<int>(value)) + "\n";
  return text;
}

bool all_integers(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::floor(x) == x; });
}

// Sums of the raw coefficients, or of the integers that stand for decimal fractions: their sums
// are exact, and only the result is rounded, 0.3 for 0.1 + 0.2.
class RawSum {
 public:
  explicit RawSum(const problems::StoredModel& stored)
      : decimal_(stored.decimal), energy_of_whole_(stored.energy_of_whole) {}
  double number(double coefficient) const {
    return decimal_ == 0 ? coefficient : problems::whole_of(coefficient, decimal_);
  }
  /// Of a sum without an offset.
  double plain(double sum) const { return decimal_ == 0 ? sum : sum / decimal_; }
  /// What the sum begins with.
  double offset(double raw) const { return decimal_ == 0 ? raw : 0.0; }
  /// Of a sum that begins with the offset.
  double energy(double sum) const { return decimal_ == 0 ? sum : energy_of_whole_(sum); }

 private:
  double decimal_;
  Affine energy_of_whole_;
};

double energy_of(const Ising& raw, const RawSum& sum, Spins s) {
  problems::TermSum energy;
  energy.add(sum.offset(raw.offset));
  for (std::size_t i = 0; i < s.size(); ++i) energy.add(sum.number(raw.fields[i]) * s[i]);
  for (const Edge& e : raw.couplings) {
    energy.add(sum.number(e.weight) * s[static_cast<std::size_t>(e.u)] *
               s[static_cast<std::size_t>(e.v)]);
  }
  return sum.energy(energy.value());
}

double cut_of(const Ising& raw, const RawSum& sum, Spins spins) {
  problems::TermSum cut;
  for (const Edge& e : raw.couplings) {
    const bool across =
        spins[static_cast<std::size_t>(e.u)] != spins[static_cast<std::size_t>(e.v)];
    cut.add(across ? sum.number(e.weight) : 0.0);
  }
  return sum.plain(cut.value());
}

// @param sign  -1 if the function is maximised: energies have the other sign
double value_of(const Qubo& raw, const RawSum& sum, double sign, Spins x) {
  problems::TermSum value;
  value.add(sum.offset(raw.offset));
  for (std::size_t i = 0; i < raw.linear.size(); ++i) {
    value.add(x[i] != 0 ? sum.number(raw.linear[i]) : 0.0);
  }
  for (const QuboTerm& term : raw.quadratic) {
    const bool both =
        x[static_cast<std::size_t>(term.i)] != 0 && x[static_cast<std::size_t>(term.j)] != 0;
    value.add(both ? sum.number(term.value) : 0.0);
  }
  return sign * sum.energy(sign * value.value()) + 0.0;
}

// Sides of a cut, 0 or 1 as they are written, or spins where there is a -1.
State parse_sides(std::span<const double> values) {
  const bool spins = std::ranges::find(values, -1.0) != values.end();
  std::vector<std::int8_t> state;
  for (const double value : values) {
    if (value != 1 && value != (spins ? -1.0 : 0.0)) {
      throw InvalidArgument("state.value", "the side of a vertex is " + detail::show_real(value),
                            "sides 0 and 1 for all vertices, or sides -1 and 1 for all vertices");
    }
    const bool up = spins ? value > 0 : value == 0;
    state.push_back(up ? std::int8_t{1} : std::int8_t{-1});
  }
  return {std::move(state)};
}

// Turning all spins over changes no energy where there are no fields.
void put_first_spin_up(State& state) {
  auto& spins = std::get<std::vector<std::int8_t>>(state.front());
  if (spins.empty() || spins.front() > 0) return;
  for (std::int8_t& spin : spins) spin = static_cast<std::int8_t>(-spin);
}

// Its best states are the worst of the model.
void negate(PairwiseModel& model) {
  const auto turn_over = [](std::vector<Edge>& edges) {
    for (Edge& edge : edges) edge.weight = 0.0 - edge.weight;
  };
  if (auto* graph = std::get_if<Graph>(&model)) turn_over(graph->edges);
  if (auto* ising = std::get_if<Ising>(&model)) {
    turn_over(ising->couplings);
    for (double& field : ising->fields) field = 0.0 - field;
    ising->offset = 0.0 - ising->offset;
  }
  if (auto* potts = std::get_if<Potts>(&model)) {
    turn_over(potts->couplings);
    for (PottsField& field : potts->fields) field.amount = 0.0 - field.amount;
  }
}

// Values of a negated model, as they are without the sign.
Problem seen_from_behind(Problem problem) {
  problem.units.sense = problem.units.sense == Sense::maximize ? Sense::minimize : Sense::maximize;
  const Affine negated = problem.units.objective_of_stored;
  problem.units.objective_of_stored = {0.0 - negated.offset, 0.0 - negated.factor, negated.divisor};
  problem.solution.verify = [verify = std::move(problem.solution.verify)](StateSpan state) {
    return 0.0 - verify(state);
  };
  problem.known.best.reset();
  problem.known.best_source.clear();
  return problem;
}

void note_storage(Problem& problem, const problems::StoredModel& stored) {
  if (!stored.note.empty()) problem.identity.notes.push_back(stored.note);
}

void note_best(Problem& problem, const std::optional<NamedBest>& best) {
  if (!best) return;
  problem.known.best = best->value;
  problem.known.best_source = std::string(best->source);
}

}  // namespace

Problem make_maxcut(Graph graph, std::string name) {
  require_variables(graph.n_vertices, name);
  problems::canonicalize(graph);
  Problem problem;
  problem.identity.name = name;
  problem.identity.family = "maxcut";
  problem.identity.sizes = {{"n", std::to_string(graph.n_vertices)},
                            {"m", std::to_string(graph.edges.size())}};
  note_best(problem, problems::best_known(graph));
  const auto raw =
      std::make_shared<const Ising>(Ising{graph.n_vertices, {}, std::move(graph.edges), 0.0});
  const problems::StoredModel stored = problems::stored_model(raw, name, true);
  const double total = sum_of_weights(stored);
  problem.units.value_name = "cut";
  problem.units.sense = Sense::maximize;
  problem.units.integral = stored.integers && stored.scale == 1;
  problem.units.stored_integers = stored.integers;
  problem.units.energy_of_stored = {0, 1, stored.scale};
  // cut = (sum of weights - energy) / 2
  problem.units.objective_of_stored = {total / 2, -0.5, stored.scale};
  note_storage(problem, stored);
  lay_out(stored, total / stored.scale, BlockKind::spin, problem);
  problem.solution.verify = [raw, sum = RawSum(stored)](StateSpan state) {
    return cut_of(*raw, sum, values_of(state));
  };
  problem.solution.format = [](StateSpan state) {
    std::string text;  // the side of each vertex, 0 or 1
    for (const std::int8_t spin : values_of(state)) text += spin > 0 ? "0\n" : "1\n";
    return text;
  };
  problem.solution.parse = parse_sides;
  problem.solution.canonical = put_first_spin_up;
  return problem;
}

Problem make_qubo(Qubo qubo, Sense sense, std::string name) {
  require_variables(qubo.n, name);
  require_finite(qubo.offset, name);
  problems::canonicalize(qubo);
  const double sign = sense == Sense::maximize ? -1.0 : 1.0;
  bool integers = all_integers(qubo.linear) && std::floor(qubo.offset) == qubo.offset;
  for (const QuboTerm& term : qubo.quadratic) {
    integers = integers && std::floor(term.value) == term.value;
  }
  const problems::StoredModel stored = problems::stored_model(qubo, name, sign);

  Problem problem;
  problem.identity.name = name;
  problem.identity.family = "qubo";
  problem.units.sense = sense;
  problem.units.integral = integers && stored.integers;
  problem.units.stored_integers = stored.integers;
  const Affine energy = problem.units.energy_of_stored = stored.energy_of_stored;
  problem.units.objective_of_stored = {sign * energy.offset, sign * energy.factor, energy.divisor};
  problem.identity.sizes = {{"n", std::to_string(qubo.n)},
                            {"couplers", std::to_string(qubo.quadratic.size())}};
  note_storage(problem, stored);
  if (sense == Sense::maximize) {
    note_best(problem, problems::best_known(qubo));
  }
  lay_out(stored, energy(0), BlockKind::binary, problem);
  const auto raw = std::make_shared<const Qubo>(std::move(qubo));
  problem.solution.verify = [raw, sum = RawSum(stored), sign](StateSpan state) {
    return value_of(*raw, sum, sign, values_of(state));
  };
  problem.solution.format = [](StateSpan state) { return format_lines(values_of(state)); };
  return problem;
}

Problem make_ising(Ising ising, std::string name) {
  require_variables(ising.n, name);
  require_finite(ising.offset, name);
  if (ising.fields.size() > static_cast<std::size_t>(ising.n)) {
    throw InvalidArgument("problem.size", name + ": there are " +
                                              std::to_string(ising.fields.size()) + " fields for " +
                                              std::to_string(ising.n) + " spins");
  }
  ising.fields.resize(static_cast<std::size_t>(ising.n), 0.0);
  for (const double h : ising.fields) require_finite(h, name);
  Graph couplings{ising.n, std::move(ising.couplings)};
  problems::canonicalize(couplings);
  ising.couplings = std::move(couplings.edges);
  const auto raw = std::make_shared<const Ising>(std::move(ising));
  const problems::StoredModel stored = problems::stored_model(raw, name);

  Problem problem;
  problem.identity.name = name;
  problem.identity.family = "ising";
  problem.units.value_name = "energy";
  problem.units.integral =
      stored.integers && stored.scale == 1 && std::floor(raw->offset) == raw->offset;
  problem.units.stored_integers = stored.integers;
  problem.units.energy_of_stored = stored.energy_of_stored;
  problem.units.objective_of_stored = problem.units.energy_of_stored;
  problem.identity.sizes = {{"n", std::to_string(raw->n)},
                            {"m", std::to_string(raw->couplings.size())}};
  note_storage(problem, stored);
  lay_out(stored, raw->offset, BlockKind::spin, problem);
  const bool symmetric = std::ranges::all_of(raw->fields, [](double h) { return h == 0; });
  if (symmetric) problem.solution.canonical = put_first_spin_up;
  problem.solution.verify = [raw, sum = RawSum(stored)](StateSpan state) {
    return energy_of(*raw, sum, values_of(state));
  };
  problem.solution.format = [](StateSpan state) { return format_lines(values_of(state)); };
  return problem;
}

Sense natural_sense(const PairwiseModel& model) noexcept {
  return std::holds_alternative<Graph>(model) ? Sense::maximize : Sense::minimize;
}

Problem make_pairwise(PairwiseModel model, Sense sense, std::string name) {
  if (auto* qubo = std::get_if<Qubo>(&model)) return make_qubo(std::move(*qubo), sense, name);
  const bool turn = sense != natural_sense(model);
  if (auto* graph = std::get_if<Coloring>(&model)) {
    Problem problem = make_coloring(std::move(*graph), name);
    return turn ? turned(problem) : problem;
  }
  if (turn) negate(model);
  Problem problem;
  if (auto* graph = std::get_if<Graph>(&model)) problem = make_maxcut(std::move(*graph), name);
  if (auto* ising = std::get_if<Ising>(&model)) problem = make_ising(std::move(*ising), name);
  if (auto* potts = std::get_if<Potts>(&model)) problem = make_potts(std::move(*potts), name);
  return turn ? seen_from_behind(std::move(problem)) : problem;
}

}  // namespace kiln
