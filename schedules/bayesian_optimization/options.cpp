// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/bayesian_optimizer.hpp"

namespace kiln {
namespace {

using O = BayesianOptimizationOptions;
constexpr std::int64_t max_count = 1 << 20;

void add_evaluations(OptionTable<O>& table) {
  table
      .choice("acquisition", &O::acquisition,
              {"automatic", "logei", "ei", "pi", "ucb", "thompson", "qlogei"},
              "Acquisition function whose maximum is the next point.",
              "ei: expected improvement. logei: logarithm of ei, which has a gradient everywhere. "
              "pi: probability of improvement. ucb: confidence bound. thompson: a function drawn "
              "from the model. qlogei: logei averaged over values that pending points may take. "
              "Automatic takes thompson if trust regions are on, else qlogei. Without pending "
              "points qlogei equals logei.")
      .integer("evaluations", &O::evaluations, {1, max_count}, "",
               "Number of evaluations of each study.",
               "One step of a run evaluates one batch. If the run has other limits, the first "
               "limit reached ends the run.")
      .integer("batch", &O::batch, {1, 4096}, "", "Number of points evaluated at the same time.")
      .integer("initial", &O::initial, {0, max_count, Automatic{0}}, "",
               "Number of space-filling points evaluated before the first model fit.",
               "Automatic (0) takes three times the square root of the number of variables, "
               "rounded up, and at least 5. The number is then rounded to whole batches, unless "
               "one batch is larger. With trust regions automatic takes two points per variable. "
               "The automatic number never exceeds the evaluation limit of the run.")
      .choice("design", &O::design, {"sobol", "latin-hypercube", "uniform"},
              "Space-filling design of the initial points.")
      .integer("studies", &O::studies, {1, max_count}, "",
               "Number of independent studies run side by side.",
               "Each study has separate random numbers and a separate model.");
}

void add_model(OptionTable<O>& table) {
  table
      .choice("covariance", &O::covariance,
              {"automatic", "rbf", "matern52", "matern32", "matern12", "rational-quadratic"},
              "Covariance function of the Gaussian process.",
              "The covariance function defines how the correlation of two values falls with the "
              "distance of their points. Automatic takes matern52 if trust regions are on or all "
              "variables have discrete values, else rbf.")
      .choice("priors", &O::priors,
              {"automatic", "weak", "dimension-scaled", "gamma", "trust-region", "none"},
              "Prior of the length scales, the variance and the noise.",
              "none gives maximum likelihood. Automatic takes trust-region if trust regions are "
              "on, else weak.")
      .choice("lengths", &O::lengths, {"axis", "common"},
              "Length scales of the model: one for each variable, or one for all.")
      .choice("names", &O::names, {"automatic", "distinct", "alike"},
              "Similarity of categories: by shared pieces of their names, or none.",
              "alike: categories whose names share pieces are similar, such as molecules named by "
              "their formulas. distinct: all categories are equally different. Automatic takes "
              "alike if the names have eight characters or more on average.")
      .choice("noise", &O::noise, {"automatic", "fitted", "none"},
              "Whether repeated evaluations of one point may differ.",
              "fitted: repeated values may differ, and the fit estimates the noise. none: repeated "
              "values are equal. Automatic takes none for functions. Automatic takes fitted for "
              "external programs and for values passed to tell().")
      .choice("transform", &O::transform, {"automatic", "none", "clip", "logarithm"},
              "Transform of the values before the model is fitted.",
              "none: no change. clip: cuts off values far above the median. logarithm: takes the "
              "logarithm of the difference from the best value. Automatic cuts off values more "
              "than a hundred times as far above the median as the best value is below.");
}

void add_search(OptionTable<O>& table) {
  table
      .real("confidence", &O::confidence, {0, 1000}, "",
            "Number of standard deviations that acquisition=ucb subtracts from the mean.")
      .integer("restarts", &O::restarts, {0, 4096, Automatic{0}}, "",
               "Number of starting points for each fit of the model.",
               "Automatic (0) takes 8, or 2 if a study has more than 200 observations.")
      .integer("candidates", &O::candidates, {0, 1 << 20, Automatic{0}}, "",
               "Number of points at which each search evaluates the acquisition.",
               "Automatic (0) takes 4096. With trust regions automatic takes 100 per variable, at "
               "most 5000.")
      .integer("starts", &O::starts, {0, 4096, Automatic{0}}, "",
               "Number of best candidates from which gradient ascent starts.",
               "Automatic (0) takes 32.")
      .integer("fantasies", &O::fantasies, {0, 1024, Automatic{0}}, "",
               "Number of values drawn for each pending point, for acquisition=qlogei.",
               "Automatic (0) takes 32.")
      .integer("trust_regions", &O::trust_regions, {0, 256}, "",
               "Number of trust regions; 0 searches the whole space.",
               "The search stays inside the trust regions, each a box with a separate model. A "
               "trust region grows after success and shrinks after failure.")
      .integer("failures", &O::failures, {0, max_count, Automatic{0}}, "",
               "Number of batches without improvement that halve a trust region.",
               "Automatic (0) takes 4 / batch or d / batch, whichever is larger, rounded up, for d "
               "variables.");
}

}  // namespace

const OptionTable<BayesianOptimizationOptions>& BayesianOptimizationOptions::table() {
  static const auto table = [] {
    OptionTable<O> all;
    add_evaluations(all);
    add_model(all);
    add_search(all);
    return all;
  }();
  return table;
}

}  // namespace kiln
