// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "builtin.hpp"

#include "kiln/schedules/bayesian_optimization.hpp"
#include "kiln/schedules/hmc.hpp"
#include "kiln/schedules/multi_objective.hpp"
#include "kiln/schedules/parallel_tempering.hpp"
#include "kiln/schedules/population_annealing.hpp"
#include "kiln/schedules/replica_exchange.hpp"
#include "kiln/schedules/simulated_annealing.hpp"
#include "kiln/schedules/tabu_coloring.hpp"

namespace kiln {

void register_schedules(Registry& registry) {
  registry.add(ScheduleEntry{"simulated-annealing",
                             "many independent replicas cooled from hot to cold, in rounds; the "
                             "default for discrete problems",
                             SimulatedAnnealingOptions::table().fields(), [](const auto& texts) {
                               return std::make_unique<SimulatedAnnealing>(
                                   SimulatedAnnealingOptions::table().parse(
                                       texts, "schedule 'simulated-annealing'"));
                             }});
  registry.add(ScheduleEntry{"parallel-tempering",
                             "ladders of replicas at fixed temperatures that exchange places; "
                             "samples the Boltzmann law of each",
                             ParallelTemperingOptions::table().fields(), [](const auto& texts) {
                               return std::make_unique<ParallelTempering>(
                                   ParallelTemperingOptions::table().parse(
                                       texts, "schedule 'parallel-tempering'"));
                             }});
  registry.add(ScheduleEntry{"population-annealing",
                             "a population cooled step by step, in which replicas die and others "
                             "are copied; gives free energies",
                             PopulationAnnealingOptions::table().fields(), [](const auto& texts) {
                               return std::make_unique<PopulationAnnealing>(
                                   PopulationAnnealingOptions::table().parse(
                                       texts, "schedule 'population-annealing'"));
                             }});
  registry.add(ScheduleEntry{"hmc",
                             "Hamiltonian Monte Carlo: samples densities by their gradient, with "
                             "NUTS or ChEES; anneals smooth functions",
                             HmcOptions::table().fields(),
                             [](const auto& texts) {
                               return std::make_unique<Hmc>(
                                   HmcOptions::table().parse(texts, "schedule 'hmc'"));
                             },
                             true, false, false, "posterior:eight-schools"});
  registry.add(ScheduleEntry{"bayesian-optimization",
                             "a model of an expensive objective that says where to look next; "
                             "constraints, categories, failures, batches",
                             BayesianOptimizationOptions::table().fields(),
                             [](const auto& texts) {
                               return std::make_unique<BayesianOptimization>(
                                   BayesianOptimizationOptions::table().parse(
                                       texts, "schedule 'bayesian-optimization'"));
                             },
                             false, false, true, "constrained:gramacy"});
  registry.add(ScheduleEntry{"multi-objective",
                             "fronts of several objectives: populations ranked by dominance, "
                             "sub-problems, or annealing beside an archive",
                             MultiObjectiveOptions::table().fields(),
                             [](const auto& texts) {
                               return std::make_unique<MultiObjective>(
                                   MultiObjectiveOptions::table().parse(
                                       texts, "schedule 'multi-objective'"));
                             },
                             false, true, false, "zdt:1"});
  registry.add(ScheduleEntry{"replica-exchange",
                             "ladders over temperature, a parameter of the Hamiltonian or both, "
                             "with annealing walkers beside them",
                             ReplicaExchangeOptions::table().fields(), [](const auto& texts) {
                               return std::make_unique<ReplicaExchange>(
                                   ReplicaExchangeOptions::table().parse(
                                       texts, "schedule 'replica-exchange'"));
                             }});
  registry.add(
      ScheduleEntry{"tabu-coloring",
                    "tabu search for the fewest colours of a graph; the default of "
                    "--colors min",
                    TabuColoringOptions::table().fields(),
                    [](const auto& texts) {
                      return std::make_unique<TabuColoring>(
                          TabuColoringOptions::table().parse(texts, "schedule 'tabu-coloring'"));
                    },
                    false, false, false, "coloring:queen9,min"});
}

}  // namespace kiln
