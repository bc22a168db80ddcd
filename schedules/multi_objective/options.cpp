// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kiln/schedules/multi_objective.hpp"

namespace kiln {

const OptionTable<MultiObjectiveOptions>& MultiObjectiveOptions::table() {
  using O = MultiObjectiveOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  constexpr std::int64_t many = 1 << 20;
  static const auto table =
      OptionTable<O>()
          .choice(
              "strategy", &O::strategy,
              {"nsga2", "nsga3", "moead", "sms-emoa", "amosa", "surrogate"},
              "How a population spreads over the front: nsga2 by crowding distance, nsga3 over "
              "reference lines (three objectives and more), moead by one sub-problem for each "
              "member, sms-emoa by contributions to the volume (two or three objectives), amosa "
              "by annealing replicas beside an archive, surrogate by models of the objectives, "
              "for functions of which few evaluations can be paid (two to four objectives).")
          .integer("population", &O::population, {4, many, Automatic{0}}, "",
                   "Members of each island; 0 takes 100, or as many as there are reference lines "
                   "for about that many; amosa takes 10 replicas.")
          .integer("generations", &O::generations, {0, std::int64_t{1} << 53, Automatic{0}},
                   "sweeps",
                   "Generations where neither --sweeps nor a time limit is given; a sweep of a run "
                   "is a generation. 0 takes 250, and with surrogate as many batches as make 100 "
                   "evaluations.")
          .integer("batch", &O::batch, {1, 4096}, "",
                   "Points of surrogate that are evaluated at the same time.")
          .integer("initial", &O::initial, {0, many, Automatic{0}}, "",
                   "Points that fill the space before surrogate asks its models, rounded up to "
                   "whole batches; 0 takes three times the square root of the number of variables, "
                   "rounded up, and 5 at least, and half as many again where the box is not "
                   "known.")
          .integer("islands", &O::islands, {1, many}, "",
                   "Populations side by side, in a ring along which members migrate.")
          .integer("migration_interval", &O::migration_interval, {0, many}, "sweeps",
                   "Generations from one migration to the next; 0 keeps islands apart.")
          .integer("migrants", &O::migrants, {0, many, Automatic{0}}, "",
                   "Members that move to the next island; 0 takes a twentieth of the population.")
          .choice(
              "crossover", &O::crossover, {"automatic", "sbx", "differential", "uniform", "none"},
              "How reals and integers of two parents are crossed; automatic is simulated binary "
              "crossover. Bits, spins and categories are exchanged, permutations crossed by "
              "order.")
          .real("crossover_probability", &O::crossover_probability, {0, 1}, "",
                "Probability that a pair of parents is crossed.")
          .real(
              "crossover_index", &O::crossover_index, {0, 1000}, "",
              "Distribution index of simulated binary crossover: the greater, the nearer children "
              "are to their parents.")
          .real("differential_scale", &O::differential_scale, {0, 2}, "",
                "F of differential crossover.")
          .real("differential_rate", &O::differential_rate, {0, 1}, "",
                "CR of differential crossover: the share of the variables that are crossed.")
          .real("mutation_probability", &O::mutation_probability, {0, 1, Automatic{0}}, "",
                "Probability that a variable mutates (of permutations: that a stretch is turned "
                "round); 0 takes one over the number of variables. Permutations take 0.3 at least.")
          .real("mutation_index", &O::mutation_index, {0, 1000, Automatic{0}}, "",
                "Distribution index of polynomial mutation: the greater, the smaller the steps. 0 "
                "takes 20, and 10 for amosa, which has no crossover for long steps.")
          .integer("neighbors", &O::neighbors, {2, 4096}, "",
                   "Neighbouring sub-problems of moead that mate and replace each other.")
          .real("neighbor_share", &O::neighbor_share, {0, 1}, "",
                "Share of matings of moead within a neighbourhood.")
          .integer("replacements", &O::replacements, {1, 4}, "",
                   "Sub-problems that a child of moead can take at most.")
          .choice("decomposition", &O::decomposition,
                  {"chebyshev", "augmented", "weighted-sum", "boundary-intersection"},
                  "What a sub-problem of moead minimises.")
          .integer("archive", &O::archive, {4, many, Automatic{0}}, "",
                   "Members of the archive of amosa, beyond which the most crowded ones are left "
                   "out; 0 takes 100.")
          .real("temperature", &O::temperature, {0, huge, Automatic{0}}, "",
                "Temperature of amosa in the beginning, in units of the amount of domination: the "
                "product of the differences as shares of what the front spans.")
          .real("temperature_end", &O::temperature_end, {0, huge, Automatic{0}}, "",
                "Temperature at the end of `generations`, or of --sweeps.")
          .real(
              "temperature_spread", &O::temperature_spread, {1e-9, 1e9}, "",
              "Factor from the temperature of the first replica of an island to that of the last: "
              "a ladder of hot and cold replicas beside one archive.")
          .reals("epsilon", &O::epsilon, {least, huge}, "", "none",
                 "Sides of the boxes of a grid, one for each objective or one for all: of each box "
                 "a population or an archive keeps one member at most, and no box that another one "
                 "dominates. Without it the most crowded members are left out.")
          .reals("reference", &O::reference, {-huge, huge}, "", "automatic",
                 "Reference point of the hypervolume, in the units of the objectives as they are "
                 "shown; automatic lies a tenth of the range of the true front, or else of a "
                 "sample of the space, beyond its worst values.");
  return table;
}

}  // namespace kiln
