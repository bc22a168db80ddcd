// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "builtin.hpp"

#include <string>
#include <utility>
#include <vector>

#include "kiln/schedules/all.hpp"

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
  return entry;
}

}  // namespace

// No alias is the name of a problem family (`re`, `sk`): both are said to `kiln describe`.
void register_schedules(Registry& registry) {
  registry.add(entry_of<SimulatedAnnealing>(
      "simulated-annealing", {"sa", "annealing"},
      "independent replicas cooled from hot to cold, in rounds; the default for discrete "
      "problems"));
  registry.add(entry_of<ParallelTempering>(
      "parallel-tempering", {"pt", "tempering"},
      "ladders of replicas at fixed temperatures that exchange places; samples the Boltzmann "
      "distribution of each"));
  registry.add(entry_of<PopulationAnnealing>(
      "population-annealing", {"pa", "population"},
      "a population cooled in steps, with resampling of its replicas; estimates free energies"));
  ScheduleEntry hmc = entry_of<Hmc>(
      "hmc", {"nuts", "hamiltonian"},
      "Hamiltonian Monte Carlo with NUTS or ChEES: samples densities by their gradient, anneals "
      "smooth functions");
  hmc.samples = true;
  hmc.example = "posterior:eight-schools";
  registry.add(std::move(hmc));
  ScheduleEntry bayesian = entry_of<BayesianOptimization>(
      "bayesian-optimization", {"bo", "bayesian"},
      "Gaussian-process optimisation of expensive objectives; constraints, categories, failures, "
      "batches");
  bayesian.few_evaluations = true;
  bayesian.constraints = true;
  bayesian.example = "constrained:gramacy";
  registry.add(std::move(bayesian));
  ScheduleEntry fronts = entry_of<MultiObjective>(
      "multi-objective", {"mo", "evolution", "pareto"},
      "fronts of several objectives: populations ranked by dominance, sub-problems, or annealing "
      "beside an archive");
  fronts.several_objectives = true;
  fronts.example = "zdt:1";
  registry.add(std::move(fronts));
  registry.add(
      entry_of<RandomSearch>("random-search", {}, "random states; a baseline for comparisons"));
  registry.add(entry_of<ReplicaExchange>(
      "replica-exchange", {"exchange"},
      "ladders over temperature, a parameter of the Hamiltonian or both, with optional annealing "
      "walkers"));
  ScheduleEntry coloring = entry_of<TabuColoring>(
      "tabu-coloring", {"tabu", "tabucol"},
      "tabu search for the fewest colours of a graph; the default for --colors min");
  coloring.example = "coloring:queen9,min";
  registry.add(std::move(coloring));
}

}  // namespace kiln
