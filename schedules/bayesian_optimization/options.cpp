// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/bayesian_optimizer.hpp"

namespace kiln {

const OptionTable<BayesianOptimizationOptions>& BayesianOptimizationOptions::table() {
  using O = BayesianOptimizationOptions;
  constexpr std::int64_t many = 1 << 20;
  static const auto table =
      OptionTable<O>()
          .choice("acquisition", &O::acquisition,
                  {"automatic", "logei", "ei", "pi", "ucb", "thompson", "qlogei"},
                  "What a point promises: the logarithm of the expected improvement, which has "
                  "slopes everywhere (logei), that itself (ei), the probability of an improvement "
                  "(pi), a confidence bound (ucb), the value of a function drawn from the model "
                  "(thompson), or logei over what pending points might turn out to be (qlogei); "
                  "automatic is qlogei, which is logei where nothing is pending, and thompson in "
                  "trust regions.")
          .integer("evaluations", &O::evaluations, {1, many}, "",
                   "Evaluations of each study; a sweep of a run is one batch. Given beside other "
                   "limits, the first that is reached ends the run.")
          .integer("batch", &O::batch, {1, 4096}, "", "Points that are evaluated at the same time.")
          .integer("initial", &O::initial, {0, many, Automatic{0}}, "",
                   "Points that fill the space before the model is asked; 0 takes three times the "
                   "square root of the number of variables, rounded up, and 5 at least, in whole "
                   "batches unless these are larger, and never more than the evaluations that end "
                   "the run.")
          .choice("design", &O::design, {"sobol", "latin-hypercube", "uniform"}, "How these lie.")
          .integer("studies", &O::studies, {1, many}, "",
                   "Independent searches side by side, each with draws and a model of its own.")
          .choice("covariance", &O::covariance,
                  {"automatic", "rbf", "matern52", "matern32", "matern12", "rational-quadratic"},
                  "How the correlation of two values falls with their distance; automatic is rbf, "
                  "and matern52 in trust regions and where all variables have levels.")
          .choice("priors", &O::priors,
                  {"automatic", "weak", "dimension-scaled", "gamma", "trust-region", "none"},
                  "What is believed of length scales, variance and noise before data are seen; "
                  "automatic is weak, and trust-region with trust regions; none is "
                  "maximum likelihood.")
          .choice("lengths", &O::lengths, {"axis", "common"},
                  "A length scale for each variable, or one for all.")
          .choice(
              "names", &O::names, {"automatic", "distinct", "alike"},
              "Whether categories with names that share pieces are taken for alike, as molecules "
              "by their formulas (alike), or all are as different (distinct); automatic is "
              "alike where names have eight characters or more on average.")
          .choice("noise", &O::noise, {"automatic", "fitted", "none"},
                  "Whether evaluations of the same point may differ, by as much as explains the "
                  "values best (fitted), or never do (none); automatic is none for functions, and "
                  "fitted for programs that are called and for values that are told.")
          .choice("transform", &O::transform, {"automatic", "none", "clip", "logarithm"},
                  "What the model sees of the values: all of them, those far above the median cut "
                  "off (clip), or the logarithm of what is above the best (logarithm); automatic "
                  "cuts off what is a hundred times as far from the median as the best is.")
          .real("confidence", &O::confidence, {0, 1000}, "",
                "Standard deviations below the mean that acquisition=ucb looks at.")
          .integer("restarts", &O::restarts, {0, 4096, Automatic{0}}, "",
                   "Starts of each fit of the model; 0 takes 8, and 2 beyond 200 observations.")
          .integer("candidates", &O::candidates, {0, 1 << 20, Automatic{0}}, "",
                   "Points at which the acquisition is evaluated in each search for its maximum; 0 "
                   "takes 4096, in trust regions 100 per variable and at most 5000.")
          .integer("starts", &O::starts, {0, 4096, Automatic{0}}, "",
                   "The best of them, from which it climbs by its gradient; 0 takes 32.")
          .integer("fantasies", &O::fantasies, {0, 1024, Automatic{0}}, "",
                   "Values that acquisition=qlogei draws for each pending point; 0 takes 32.")
          .integer("trust_regions", &O::trust_regions, {0, 256}, "",
                   "Boxes in which the search is local, each with a model of its own, that grow "
                   "with success and shrink with failure; 0 searches everywhere.")
          .integer("failures", &O::failures, {0, many, Automatic{0}}, "",
                   "Batches without a better value after which a trust region is halved; 0 takes "
                   "four over the batch or the number of variables over it, the larger one.");
  return table;
}

}  // namespace kiln
