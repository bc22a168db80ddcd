// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kiln/schedules/amosa.hpp"

namespace kiln {

const OptionTable<AmosaOptions>& AmosaOptions::table() {
  using O = AmosaOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  constexpr std::int64_t many = 1 << 20;
  static const auto table =
      OptionTable<O>()
          .integer("chains", &O::chains, {1, many}, "",
                   "Number of annealing chains beside each archive.")
          .integer("islands", &O::islands, {1, many}, "",
                   "Number of independent archives, each with chains beside it.")
          .integer("archive", &O::archive, {4, many}, "",
                   "Maximum number of members of an archive; the most crowded ones leave.")
          .integer("cooling_sweeps", &O::cooling_sweeps, {1, std::int64_t{1} << 53}, "sweeps",
                   "Number of sweeps over which the temperature falls, without --sweeps.",
                   "A run without any limit ends after them.")
          .real("temperature", &O::temperature, {0, huge, Automatic{0}}, "",
                "Initial temperature, in units of the amount of domination.",
                "The amount of domination is the product of the differences of the objectives, as "
                "fractions of the ranges of the front. Automatic is 0.01.")
          .real("temperature_end", &O::temperature_end, {0, huge, Automatic{0}}, "",
                "Temperature after the hundredth of the cooling stages.",
                "A stage has a hundredth of the sweeps, rounded down, and at least one. From "
                "stage to stage the temperature falls by a constant factor, also after the "
                "hundredth. Automatic is a millionth of `temperature`.")
          .real("temperature_spread", &O::temperature_spread, {1e-9, 1e9}, "",
                "Ratio of the temperatures of the last and the first chain of an island.",
                "A ratio other than 1 makes a ladder of hot and cold chains beside one archive.")
          .real("mutation_probability", &O::mutation_probability, {0, 1, Automatic{0}}, "",
                "Probability that a variable mutates.",
                "Automatic is two over the number of variables. Of a permutation it is the "
                "probability that a part is reversed, and 0.3 or more.")
          .real("mutation_index", &O::mutation_index, {0, 1000, Automatic{0}}, "",
                "Distribution index of polynomial mutation; a larger one makes small steps.",
                "Automatic is 10: without crossover, mutation alone makes long steps.")
          .reals("epsilon", &O::epsilon, {tiny, huge}, "", "none",
                 "Side lengths of grid boxes; an archive keeps one member of each box.",
                 "Give one value for each objective, or one for all. Members of a dominated box "
                 "leave. Without epsilon the most crowded members leave.")
          .reals("reference", &O::reference, {-huge, huge}, "", "automatic",
                 "Reference point of the hypervolume, in the units of the objectives.",
                 "Automatic lies beyond the worst values of the true front, or else of a sample "
                 "of the space, by a tenth of their range.");
  return table;
}

}  // namespace kiln
