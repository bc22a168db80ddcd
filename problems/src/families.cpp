// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include <algorithm>
#include <iterator>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"

#include "canonical.hpp"
#include "continuous/families.hpp"
#include "expensive/families.hpp"
#include "expensive/settings.hpp"
#include "family_parameters.hpp"
#include "generators/generator_limits.hpp"
#include "generators/palubeckis.hpp"
#include "multi_objective/families.hpp"

namespace kiln {

namespace problems {
namespace {

using detail::Family;
using detail::FamilyParameters;
using detail::ParameterReader;

FamilyParameters parse_gset(const Family&, std::string_view text) {
  detail::check_gset_name(text);
  FamilyParameters parameters;
  parameters.instance = text;
  return parameters;
}

FamilyParameters parse_nothing(const Family& family, std::string_view text) {
  ParameterReader(family, text).finish();
  return {};
}

FamilyParameters parse_torus(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect('x');
  parameters.m = reader.size();
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  detail::check_torus(parameters.n, parameters.m);
  return parameters;
}

FamilyParameters parse_size_and_seed(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  return parameters;
}

FamilyParameters parse_sk(const Family& family, std::string_view text) {
  FamilyParameters parameters = parse_size_and_seed(family, text);
  detail::check_complete("a Sherrington-Kirkpatrick model", parameters.n);
  return parameters;
}

FamilyParameters parse_size_density_seed(const Family& family, std::string_view text) {
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

FamilyParameters parse_random(const Family& family, std::string_view text) {
  FamilyParameters parameters = parse_size_density_seed(family, text);
  detail::check_random_graph(parameters.n, parameters.density_percent);
  return parameters;
}

FamilyParameters parse_palubeckis(const Family& family, std::string_view text) {
  if (text.starts_with('p')) {
    const detail::PalubeckisSpec spec = detail::named_palubeckis(text);
    return {{}, spec.n, 0, spec.density_percent, spec.seed};
  }
  FamilyParameters parameters = parse_size_density_seed(family, text);
  detail::check_palubeckis(parameters.n, parameters.density_percent, parameters.seed);
  return parameters;
}

FamilyParameters parse_coloring(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  for (const std::string_view name : {"queen", "myciel"}) {
    if (parameters.instance.empty() && reader.take(name)) parameters.instance = name;
  }
  parameters.n = reader.size();
  reader.expect(',');
  if (parameters.instance.empty()) {
    parameters.density_percent = reader.real() + 0.0;  // turns -0 into 0
    reader.expect(',');
  }
  parameters.values = reader.take("min") ? Coloring::fewest : reader.size();
  if (parameters.instance.empty()) {
    reader.expect(',');
    parameters.seed = reader.seed();
  }
  reader.finish();
  if (parameters.values != Coloring::fewest) {
    detail::check_values(parameters.values, Coloring::most_colors);
  }
  if (parameters.instance == "queen") detail::check_queen(parameters.n);
  if (parameters.instance == "myciel") detail::check_mycielski(parameters.n);
  if (parameters.instance.empty()) {
    detail::check_random_graph(parameters.n, parameters.density_percent);
  }
  return parameters;
}

FamilyParameters parse_potts(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect('x');
  parameters.m = reader.size();
  reader.expect(',');
  parameters.values = reader.size();
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  detail::check_torus(parameters.n, parameters.m);
  detail::check_values(parameters.values, Potts::most_values);
  return parameters;
}

PairwiseModel build_coloring(const FamilyParameters& p) {
  if (p.instance == "queen") return Coloring{queen_graph(p.n), p.values};
  if (p.instance == "myciel") return Coloring{mycielski_graph(p.n), p.values};
  return Coloring{random_graph(p.n, p.density_percent, p.seed), p.values};
}

std::string print_instance(const FamilyParameters& p) { return p.instance; }

std::string print_torus(const FamilyParameters& p) {
  return std::to_string(p.n) + "x" + std::to_string(p.m) + "," + std::to_string(p.seed);
}

std::string print_size_and_seed(const FamilyParameters& p) {
  return std::to_string(p.n) + "," + std::to_string(p.seed);
}

std::string print_size_density_seed(const FamilyParameters& p) {
  std::string text = std::to_string(p.n) + ",";
  detail::append_number(text, p.density_percent);
  return text + "," + std::to_string(p.seed);
}

std::string print_coloring(const FamilyParameters& p) {
  const std::string colors =
      p.values == Coloring::fewest ? std::string("min") : std::to_string(p.values);
  std::string text = p.instance + std::to_string(p.n) + ",";
  if (!p.instance.empty()) return text + colors;
  detail::append_number(text, p.density_percent);
  return text + "," + colors + "," + std::to_string(p.seed);
}

std::string print_potts(const FamilyParameters& p) {
  return std::to_string(p.n) + "x" + std::to_string(p.m) + "," + std::to_string(p.values) + "," +
         std::to_string(p.seed);
}

constexpr Family all_families[] = {
    {"coloring", "GRAPH,COLORS",
     "queenN or mycielN and colours, or N,DENSITY,COLORS,SEED; COLORS may be min",
     "graph colouring, conflicts minimised, or with min the colours; queen8 is a board, myciel4 a "
     "Mycielski graph, and "
     "N,DENSITY,COLORS,SEED a random graph",
     "queen8,9 myciel4,5 125,10,5,1", Sense::minimize, parse_coloring, print_coloring,
     build_coloring},
    {"gset", "G1 .. G81", "a name of the G-set",
     "the 71 Max-Cut graphs of the G-set, generated bit for bit", "G1 G22 G81", Sense::maximize,
     parse_gset, print_instance,
     [](const FamilyParameters& p) -> PairwiseModel { return gset(p.instance); }},
    {"k2000", "", "no parameters",
     "Max-Cut on the complete graph of 2000 vertices with weights -1 and +1, best known cut 33337",
     "", Sense::maximize, parse_nothing, print_instance,
     [](const FamilyParameters&) -> PairwiseModel { return k2000(); }},
    {"palubeckis", "N,DENSITY,SEED",
     "a size, a density in per cent and a seed, or p3000.1 .. p7000.3",
     "dense QUBO with coefficients -100 .. 100, maximised; p3000.1 .. p7000.3 are the published 21",
     "3000,50,31000 p3000.1", Sense::maximize, parse_palubeckis, print_size_density_seed,
     [](const FamilyParameters& p) -> PairwiseModel {
       return palubeckis(p.n, p.density_percent, p.seed);
     }},
    {"potts", "AxB,Q,SEED", "two side lengths, a number of values and a seed",
     "Potts glass on an A x B torus: Q values, couplings -1 and +1, energy minimised", "30x20,4,1",
     Sense::minimize, parse_potts, print_potts,
     [](const FamilyParameters& p) -> PairwiseModel {
       return potts_torus(p.n, p.m, p.values, p.seed);
     }},
    {"random", "N,DENSITY,SEED", "a size, a density in per cent and a seed",
     "Max-Cut on a random graph with weights 1, DENSITY in per cent of all pairs", "800,6,8001",
     Sense::maximize, parse_random, print_size_density_seed,
     [](const FamilyParameters& p) -> PairwiseModel {
       return random_graph(p.n, p.density_percent, p.seed);
     }},
    {"sk", "N,SEED", "a size and a seed",
     "Sherrington-Kirkpatrick spin glass: N spins, all coupled by -1 or +1, energy minimised",
     "1000,1", Sense::minimize, parse_sk, print_size_and_seed,
     [](const FamilyParameters& p) -> PairwiseModel {
       return sherrington_kirkpatrick(p.n, p.seed);
     }},
    {"torus", "AxB,SEED", "two side lengths and a seed",
     "Max-Cut on an A x B torus with random weights -1 and +1", "50x40,1", Sense::maximize,
     parse_torus, print_torus,
     [](const FamilyParameters& p) -> PairwiseModel { return torus_pm1(p.n, p.m, p.seed); }},
};

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

const Family& detail::find_family(std::string_view name) {
  const auto* const found = std::ranges::find(all_families, name, &Family::name);
  if (found != std::end(all_families)) return *found;
  std::string all;
  for (const Family& family : all_families)
    all += (all.empty() ? "" : ", ") + std::string(family.name);
  throw InvalidArgument("problem.unknown",
                        "no generator for the problem family '" + std::string(name) + "'",
                        "there are: " + all, "kiln list problems");
}

GeneratedProblem generate(std::string_view family, std::string_view parameters) {
  const Family& known = detail::find_family(family);
  const FamilyParameters parsed = detail::parse_parameters(known, parameters);
  return {with_parameters(family, parameters), with_parameters(family, known.print(parsed)),
          known.build(parsed), known.sense};
}

}  // namespace problems

void register_problems(Registry& registry) {
  for (const problems::detail::Family& family : problems::all_families) {
    const std::string name(family.name);
    const auto make = [name](const std::string& parameters, const ProblemSettings& settings) {
      problems::GeneratedProblem made = problems::generate(name, parameters);
      const Sense sense = problems::detail::sense_of(settings, made.sense);
      return make_pairwise(std::move(made.model), sense, made.name);
    };
    registry.add(ProblemEntry{name,
                              std::string(family.form),
                              std::string(family.sentence),
                              problems::examples_of(family),
                              [make](const std::string& text) { return make(text, {}); },
                              {},
                              {},
                              make,
                              {"sense"}});
  }
  problems::register_continuous(registry);
  problems::register_expensive(registry);
  problems::register_multi_objective(registry);
}

}  // namespace kiln
