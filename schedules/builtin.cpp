// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "builtin.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/schedules/all.hpp"

#include "multi_objective/renamed.hpp"

namespace kiln {
namespace {

template <class Options, class... Interfaces>
Options options_of(const ScheduleOf<Options, Interfaces...>&);

template <class Made>
ScheduleEntry entry_of(const std::string& name, std::vector<std::string> aliases,
                       std::string sentence) {
  using Options = decltype(options_of(std::declval<const Made&>()));
  ScheduleEntry entry;
  entry.name = name;
  entry.aliases = std::move(aliases);
  entry.sentence = std::move(sentence);
  entry.example = "gset:G22";
  entry.fields = Options::table().fields();
  entry.make = [what = "schedule '" + name + "'"](const auto& texts) {
    return std::make_unique<Made>(Options::table().parse(texts, what));
  };
  entry.former_names_in = [](const OptionTexts& texts) {
    return Options::table().former_names_in(texts);
  };
  return entry;
}

// Makes a schedule from parameters of version 0.1 or from present ones.
auto make_renamed(Registry& registry, const ScheduleEntry& entry) {
  std::map<std::string, decltype(entry.make)> makers{{entry.name, entry.make}};
  for (const char* other : {"amosa", "bayesian-front"}) {
    makers.emplace(other, registry.schedule(other).make);
  }
  return [makers](const std::map<std::string, std::string>& texts) {
    const std::optional<RenamedSchedule> now = renamed_multi_objective(texts);
    if (!now) return makers.at("evolutionary")(texts);
    const std::string cooling_sweeps = "cooling_sweeps";
    std::map<std::string, std::string> present;
    for (const RenamedSchedule::Parameter& one : now->parameters) {
      // The command line makes it a limit of the budget.
      const std::string& name = one.name == "sweeps" ? cooling_sweeps : one.name;
      if (!name.empty()) present[name] = one.text;
    }
    return makers.at(now->name)(present);
  };
}

void register_front_schedules(Registry& registry) {
  ScheduleEntry evolutionary =
      entry_of<Evolutionary>("evolutionary", {"evolution", "pareto", "mo", "moea"},
                             "evolutionary search for fronts of several objectives: NSGA-II, "
                             "NSGA-III, MOEA/D, SMS-EMOA");
  evolutionary.several_objectives = true;
  evolutionary.is_default = true;
  evolutionary.example = "zdt:1";
  evolutionary.former_names = {"multi-objective"};
  evolutionary.renamed = renamed_multi_objective;
  ScheduleEntry amosa = entry_of<Amosa>(
      "amosa", {}, "search for fronts of several objectives: annealing chains share one archive");
  amosa.several_objectives = true;
  amosa.example = "zdt:1";
  registry.add(std::move(amosa));
  ScheduleEntry models = entry_of<BayesianFront>(
      "bayesian-front", {"ehvi"},
      "Bayesian optimisation of several expensive objectives; supports constraints, categories, "
      "batches");
  models.several_objectives = true;
  models.few_evaluations = true;
  models.example = "zdt:1,4";
  registry.add(std::move(models));
  evolutionary.make = make_renamed(registry, evolutionary);
  registry.add(std::move(evolutionary));
}

}  // namespace

// No alias is the name of a problem family (`re`, `sk`): both are said to `kiln describe`.
void register_schedules(Registry& registry) {
  registry.add(entry_of<SimulatedAnnealing>(
      "simulated-annealing", {"sa", "annealing"},
      "annealing of independent replicas, in rounds; the default for most problems with one "
      "objective"));
  registry.add(entry_of<ParallelTempering>(
      "parallel-tempering", {"pt", "tempering"},
      "exchange of replicas between the temperatures of a ladder; samples Boltzmann "
      "distributions"));
  registry.add(entry_of<PopulationAnnealing>(
      "population-annealing", {"pa", "population"},
      "a population of replicas, resampled at each step of cooling; estimates free energies"));
  ScheduleEntry hmc = entry_of<Hmc>(
      "hmc", {"nuts", "hamiltonian"},
      "Hamiltonian Monte Carlo with NUTS or ChEES: samples densities, anneals smooth functions");
  hmc.samples = true;
  hmc.example = "posterior:eight-schools";
  registry.add(std::move(hmc));
  ScheduleEntry bayesian = entry_of<BayesianOptimization>(
      "bayesian-optimization", {"bo", "bayesian"},
      "Bayesian optimisation of one expensive objective; supports constraints, categories, "
      "failures, batches");
  bayesian.few_evaluations = true;
  bayesian.constraints = true;
  bayesian.example = "constrained:gramacy";
  registry.add(std::move(bayesian));
  register_front_schedules(registry);
  registry.add(entry_of<RandomSearch>("random-search", {},
                                      "independent random states; a baseline for comparisons"));
  ScheduleEntry bifurcation = entry_of<SimulatedBifurcation>(
      "simulated-bifurcation", {"sb", "bifurcation"},
      "coupled oscillators that bifurcate while a pump rises; for dense QUBO and Max-Cut");
  bifurcation.example = "k2000";
  registry.add(std::move(bifurcation));
  registry.add(entry_of<ReplicaExchange>(
      "replica-exchange", {"exchange"},
      "exchange of replicas between temperatures, parameters of the Hamiltonian, or both"));
  ScheduleEntry coloring =
      entry_of<TabuColoring>("tabu-coloring", {"tabu", "tabucol"},
                             "tabu search for colourings with a given number or the fewest "
                             "colours; the default for colourings");
  coloring.example = "coloring:queen9,min";
  registry.add(std::move(coloring));
}

}  // namespace kiln
