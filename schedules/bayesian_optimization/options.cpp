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
              "`ei` is the expected improvement. `logei` is the logarithm of `ei`, computed so "
              "that its gradient exists everywhere. `pi` is the probability of an improvement. "
              "`ucb` is a confidence bound of the model. `thompson` is a function drawn from the "
              "model. `qlogei` is the logarithm of the mean of `ei` over random values of the "
              "pending points. Without pending points `qlogei` equals `logei`. Automatic takes "
              "`thompson` with trust regions, else `qlogei`.")
      .integer("evaluations", &O::evaluations, {1, max_count}, "",
               "Number of evaluations of each study.",
               "A step of the run evaluates one batch of each study. A time limit or --sweeps "
               "replaces the default of 100. If `evaluations` and other limits are set, the first "
               "limit reached ends the run.")
      .integer("batch", &O::batch, {1, 4096}, "",
               "Number of points that a study evaluates at the same time.")
      .integer("initial", &O::initial, {0, max_count, Automatic{0}}, "",
               "Number of points that a study evaluates before the first fit of the model.",
               "Automatic (0) takes 3 times the square root of the number of variables, rounded "
               "up, but at least 5 points. Automatic then rounds this number to whole batches, "
               "unless one batch has more points. With trust regions each region gets this number "
               "of points, and automatic takes two points per variable. If `evaluations` ends the "
               "run, automatic takes at most `evaluations` points.")
      .choice("design", &O::design, {"sobol", "latin-hypercube", "uniform"},
              "Method that spreads the initial points over the space.")
      .integer("studies", &O::studies, {1, max_count}, "",
               "Number of studies: independent searches that run in parallel.",
               "Each study has separate random numbers and a separate model.");
}

void add_model(OptionTable<O>& table) {
  table
      .choice("covariance", &O::covariance,
              {"automatic", "rbf", "matern52", "matern32", "matern12", "rational-quadratic"},
              "Covariance function of the Gaussian process.",
              "The covariance function defines how the correlation of two values falls with the "
              "distance between their points. Automatic takes `matern52` with trust regions, or if "
              "all variables are discrete, else `rbf`.")
      .choice("priors", &O::priors,
              {"automatic", "weak", "dimension-scaled", "gamma", "trust-region", "none"},
              "Prior of the length scales, the variance and the noise.",
              "With `none` the fit maximises the likelihood. Automatic takes `trust-region` with "
              "trust regions, else `weak`.")
      .choice("lengths", &O::lengths, {"axis", "common"}, "Number of length scales of the model.")
      .choice("names", &O::names, {"automatic", "distinct", "alike"},
              "Whether the model treats categories with similar names as similar.",
              "With `alike` categories are similar if their names share pieces of text, as "
              "formulas of similar molecules do. With `distinct` all categories are equally "
              "different. Automatic takes `alike` if the names of a variable have eight "
              "characters or more on average. A matrix of similarities in the problem replaces "
              "this option.")
      .choice(
          "noise", &O::noise, {"automatic", "fitted", "none"},
          "Whether repeated evaluations of one point may differ.",
          "With `fitted` repeated values may differ, and the fit estimates the noise. With "
          "`none` repeated values are equal. Automatic takes `none` for tables and for functions "
          "that Kiln evaluates. Automatic takes `fitted` for external programs and for values "
          "passed to "
          "tell().")
      .choice("transform", &O::transform, {"automatic", "none", "clip", "logarithm"},
              "Transform of the values before the fit of the model.",
              "`none` does not change the values. `clip` limits values to median + 5 (median - "
              "best value). `logarithm` takes log(1 + (value - best value) / (median - best "
              "value)). Automatic limits values to median + 100 (median - best value).");
}

void add_search(OptionTable<O>& table) {
  table
      .real("confidence", &O::confidence, {0, 1000}, "",
            "Number of standard deviations that acquisition=ucb subtracts from the mean.")
      .integer("restarts", &O::restarts, {0, 4096, Automatic{0}}, "",
               "Number of starting points for each fit of the model.",
               "Automatic (0) takes 8, or 2 if a study has more than 200 observations.")
      .integer("candidates", &O::candidates, {0, 1 << 20, Automatic{0}}, "",
               "Number of points at which each search evaluates the acquisition function.",
               "Automatic (0) takes 4096. With trust regions automatic takes 100 points per "
               "variable, but at most 5000 points. In a table the search evaluates all rows, "
               "whatever this option says.")
      .integer("starts", &O::starts, {0, 4096, Automatic{0}}, "",
               "Number of best candidates from which gradient ascent starts.",
               "Automatic (0) takes 32.")
      .integer("fantasies", &O::fantasies, {0, 1024, Automatic{0}}, "",
               "Number of random values of each pending point, for acquisition=qlogei.",
               "Automatic (0) takes 32.")
      .integer("trust_regions", &O::trust_regions, {0, 256}, "",
               "Number of trust regions; 0 searches the whole space.",
               "A trust region is a box around a good point and has a separate model. The search "
               "stays inside the trust regions. A trust region doubles after three successive "
               "batches with an improvement, and halves after `failures` batches without an "
               "improvement. A gain of less than 0.1 % of the best value is no improvement.")
      .integer("failures", &O::failures, {0, max_count, Automatic{0}}, "",
               "Number of successive batches without improvement that halve a trust region.",
               "For d variables automatic (0) takes max(4, d) / batch, rounded up.");
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
