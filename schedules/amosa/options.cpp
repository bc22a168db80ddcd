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
                 "Number of annealing chains of each island; the chains share one archive.")
        .integer("islands", &O::islands, {1, many}, "",
                 "Number of islands: independent archives, each with separate chains.")
        .integer("archive", &O::archive, {4, many}, "", "Maximum number of members of an archive.")
        .integer("cooling_sweeps", &O::cooling_sweeps, {1, std::int64_t{1} << 53}, "sweeps",
                 "Number of sweeps over which the temperature falls, if --sweeps is not set.",
                 "A run without any limit ends after cooling_sweeps sweeps.")
        .real("temperature", &O::temperature, {0, huge, Automatic{0}}, "",
              "Initial temperature, in units of the amount of domination.",
              "The amount of domination is the product of the differences of two states in the "
              "objectives. Each difference is divided by the range of its objective on the front. "
              "Automatic (0) takes 0.01, or temperature_end if temperature_end is larger.")
        .real("temperature_end", &O::temperature_end, {0, huge, Automatic{0}}, "",
              "Temperature after 100 cooling stages.",
              "A stage has 1/100 of the sweeps, rounded down, but at least one sweep. The "
              "temperature falls by a constant factor from stage to stage, also after stage 100. "
              "Automatic (0) takes a millionth of `temperature`.")
        .real("temperature_spread", &O::temperature_spread, {1e-9, 1e9}, "",
              "Temperature ratio of the last chain to the first chain of an island.",
              "From the first chain to the last chain the temperatures are spaced by equal "
              "factors.")
        .real("mutation_probability", &O::mutation_probability, {0, 1, Automatic{0}}, "",
              "Probability that a variable mutates.",
              "Automatic (0) takes 2 divided by the number of variables. A permutation reverses a "
              "segment with this probability, but at least with probability 0.3.")
        .real("mutation_index", &O::mutation_index, {0, 1000, Automatic{0}}, "",
              "Distribution index of polynomial mutation.",
              "A larger index gives smaller steps. The default gives larger steps than the default "
              "of the schedule evolutionary, because amosa has no crossover.");
    return add_front_options(declared, "an archive", crowded_members_leave, "64 random states");
  }();
  return table;
}

}  // namespace kiln
