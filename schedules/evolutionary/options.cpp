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
                "`nsga2`, `nsga3` and `sms-emoa` compare nondomination ranks first. At equal rank, "
                "`nsga2` prefers states with a larger crowding distance. At equal rank, `nsga3` "
                "prefers states near reference lines with few states; use `nsga3` for three or "
                "more objectives. At equal rank, `sms-emoa` prefers states with a larger "
                "contribution to the hypervolume; use `sms-emoa` for two or three objectives. "
                "`moead` solves one scalarised sub-problem for each member.")
        .integer("population", &O::population, {4, many, Automatic{0}}, "",
                 "Number of members of each island.",
                 "Automatic (0) takes 100. With strategy=nsga3, automatic takes the number of "
                 "reference directions, rounded up to an even number. With strategy=moead, each "
                 "reference direction has one member. The number of reference directions is at "
                 "most the given population, or at most 100.")
        .integer("generations", &O::generations, {0, std::int64_t{1} << 53, Automatic{0}},
                 "generations", "Number of generations of each island.",
                 "If the run has no other limit, automatic (0) takes 250.")
        .integer("islands", &O::islands, {1, many}, "",
                 "Number of islands: populations that evolve in parallel.",
                 "The islands form a ring, and members migrate from each island to the next "
                 "island.")
        .integer("migration_interval", &O::migration_interval, {0, many}, "generations",
                 "Number of generations between two migrations; 0 turns migration off.")
        .integer("migrants", &O::migrants, {0, many, Automatic{0}}, "",
                 "Number of members that a migration copies from each island to the next.",
                 "Automatic (0) takes a twentieth of the population.")
        .choice("crossover", &O::crossover, {"automatic", "sbx", "differential", "uniform", "none"},
                "Crossover operator for reals and integers.",
                "Automatic takes `sbx`, simulated binary crossover. Bits, spins and categories use "
                "uniform crossover, and permutations use order crossover. `none` turns crossover "
                "off for all variables.")
        .real("crossover_probability", &O::crossover_probability, {0, 1}, "",
              "Probability that crossover changes a pair of parents.",
              "Differential crossover ignores this probability.")
        .real("crossover_index", &O::crossover_index, {0, 1000}, "",
              "Distribution index of sbx; a larger index gives children closer to parents.")
        .real("differential_scale", &O::differential_scale, {0, 2}, "",
              "Scale factor F of differential crossover.")
        .real("differential_rate", &O::differential_rate, {0, 1}, "",
              "Crossover rate CR of differential crossover.",
              "CR is the probability that differential crossover changes a variable.")
        .real("mutation_probability", &O::mutation_probability, {0, 1, Automatic{0}}, "",
              "Probability that a variable mutates.",
              "Automatic (0) takes 1 divided by the number of variables. A permutation reverses a "
              "segment with this probability, but at least with probability 0.3.")
        .real("mutation_index", &O::mutation_index, {0, 1000, Automatic{0}}, "",
              "Distribution index of polynomial mutation.",
              "A larger index gives smaller steps. Automatic (0) takes 20.")
        .integer("neighbors", &O::neighbors, {2, 4096}, "",
                 "Number of sub-problems in a neighbourhood, for strategy=moead.")
        .real("neighbor_share", &O::neighbor_share, {0, 1}, "",
              "Probability that parents come from one neighbourhood, for strategy=moead.")
        .integer("replacements", &O::replacements, {1, 4}, "",
                 "Maximum number of members that a child replaces, for strategy=moead.")
        .choice("decomposition", &O::decomposition,
                {"chebyshev", "augmented", "weighted-sum", "boundary-intersection"},
                "Scalarising function that each sub-problem minimises, for strategy=moead.");
    return add_front_options(declared, "the front", "", "64 random states");
  }();
  return table;
}

}  // namespace kiln
