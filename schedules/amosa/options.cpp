// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kiln/schedules/amosa.hpp"

#include "fronts/front_options.hpp"

namespace kiln {

const OptionTable<AmosaOptions>& AmosaOptions::table() {
  using O = AmosaOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr std::int64_t many = 1 << 20;
  static const auto table = [] {
    OptionTable<O> declared;
    declared
        .integer("chains", &O::chains, {1, many}, "",
                 "Number of annealing chains that share one archive.")
        .integer("islands", &O::islands, {1, many}, "",
                 "Number of independent archives, each with separate chains.")
        .integer("archive", &O::archive, {4, many}, "",
                 "Maximum number of archive members; the most crowded members are removed.")
        .integer("cooling_sweeps", &O::cooling_sweeps, {1, std::int64_t{1} << 53}, "sweeps",
                 "Number of sweeps over which the temperature falls, without --sweeps.",
                 "A run without any limit ends after them.")
        .real("temperature", &O::temperature, {0, huge, Automatic{0}}, "",
              "Initial temperature, in units of the amount of domination.",
              "The amount of domination is the product of the differences in the objectives, "
              "each as a fraction of the range of the front. Automatic is 0.01.")
        .real("temperature_end", &O::temperature_end, {0, huge, Automatic{0}}, "",
              "Temperature after the hundredth of the cooling stages.",
              "A stage has a hundredth of the sweeps, rounded down, and at least one sweep. The "
              "temperature falls by a constant factor from stage to stage, also after the "
              "hundredth. Automatic is a millionth of `temperature`.")
        .real("temperature_spread", &O::temperature_spread, {1e-9, 1e9}, "",
              "Temperature of the last chain of an island divided by that of the first.",
              "A ratio other than 1 makes a ladder of hot and cold chains that share one archive.")
        .real("mutation_probability", &O::mutation_probability, {0, 1, Automatic{0}}, "",
              "Probability that a variable mutates.",
              "Automatic is two over the number of variables. For permutations: probability of "
              "reversing a segment, at least 0.3.")
        .real("mutation_index", &O::mutation_index, {0, 1000, Automatic{0}}, "",
              "Distribution index of polynomial mutation.",
              "A larger index gives smaller steps. The default gives long steps, because amosa "
              "has no crossover.");
    return add_front_options(declared, "an archive", crowded_members_leave,
                             "a sample of the space");
  }();
  return table;
}

}  // namespace kiln
