// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/formula.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kiln/device/vector_function.hpp"
#include "kiln/errors.hpp"

#include "expressions/expression_variables.hpp"
#include "readers/text_reader.hpp"

namespace kiln::problems {
namespace {

// Most constraints of one objective.
constexpr std::size_t most_constraints = 1024;

// A part of a text, with blanks for what stands before it, so that columns are those of the text.
ExpressionNode parse_part(const std::string& text, std::size_t begin, std::size_t end) {
  return parse_expression(std::string(begin, ' ') + text.substr(begin, end - begin));
}

// Where the text of an objective ends: a ';' between parentheses separates none.
std::size_t end_of_objective(const std::string& text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (text[at] == ';' && depth <= 0) return at;
  }
  return text.size();
}

std::vector<Formula::Objective> objectives_in(const std::string& text, Sense sense) {
  std::vector<Formula::Objective> objectives;
  const bool several = end_of_objective(text, 0) < text.size();
  if (several && sense == Sense::maximize) {
    throw InvalidArgument("expr.sense",
                          "a formula of several objectives is not maximised as a whole", {},
                          "write max: before each objective to maximise");
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = end_of_objective(text, begin);
    const std::size_t word = std::min(text.find_first_not_of(' ', begin), end);
    const bool most = text.compare(word, 4, "max:") == 0;
    if (most && !several) {
      refuse_expression("expr.sense", word + 1, "'max:' is for formulas of several objectives", {},
                        "--maximize");
    }
    if (objectives.size() == static_cast<std::size_t>(max_objectives)) {
      refuse_expression("expr.size", word + 1, "the formula has over 16 objectives");
    }
    objectives.push_back({parse_part(text, most ? word + 4 : begin, end), most});
    begin = end + 1;
  }
  return objectives;
}

[[noreturn]] void refuse_relation(std::size_t column, const std::string& what) {
  refuse_expression("expr.constraint", column, what, "one <=, >= or == between two formulas",
                    "--subject-to 'x + y <= 1'");
}

// Where the only <=, >= or == stands.
std::size_t relation_in(const std::string& text) {
  std::size_t found = text.npos;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    const bool begins = text[at] == '<' || text[at] == '>' || text[at] == '=';
    if (!begins || (text[at] == '=' && depth > 0)) continue;  // of a range: sum(i=1..n, ...)
    if (text.substr(at + 1, 1) != "=") {
      refuse_relation(at + 1, std::string("'") + text[at] + "' is no relation");
    }
    if (found != text.npos) refuse_relation(at + 1, "a second relation");
    found = at++;
  }
  if (found == text.npos) refuse_relation(text.size() + 1, "there is no relation");
  return found;
}

// Says which of the texts it is that a column is of.
template <class Action>
auto in_constraint(const std::string& text, const Action& action) {
  try {
    return action();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(error.code(),
                          "--subject-to '" + detail::printable(text) + "': " + error.message(),
                          error.expected(), error.fix_steps());
  }
}

Formula::Constraint constraint_in(const std::string& text) {
  const std::size_t at = relation_in(text);
  Formula::Constraint made;
  made.left = parse_part(text, 0, at);
  made.right = parse_part(text, at + 2, text.size());
  made.equality = text[at] == '=';
  if (text[at] == '>') std::swap(made.left, made.right);
  return made;
}

bool has_real(const ExpressionNode& node, const std::vector<ExpressionVariable>& variables) {
  if (node.means == ExpressionNode::Means::variable &&
      variables[node.which].kind == ExpressionVariable::Kind::real) {
    return true;
  }
  return std::ranges::any_of(node.parts,
                             [&](const ExpressionNode& part) { return has_real(part, variables); });
}

void check_constraint(const Formula::Constraint& one,
                      const std::vector<ExpressionVariable>& variables) {
  if (!one.left.varies && !one.right.varies) {
    refuse_expression("expr.constraint", 1, "the constraint has no variable");
  }
  if (!one.equality || !(has_real(one.left, variables) || has_real(one.right, variables))) return;
  refuse_expression("expr.constraint", one.right.column, "an equality has a real variable",
                    "its states are too few for a search by moves to stay among them",
                    "solve it for one variable and write the formulas without this variable, or "
                    "allow a difference: 'abs(x + y - 1) <= 0.001'");
}

}  // namespace

Formula::Formula(const ExpressionOptions& options)
    : variables(options.variables),
      data(options.data != nullptr ? *options.data : ModelData{}),
      scope(variables, &data),
      objectives(objectives_in(options.formula, options.sense)) {
  for (Objective& one : objectives) scope.resolve(one.text);
  if (options.constraints.size() > most_constraints) {
    throw InvalidArgument(
        "expr.size",
        "the formula has " + std::to_string(options.constraints.size()) + " constraints",
        "at most " + std::to_string(most_constraints));
  }
  for (const std::string& text : options.constraints) {
    constraints.push_back(in_constraint(text, [&] {
      Constraint one = constraint_in(text);
      scope.resolve(one.left);
      scope.resolve(one.right);
      check_constraint(one, variables);
      return one;
    }));
  }
}

void Formula::constraint_values(std::span<const double> x, std::span<double> g) const {
  for (std::size_t j = 0; j < constraints.size(); ++j) {
    const Constraint& one = constraints[j];
    g[j] = value(one.left, x) - value(one.right, x);
    if (one.equality) g[j] = std::abs(g[j]) - equality_tolerance;
  }
}

bool Formula::all_real() const {
  return std::ranges::all_of(variables, [](const ExpressionVariable& one) {
    return one.kind == ExpressionVariable::Kind::real;
  });
}

void Formula::require_all_used() const {
  std::vector<const ExpressionNode*> texts;
  for (const Objective& one : objectives) texts.push_back(&one.text);
  for (const Constraint& one : constraints) {
    texts.push_back(&one.left);
    texts.push_back(&one.right);
  }
  const ExpressionVariable* const unused = scope.unused(texts);
  if (unused == nullptr) return;
  throw InvalidArgument("expr.variable",
                        "the formula does not have the variable '" + unused->name + "'", {},
                        "leave its --var out");
}

}  // namespace kiln::problems
