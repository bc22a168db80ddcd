// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "kiln/schedules/simulated_bifurcation.hpp"

namespace kiln {

const OptionTable<SimulatedBifurcationOptions>& SimulatedBifurcationOptions::table() {
  using O = SimulatedBifurcationOptions;
  constexpr std::int64_t many = std::int64_t{1} << 40;
  static const auto table =
      OptionTable<O>()
          .choice("variant", &O::variant, {"heated-discrete", "discrete", "ballistic"},
                  "What an oscillator shows to its neighbours, and whether momenta are heated.",
                  "`discrete` shows the sign of the position. `heated-discrete` does, and "
                  "multiplies momenta by 1 + gamma dt in each step. `ballistic` shows the "
                  "position, rounded to a multiple of 1/127.")
          .real("xi", &O::xi, {1e-6, 1000}, "", "Strength of the couplings beside the pump.",
                "The constant c0 of the equations is xi divided by the standard deviation of the "
                "force of random spins.")
          .real("xi_last", &O::xi_last, {1e-6, 1000, Automatic{0}}, "",
                "Value of xi for the last group.",
                "From the first group to the last group the values are spaced by equal factors. "
                "Needs 2 groups or more. 0 takes xi for all groups.")
          .real("time_step", &O::time_step, {0, 10, Automatic{0}}, "", "Time step dt.",
                "0 takes 1, or less where 1 would be unstable: at most sqrt(2.2 / (1 + c0 L)), "
                "where L estimates the largest |eigenvalue| of the coupling matrix.")
          .real("gamma", &O::gamma, {0, 10}, "", "Rate at which heating raises momenta.",
                "Only `heated-discrete` uses it.")
          .integer("steps", &O::steps, {0, many, Automatic{0}}, "steps",
                   "Number of steps of the first round.",
                   "0 takes the value of --sweeps up to 8000, else 1000. Kiln rounds the number up "
                   "to whole ticks.")
          .integer("growth", &O::growth, {0, 2, Automatic{0}}, "",
                   "Length of each round divided by the length of the round before.",
                   "0 takes 1 if steps is set, or --sweeps up to 8000, else 2. With 2 rounds grow "
                   "up to 8 times the first one.")
          .integer("polish_sweeps", &O::polish_sweeps, {0, 1000}, "sweeps",
                   "Number of greedy sweeps over the signs of the positions after each tick.",
                   "They change the states that are compared, not the oscillators.")
          .integer("groups", &O::groups, {1, INT32_MAX}, "",
                   "Number of groups of replicas: independent runs in one batch.",
                   "Each group has separate random numbers. The number of groups must divide the "
                   "number of replicas.");
  return table;
}

}  // namespace kiln
