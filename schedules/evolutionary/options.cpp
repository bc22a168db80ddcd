// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kiln/schedules/evolutionary.hpp"

namespace kiln {

const OptionTable<EvolutionaryOptions>& EvolutionaryOptions::table() {
  using O = EvolutionaryOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  constexpr std::int64_t many = 1 << 20;
  static const auto table =
      OptionTable<O>()
          .choice("strategy", &O::strategy, {"nsga2", "nsga3", "moead", "sms-emoa"},
                  "Selects the survivors of a generation.",
                  "nsga2 compares crowding distances. nsga3 fills niches of reference lines and is "
                  "for three objectives and more. moead solves one scalarised sub-problem for each "
                  "member. sms-emoa compares contributions to the hypervolume and is for two or "
                  "three objectives.")
          .integer("population", &O::population, {4, many, Automatic{0}}, "",
                   "Number of members of each island.",
                   "Automatic is 100, or the number of reference lines nearest to that.")
          .integer("generations", &O::generations, {0, std::int64_t{1} << 53, Automatic{0}},
                   "generations", "Number of generations of each population.",
                   "Automatic is 250 where no other limit is given.")
          .integer("islands", &O::islands, {1, many}, "",
                   "Number of populations side by side; members migrate along their ring.")
          .integer("migration_interval", &O::migration_interval, {0, many}, "generations",
                   "Interval between two migrations; 0 keeps the islands apart.")
          .integer("migrants", &O::migrants, {0, many, Automatic{0}}, "",
                   "Number of members that move to the next island in a migration.",
                   "Automatic is a twentieth of the population.")
          .choice("crossover", &O::crossover,
                  {"automatic", "sbx", "differential", "uniform", "none"},
                  "Crosses the reals and integers of two parents in this way.",
                  "Automatic is simulated binary crossover (sbx). Bits, spins and categories are "
                  "exchanged, permutations are crossed by order.")
          .real("crossover_probability", &O::crossover_probability, {0, 1}, "",
                "Probability that a pair of parents is crossed.")
          .real("crossover_index", &O::crossover_index, {0, 1000}, "",
                "Distribution index of sbx; a larger one keeps children nearer to parents.")
          .real("differential_scale", &O::differential_scale, {0, 2}, "",
                "Scale factor F of differential crossover.")
          .real("differential_rate", &O::differential_rate, {0, 1}, "",
                "Crossover rate CR of differential crossover.",
                "It is the fraction of the variables that are crossed.")
          .real("mutation_probability", &O::mutation_probability, {0, 1, Automatic{0}}, "",
                "Probability that a variable mutates.",
                "Automatic is one over the number of variables. Of a permutation it is the "
                "probability that a part is reversed, and 0.3 or more.")
          .real("mutation_index", &O::mutation_index, {0, 1000, Automatic{0}}, "",
                "Distribution index of polynomial mutation; a larger one makes small steps.",
                "Automatic is 20.")
          .integer("neighbors", &O::neighbors, {2, 4096}, "",
                   "Number of neighbouring sub-problems of moead that mate and compete.")
          .real("neighbor_share", &O::neighbor_share, {0, 1}, "",
                "Fraction of the matings of moead that stay within a neighbourhood.")
          .integer("replacements", &O::replacements, {1, 4}, "",
                   "Maximum number of sub-problems that one child of moead takes.")
          .choice("decomposition", &O::decomposition,
                  {"chebyshev", "augmented", "weighted-sum", "boundary-intersection"},
                  "Scalarising function that a sub-problem of moead minimises.")
          .reals("epsilon", &O::epsilon, {tiny, huge}, "", "none",
                 "Side lengths of grid boxes; a population keeps one member of each box.",
                 "Give one value for each objective, or one for all. Members of a dominated box "
                 "leave. Without epsilon the most crowded members leave.")
          .reals("reference", &O::reference, {-huge, huge}, "", "automatic",
                 "Reference point of the hypervolume, in the units of the objectives.",
                 "Automatic lies beyond the worst values of the true front, or else of a sample "
                 "of the space, by a tenth of their range.");
  return table;
}

}  // namespace kiln
