// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/expression.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"
#include "kiln/objectives/vector_objective.hpp"
#include "kiln/option_info.hpp"

#include "continuous/density_model.hpp"
#include "expensive/settings.hpp"
#include "expressions/expression_program.hpp"
#include "expressions/expression_rounding.hpp"
#include "expressions/expression_variables.hpp"
#include "expressions/formula.hpp"
#include "expressions/formula_states.hpp"
#include "expressions/penalties.hpp"
#include "readers/text_reader.hpp"
#include "sha256.hpp"

namespace kiln::problems {
namespace {

// Formula, variables with their bounds, constraints and data.
std::string fingerprint_of(const ExpressionOptions& options) {
  detail::Sha256 hash;
  hash.update(options.formula + "\n");
  for (const ExpressionVariable& one : options.variables) {
    std::string line = one.name;
    for (const std::int64_t n : one.shape) line += " " + std::to_string(n);
    if (one.kind == ExpressionVariable::Kind::integer) line += " int";
    if (one.kind == ExpressionVariable::Kind::binary) line += " binary";
    hash.update(line + " " + kiln::detail::show_real(one.lower) + " " +
                kiln::detail::show_real(one.upper) + "\n");
  }
  for (const std::string& one : options.constraints) hash.update("subject to " + one + "\n");
  if (options.data != nullptr) hash.update(options.data->fingerprint());
  return hash.hex().substr(0, 16);
}

using SharedFormula = std::shared_ptr<const Formula>;
using SharedStates = std::shared_ptr<const FormulaStates>;

// What all formulas have in common, however they are evaluated.
void describe(Problem& problem, const Formula& formula, const SharedStates& states,
              const ExpressionOptions& options) {
  name_states(problem, states);
  problem.identity.fingerprint = fingerprint_of(options);
  if (!formula.all_real()) {
    problem.solution.parse = [states](Point values) { return states->state_of(values); };
  }
}

Problem make_compiled_problem(const SharedFormula& formula, const ExpressionNode& searched,
                              const SharedStates& states, const ExpressionOptions& options) {
  DensityModel model;
  model.source =
      source_of(compile_expression(formula->scope, searched, options.sense == Sense::maximize));
  model.box = states->space().blocks().front().box;
  model.plain = [formula](Point x) { return formula->value(formula->objectives[0].text, x); };
  return to_problem(std::move(model), "expr:" + options.formula, "expr");
}

/// With integers: the program of the formula, called on the host.
Problem make_host_problem(const SharedFormula& formula, const ExpressionNode& searched,
                          const SharedStates& states, const ExpressionOptions& options) {
  const auto program =
      source_of(compile_expression(formula->scope, searched, options.sense == Sense::maximize));
  Problem problem = make_problem(make_host_objective(
      "expr:" + options.formula, states->space(), [program, states](StateSpan state) {
        return program->evaluate(states->point_of(state), {}).total();
      }));
  problem.identity.name = "expr:" + options.formula;
  problem.identity.family = "expr";
  problem.solution.verify = [formula, states](StateSpan state) {
    return formula->value(formula->objectives[0].text, states->point_of(state));
  };
  return problem;
}

Problem make_single_problem(const SharedFormula& formula, const SharedStates& states,
                            const ExpressionOptions& options) {
  const bool negated = options.sense == Sense::maximize;
  const ExpressionNode& text = formula->objectives[0].text;
  const Penalized searched =
      formula->constraints.empty() ? Penalized{text, 0} : penalized(*formula, negated);
  Problem problem = formula->all_real()
                        ? make_compiled_problem(formula, searched.text, states, options)
                        : make_host_problem(formula, searched.text, states, options);
  problem.units.sense = options.sense;
  const std::optional<double> rounding = rounding_of(*formula, text);
  if (rounding) problem.units.rounding = *rounding + searched.margins;
  problem.units.objective_of_stored = {0, negated ? -1.0 : 1.0};
  const std::size_t constraints = formula->constraints.size();
  if (constraints == 0) return problem;
  problem.identity.sizes.emplace_back("constraints", std::to_string(constraints));
  problem.solution.constraint_values = [formula, states](StateSpan state) {
    std::vector<double> g(formula->constraints.size());
    formula->constraint_values(states->point_of(state), g);
    return g;
  };
  return problem;
}

/// Several objectives: a program for each of them, called on the host, and the texts of the
/// constraints, whose values then are the same wherever they are computed.
Problem make_front_problem(const SharedFormula& formula, const SharedStates& states,
                           const ExpressionOptions& options) {
  std::vector<std::shared_ptr<const DensitySource>> programs;
  Objectives objectives;
  for (const Formula::Objective& one : formula->objectives) {
    programs.push_back(source_of(compile_expression(formula->scope, one.text, one.maximized)));
    objectives.maximized.push_back(one.maximized);
  }
  objectives.constrained = !formula->constraints.empty();
  objectives.evaluate = [formula, states](StateSpan state) {
    const std::vector<double> x = states->point_of(state);
    ObjectiveVector result;
    for (const Formula::Objective& one : formula->objectives) {
      const double value = formula->value(one.text, x);
      result.values.push_back(one.maximized ? -value : value);
    }
    std::vector<double> g(formula->constraints.size());
    formula->constraint_values(x, g);
    result.violation = total_violation(g.data(), static_cast<int>(g.size()));
    return result;
  };
  const int n = static_cast<int>(programs.size());
  const int constraints = static_cast<int>(formula->constraints.size());
  const auto evaluate = [formula, states, programs](StateSpan state, std::span<double> f,
                                                    std::span<double> g) {
    const std::vector<double> x = states->point_of(state);
    for (std::size_t k = 0; k < f.size(); ++k) f[k] = programs[k]->evaluate(x, {}).total();
    formula->constraint_values(x, g);
  };
  return make_multi_objective_problem(
      "expr:" + options.formula, "expr",
      make_host_vector_objective("expr:" + options.formula, states->space(), n, constraints,
                                 evaluate),
      std::move(objectives));
}

}  // namespace

Problem make_expression_problem(const ExpressionOptions& options) {
  check_expression_variables(options);
  const auto formula = std::make_shared<const Formula>(options);
  const auto states = std::make_shared<const FormulaStates>(options.variables);
  Problem problem = formula->objectives.size() > 1 ? make_front_problem(formula, states, options)
                                                   : make_single_problem(formula, states, options);
  formula->require_all_used();
  describe(problem, *formula, states, options);
  return problem;
}

Problem posterior_of_expression(Problem problem) {
  const std::vector<Block>& blocks = problem.objective->space().blocks();
  const bool is_density = blocks.size() == 1 && blocks.front().kind == BlockKind::real &&
                          !problem.objectives && !problem.solution.constraint_values &&
                          problem.units.sense == Sense::minimize;
  if (!is_density) {
    throw InvalidArgument("problem.no_density",
                          "'" + problem.identity.name + "' is not the logarithm of a density",
                          "one formula of real variables without constraints, which is the "
                          "negative logarithm of the density; bounds of variables are walls");
  }
  Quantities quantities;
  for (const VariableModel& one : problem.coordinates) quantities.names.push_back(one.name);
  quantities.compute = [](Point point, std::span<double> values) {
    std::ranges::copy(point, values.begin());
  };
  problem.posterior = Posterior{std::move(quantities)};
  return problem;
}

Problem expression_by_name(const std::string& formula, const ProblemSettings& settings,
                           const ModelData* data) {
  if (formula.find_first_not_of(' ') == std::string::npos) {
    throw InvalidArgument("problem.parameters", "'expr:' does not have the form expr:FORMULA",
                          "a formula of the variables that --var declares",
                          "kiln solve 'expr:(1-x)^2+100*(y-x^2)^2' --var x=real:-2:2 --var "
                          "y=real:-2:2");
  }
  ExpressionOptions options;
  options.formula = formula;
  options.data = data;
  options.sense = detail::sense_of(settings, Sense::minimize);
  options.variables = expression_variables_of(settings);
  for (const std::string& text : detail::texts_of(settings, "subject-to")) {
    const std::vector<std::string> some = detail::split_list(text, ';');
    if (some.empty()) {
      throw InvalidArgument("expr.constraint",
                            "--subject-to '" + detail::printable(text) + "' has no constraint",
                            "one <=, >= or == between two formulas", "--subject-to 'x + y <= 1'");
    }
    std::ranges::copy(some, std::back_inserter(options.constraints));
  }
  return make_expression_problem(options);
}

}  // namespace kiln::problems
