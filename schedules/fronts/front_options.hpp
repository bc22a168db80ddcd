// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "kiln/options.hpp"

namespace kiln {

/// Declares `epsilon` and `reference`, which every schedule for fronts has.
/// @param keeper  keeps one member in each box: "an archive"
/// @param without  the rule without epsilon; "" for none
/// @param sample  points that replace an unknown true front: "64 random states"
template <class O>
OptionTable<O>& add_front_options(OptionTable<O>& table, const std::string& keeper,
                                  const std::string& without, const std::string& sample) {
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  return table
      .reals("epsilon", &O::epsilon, {tiny, huge}, "", "none",
             "Side lengths of grid boxes; " + keeper + " keeps at most one member in a box.",
             "The boxes form a grid over the space of objectives. Give one side length for each "
             "objective, or one side length for all objectives. A box that another box dominates "
             "has no member." +
                 without)
      .reals("reference", &O::reference, {-huge, huge}, "", "automatic",
             "Reference point of the hypervolume, in the units of the objectives.",
             "Automatic takes the worst values of the true front plus a tenth of the front's "
             "range. If the true front is unknown, Kiln uses the front of --reference-front "
             "instead, or the values of " +
                 sample + " if that option is not set.");
}

/// The rule of an archive without epsilon.
inline constexpr const char* crowded_members_leave =
    " Without epsilon the schedule removes the most crowded members.";

}  // namespace kiln
