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
                   "Number of points that are evaluated at the same time.")
          .integer("initial", &O::initial, {0, many, Automatic{0}}, "points",
                   "Number of points of the initial design, rounded up to whole batches.",
                   "Automatic is three times the square root of the number of variables, rounded "
                   "up, and at least 5. Where the ranges of the objectives are unknown it is half "
                   "as many again.")
          .integer("studies", &O::studies, {1, many}, "",
                   "Number of independent searches side by side.")
          .reals("epsilon", &O::epsilon, {tiny, huge}, "", "none",
                 "Side lengths of grid boxes; the front keeps one member of each box.",
                 "Give one value for each objective, or one for all. Members of a dominated box "
                 "leave.")
          .reals("reference", &O::reference, {-huge, huge}, "", "automatic",
                 "Reference point of the hypervolume, in the units of the objectives.",
                 "Automatic lies beyond the worst values of the true front, or else of the initial "
                 "design, by a tenth of their range.");
  return table;
}

}  // namespace kiln
