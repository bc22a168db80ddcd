// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "kiln/schedules/bayesian_front.hpp"

namespace kiln {

const OptionTable<BayesianFrontOptions>& BayesianFrontOptions::table() {
  using O = BayesianFrontOptions;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  constexpr std::int64_t many = 1 << 20;
  static const auto table =
      OptionTable<O>()
          .integer("evaluations", &O::evaluations, {1, std::int64_t{1} << 53}, "evaluations",
                   "Number of evaluations of each study, rounded up to whole batches.")
          .integer("batch", &O::batch, {1, 4096}, "points",
                   "Number of points evaluated at the same time.")
          .integer("initial", &O::initial, {0, many, Automatic{0}}, "points",
                   "Number of points of the initial design, rounded up to whole batches.",
                   "Automatic is three times the square root of the number of variables, rounded "
                   "up, and at least 5. If the ranges of the objectives are unknown, automatic "
                   "adds half as many points.")
          .integer("studies", &O::studies, {1, many}, "",
                   "Number of independent searches run side by side.")
          .reals("epsilon", &O::epsilon, {tiny, huge}, "", "none",
                 "Side lengths of grid boxes; the front keeps one member of each box.",
                 "Give one length for each objective, or one length for all objectives. Members in "
                 "a dominated box are removed.")
          .reals("reference", &O::reference, {-huge, huge}, "", "automatic",
                 "Reference point of the hypervolume, in the units of the objectives.",
                 "Automatic takes the worst values of the true front plus a tenth of the front's "
                 "range. If the true front is unknown, the initial design takes its place.");
  return table;
}

}  // namespace kiln
