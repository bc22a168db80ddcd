// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families/families.hpp"

#include <algorithm>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"

#include "canonical.hpp"
#include "choices/families.hpp"
#include "continuous/families.hpp"
#include "expensive/families.hpp"
#include "expensive/settings.hpp"
#include "families/model_family.hpp"
#include "generators/generator_limits.hpp"
#include "multi_objective/families.hpp"

namespace kiln {

namespace problems {
namespace {

using detail::Family;
using detail::FamilyParameters;
using detail::ParameterReader;

std::string with_parameters(std::string_view family, std::string_view parameters) {
  return std::string(family) + (parameters.empty() ? "" : ":") + std::string(parameters);
}

/// "G1 G22" of the family gset as "gset:G1" and "gset:G22".
std::vector<std::string> examples_of(const Family& family) {
  std::vector<std::string> examples;
  std::string_view rest = family.examples;
  do {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    examples.push_back(with_parameters(family.name, rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  } while (!rest.empty());
  return examples;
}

}  // namespace

const std::vector<detail::ModelFamily>& detail::model_families() {
  static const std::vector<ModelFamily> all{
#define KILN_MODEL_FAMILY(name) name(),
#include "families/families.def"
#undef KILN_MODEL_FAMILY
  };
  return all;
}

const std::vector<Family>& detail::generators() {
  static const std::vector<Family> all = [] {
    std::vector<Family> joined;
    for (const ModelFamily& family : model_families()) {
      joined.insert(joined.end(), family.generators.begin(), family.generators.end());
    }
    std::ranges::sort(joined, {}, &Family::name);
    return joined;
  }();
  return all;
}

FamilyParameters detail::parse_size_and_seed(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  return parameters;
}

FamilyParameters detail::parse_size_density_seed(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect(',');
  parameters.density_percent = reader.real() + 0.0;  // turns -0 into 0
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  return parameters;
}

std::string detail::print_size_and_seed(const FamilyParameters& parameters) {
  return std::to_string(parameters.n) + "," + std::to_string(parameters.seed);
}

std::string detail::print_size_density_seed(const FamilyParameters& parameters) {
  std::string text = std::to_string(parameters.n) + ",";
  append_number(text, parameters.density_percent);
  return text + "," + std::to_string(parameters.seed);
}

FamilyParameters detail::parse_torus(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect('x');
  parameters.m = reader.size();
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  check_torus(parameters.n, parameters.m);
  return parameters;
}

std::string detail::print_torus(const FamilyParameters& p) {
  return std::to_string(p.n) + "x" + std::to_string(p.m) + "," + std::to_string(p.seed);
}

std::string detail::print_instance(const FamilyParameters& parameters) {
  return parameters.instance;
}

const Family& detail::find_family(std::string_view name) {
  const auto found = std::ranges::find(generators(), name, &Family::name);
  if (found != generators().end()) return *found;
  std::string all;
  for (const Family& family : generators())
    all += (all.empty() ? "" : ", ") + std::string(family.name);
  throw InvalidArgument("problem.unknown",
                        "there is no generator for the problem family '" + std::string(name) + "'",
                        "available: " + all, "kiln list problems");
}

bool is_generated(std::string_view family) {
  return std::ranges::count(detail::generators(), family, &Family::name) > 0;
}

GeneratedProblem generate(std::string_view family, std::string_view parameters) {
  const Family& known = detail::find_family(family);
  const FamilyParameters parsed = detail::parse_parameters(known, parameters);
  return {with_parameters(family, parameters), with_parameters(family, known.print(parsed)),
          known.build(parsed), known.sense};
}

}  // namespace problems

void register_problems(Registry& registry) {
  for (const problems::detail::Family& family : problems::detail::generators()) {
    const std::string name(family.name);
    const auto make = [name](const ProblemRequest& request) {
      problems::GeneratedProblem made = problems::generate(name, request.parameters);
      const Sense sense = problems::detail::sense_of(request.settings, made.sense);
      return make_problem(std::move(made.model), sense, made.name);
    };
    registry.add(ProblemEntry{.name = name,
                              .parameters = std::string(family.form),
                              .sentence = std::string(family.sentence),
                              .examples = problems::examples_of(family),
                              .make = make,
                              .settings = {"sense"}});
  }
  problems::register_choices(registry);
  problems::register_continuous(registry);
  problems::register_expensive(registry);
  problems::register_multi_objective(registry);
}

}  // namespace kiln
