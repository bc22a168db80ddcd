// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/evolutionary.hpp"

#include "fronts/front_options.hpp"

namespace kiln {

const OptionTable<EvolutionaryOptions>& EvolutionaryOptions::table() {
  using O = EvolutionaryOptions;
  constexpr std::int64_t many = 1 << 20;
  static const auto table = [] {
    OptionTable<O> declared;
    declared
        .choice("strategy", &O::strategy, {"nsga2", "nsga3", "moead", "sms-emoa"},
                "Rule that selects the survivors of a generation.",
                "nsga2 compares crowding distances. nsga3 fills niches of reference lines and is "
                "for three or more objectives. moead solves one scalarised sub-problem for each "
                "member. sms-emoa compares contributions to the hypervolume and is for two or "
                "three objectives.")
        .integer("population", &O::population, {4, many, Automatic{0}}, "",
                 "Number of members of each island.",
                 "Automatic is 100. With strategy=nsga3 or moead automatic is the number of "
                 "reference lines, at most 100.")
        .integer("generations", &O::generations, {0, std::int64_t{1} << 53, Automatic{0}},
                 "generations", "Number of generations of each population.",
                 "Automatic is 250 if the run has no other limit.")
        .integer("islands", &O::islands, {1, many}, "",
                 "Number of populations side by side, between which members migrate.",
                 "The islands form a ring: members migrate from each island to the next.")
        .integer("migration_interval", &O::migration_interval, {0, many}, "generations",
                 "Number of generations between two migrations; 0 turns migration off.")
        .integer("migrants", &O::migrants, {0, many, Automatic{0}}, "",
                 "Number of members that move to the next island in a migration.",
                 "Automatic is a twentieth of the population.")
        .choice("crossover", &O::crossover, {"automatic", "sbx", "differential", "uniform", "none"},
                "Crossover operator for reals and integers.",
                "Automatic is simulated binary crossover (sbx). For bits, spins and categories "
                "parents exchange values. For permutations the operator is order crossover.")
        .real("crossover_probability", &O::crossover_probability, {0, 1}, "",
              "Probability that a pair of parents is crossed.")
        .real("crossover_index", &O::crossover_index, {0, 1000}, "",
              "Distribution index of sbx; a larger index gives children closer to parents.")
        .real("differential_scale", &O::differential_scale, {0, 2}, "",
              "Scale factor F of differential crossover.")
        .real("differential_rate", &O::differential_rate, {0, 1}, "",
              "Crossover rate CR of differential crossover.",
              "CR is the fraction of the variables that differential crossover changes.")
        .real("mutation_probability", &O::mutation_probability, {0, 1, Automatic{0}}, "",
              "Probability that a variable mutates.",
              "Automatic is one over the number of variables. For permutations: probability of "
              "reversing a segment, at least 0.3.")
        .real("mutation_index", &O::mutation_index, {0, 1000, Automatic{0}}, "",
              "Distribution index of polynomial mutation.",
              "A larger index gives smaller steps. Automatic is 20.")
        .integer("neighbors", &O::neighbors, {2, 4096}, "",
                 "Number of neighbouring sub-problems that mate and compete in moead.")
        .real("neighbor_share", &O::neighbor_share, {0, 1}, "",
              "Fraction of the moead matings that stay within a neighbourhood.")
        .integer("replacements", &O::replacements, {1, 4}, "",
                 "Maximum number of sub-problems whose member one moead child replaces.")
        .choice("decomposition", &O::decomposition,
                {"chebyshev", "augmented", "weighted-sum", "boundary-intersection"},
                "Scalarising function that each moead sub-problem minimises.");
    return add_front_options(declared, "a population", crowded_members_leave,
                             "a sample of the space");
  }();
  return table;
}

}  // namespace kiln
