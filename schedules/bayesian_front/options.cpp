// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedules/bayesian_front.hpp"

#include "fronts/front_options.hpp"

namespace kiln {

const OptionTable<BayesianFrontOptions>& BayesianFrontOptions::table() {
  using O = BayesianFrontOptions;
  constexpr std::int64_t many = 1 << 20;
  static const auto table = [] {
    OptionTable<O> declared;
    declared
        .integer("evaluations", &O::evaluations, {1, std::int64_t{1} << 53}, "evaluations",
                 "Number of evaluations of each study, rounded up to whole batches.",
                 "If you set only another limit, that limit replaces the default of `evaluations`.")
        .integer("batch", &O::batch, {1, 4096}, "points",
                 "Number of points that a study evaluates at the same time.")
        .integer("initial", &O::initial, {0, many, Automatic{0}}, "points",
                 "Number of points of the initial design, rounded up to whole batches.",
                 "Automatic (0) takes 3 times the square root of the number of variables, rounded "
                 "up, but at least 5 points. If neither the true front nor a reference front is "
                 "known, automatic adds half as many points.")
        .integer("studies", &O::studies, {1, many}, "",
                 "Number of studies: independent searches that run in parallel.");
    return add_front_options(declared, "the front", "", "the initial design");
  }();
  return table;
}

}  // namespace kiln
