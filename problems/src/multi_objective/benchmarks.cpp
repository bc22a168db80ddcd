// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/objectives/vector_objective.hpp"
#include "kiln/problems/multi_objective.hpp"

#include "checks.hpp"
#include "family_parameters.hpp"
#include "readers/text_reader.hpp"
#include "true_fronts.hpp"

namespace kiln::problems {
namespace {

using detail::Family;
using detail::ParameterReader;
using detail::require_size;
using detail::TrueFront;

constexpr int max_variables = 1 << 20;

/// A number of a family that has a standard, which a name leaves out.
struct Choice {
  int value;
  int standard;
};

/// "dtlz:2,5": the choices up to the last that is not the standard one.
std::string name_of(const std::string& head, const std::vector<Choice>& choices) {
  std::string name = head, pending;
  for (const Choice& choice : choices) {
    pending += "," + std::to_string(choice.value);
    if (choice.value == choice.standard) continue;
    name += pending;
    pending.clear();
  }
  return name;
}

void require_number(const std::string& family, int number, int most) {
  if (number >= 1 && number <= most) return;
  throw InvalidArgument("problem.unknown",
                        "unknown " + family + " '" + std::to_string(number) + "'",
                        "available: 1 .. " + std::to_string(most), "kiln describe " + family);
}

void require_objectives(const std::string& name, int objectives) {
  require_size(objectives >= 2 && objectives <= max_objectives, name,
               objectives == 1 ? "there is 1 objective"
                               : "there are " + std::to_string(objectives) + " objectives",
               "2 .. " + std::to_string(max_objectives));
}

template <class Function>
Problem to_problem(const std::string& name, const std::string& family, const Space& space,
                   const Function& function) {
  TrueFront front = detail::front_of(function);
  Objectives objectives;
  objectives.constrained = function.constraints() > 0;
  objectives.ideal = std::move(front.ideal);
  objectives.nadir = std::move(front.nadir);
  objectives.true_front = std::move(front.points);
  auto source = std::make_shared<CatalogVectorFunctionSource<Function>>(function);
  return make_multi_objective_problem(
      name, family, make_vector_objective(name, space, std::move(source)), std::move(objectives));
}

int standard_variables(int zdt) {
  if (zdt == 5) return 80;
  return zdt < 4 ? 30 : 10;
}

Space space_of(const Zdt& function) {
  if (function.number == 5) return Space::binary(function.variables);
  if (function.number != 4) return Space::reals(function.variables, 0, 1);
  return Space({{BlockKind::real, 1, 0, 1}, {BlockKind::real, function.variables - 1, -5, 5}});
}

int standard_distance(int dtlz) {
  if (dtlz == 1) return 5;
  return dtlz == 7 ? 20 : 10;
}

struct NamedConstraints {
  std::string_view name;
  int number;
  DtlzConstraints kind;
  std::string_view sentence;
};

constexpr NamedConstraints constrained[] = {
    {"c1-dtlz1", 1, DtlzConstraints::c1, "only a strip along the front is feasible"},
    {"c1-dtlz3", 3, DtlzConstraints::c1, "an infeasible barrier lies before the front"},
    {"c2-dtlz2", 2, DtlzConstraints::c2,
     "only the corners and the middle of the front are feasible"},
    {"c3-dtlz1", 1, DtlzConstraints::c3,
     "the constraints form the front, which consists of planes"},
    {"c3-dtlz4", 4, DtlzConstraints::c3,
     "the constraints form the front, which consists of ellipsoids"},
};

const NamedConstraints& find_constrained(const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const NamedConstraints& one : constrained) {
    if (one.name == name) return one;
    names.emplace_back(one.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const std::string near = nearest_name(name, names);
  throw InvalidArgument("problem.unknown",
                        "unknown cdtlz '" + detail::printable(name) + "'" +
                            (near.empty() ? "" : "; the nearest is '" + near + "'"),
                        "available: " + all, "kiln describe cdtlz");
}

// For what the reader of parameters says; these families make no pairwise model.
constexpr Family family_of(std::string_view name, std::string_view form, std::string_view meaning,
                           std::string_view examples) {
  return {name, form, meaning, {}, examples, Sense::minimize, nullptr, nullptr, nullptr};
}

/// Whole numbers with commas between, as many as there may be; those that are not given are 0,
/// which stands for the standard.
std::vector<int> numbers(const Family& family, const std::string& text, std::size_t most) {
  ParameterReader reader(family, text);
  std::vector<int> values;
  do {
    values.push_back(reader.size());
    require_size(values.size() == 1 || values.back() > 0,
                 "'" + std::string(family.name) + ":" + detail::printable(text) + "'",
                 "the number " + std::to_string(values.back()) + " is not above 0");
  } while (values.size() < most && reader.take(","));
  reader.finish();
  values.resize(most, 0);
  return values;
}

}  // namespace

Problem zdt(int number, int variables) {
  require_number("zdt", number, 6);
  const int standard = standard_variables(number);
  if (variables == 0) variables = standard;
  const std::string name = name_of("zdt:" + std::to_string(number), {{variables, standard}});
  const std::string has = "there are " + std::to_string(variables) + " variables";
  require_size(variables >= 2 && variables <= max_variables, name, has,
               "2 .. " + std::to_string(max_variables));
  require_size(
      number != 5 || (variables >= 35 && variables % 5 == 0), name, has,
      "30 bits for the first variable and 5 bits for each other variable: 35, 40, 45, ...");
  const Zdt function{number, variables};
  return to_problem(name, "zdt", space_of(function), function);
}

Problem dtlz(int number, int objectives, int distance) {
  require_number("dtlz", number, 7);
  const int standard = standard_distance(number);
  if (distance == 0) distance = standard;
  const std::string name =
      name_of("dtlz:" + std::to_string(number), {{objectives, 3}, {distance, standard}});
  require_objectives(name, objectives);
  require_size(distance >= 1 && distance <= max_variables, name,
               "the number of distance variables is " + std::to_string(distance),
               "1 .. " + std::to_string(max_variables));
  const Dtlz function{number, objectives, objectives - 1 + distance, DtlzConstraints::none};
  return to_problem(name, "dtlz", Space::reals(function.variables, 0, 1), function);
}

Problem cdtlz(const std::string& name, int objectives) {
  const NamedConstraints& found = find_constrained(name);
  const std::string full = name_of("cdtlz:" + name, {{objectives, 3}});
  require_objectives(full, objectives);
  const int variables = objectives - 1 + standard_distance(found.number);
  const Dtlz function{found.number, objectives, variables, found.kind};
  return to_problem(full, "cdtlz", Space::reals(variables, 0, 1), function);
}

Problem wfg(int number, int objectives, int position, int distance) {
  require_number("wfg", number, 9);
  constexpr int standard_rest = 4;
  const int standard = 2 * (objectives - 1);
  if (position == 0) position = standard;
  if (distance == 0) distance = standard_rest;
  const std::string name =
      name_of("wfg:" + std::to_string(number),
              {{objectives, 2}, {position, standard}, {distance, standard_rest}});
  require_objectives(name, objectives);
  require_size(position >= 1 && position % (objectives - 1) == 0, name,
               "the number of position variables is " + std::to_string(position),
               "a multiple of " + std::to_string(objectives - 1));
  const bool pairs = number == 2 || number == 3;
  require_size(distance >= 1 && (!pairs || distance % 2 == 0), name,
               "the number of distance variables is " + std::to_string(distance),
               pairs ? "an even number" : "at least 1");
  require_size(
      distance <= Wfg::max_variables && position <= Wfg::max_variables - distance, name,
      "there are " + std::to_string(position) + " + " + std::to_string(distance) + " variables",
      "at most " + std::to_string(Wfg::max_variables));
  const Wfg function{number, objectives, position, distance};
  return to_problem(name, "wfg", Space::reals(function.variables(), 0, 1), function);
}

Problem zdt_by_name(const std::string& text) {
  constexpr Family family =
      family_of("zdt", "NUMBER,D", "NUMBER is 1 to 6; the number of variables D is optional", "1");
  const std::vector<int> n = numbers(family, text, 2);
  return zdt(n[0], n[1]);
}

Problem dtlz_by_name(const std::string& text) {
  constexpr Family family = family_of(
      "dtlz", "NUMBER,M,K",
      "NUMBER is 1 to 7; the numbers of objectives M and distance variables K are optional", "2,3");
  const std::vector<int> n = numbers(family, text, 3);
  return dtlz(n[0], n[1] == 0 ? 3 : n[1], n[2]);
}

Problem cdtlz_by_name(const std::string& text) {
  constexpr Family family = family_of(
      "cdtlz", "NAME,M", "NAME is for example c2-dtlz2; the number of objectives M is optional",
      "c2-dtlz2,3");
  const std::size_t comma = text.find(',');
  const std::string name = text.substr(0, comma);
  if (comma == std::string::npos) return cdtlz(name);
  ParameterReader reader(family, text);
  reader.take(find_constrained(name).name);
  reader.expect(',');
  const int objectives = reader.size();
  reader.finish();
  return cdtlz(name, objectives);
}

Problem wfg_by_name(const std::string& text) {
  constexpr Family family = family_of("wfg", "NUMBER,M,K,L",
                                      "NUMBER is 1 to 9; the numbers of objectives M, position "
                                      "variables K and distance variables L are optional",
                                      "4,3,4,10");
  const std::vector<int> n = numbers(family, text, 4);
  return wfg(n[0], n[1] == 0 ? 2 : n[1], n[2], n[3]);
}

Problem engineering_design_by_name(const std::string& text) {
  constexpr Family family = family_of("re", "NUMBER", "a number: 21 .. 25, 31 .. 37", "21");
  return engineering_design(numbers(family, text, 1)[0]);
}

std::vector<NamedSentence> cdtlz_names() {
  std::vector<NamedSentence> names;
  for (const NamedConstraints& one : constrained) {
    names.push_back({std::string(one.name), std::string(one.sentence)});
  }
  return names;
}

}  // namespace kiln::problems
