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
              "ei: expected improvement. logei: its logarithm, which has a gradient everywhere. "
              "pi: probability of improvement. ucb: confidence bound. thompson: a function drawn "
              "from the model. qlogei: logei averaged over values that pending points may take. "
              "Automatic takes qlogei, which equals logei where no point is pending, and thompson "
              "in trust regions.")
      .integer("evaluations", &O::evaluations, {1, max_count}, "",
               "Number of evaluations of each study.",
               "One step of a run evaluates one batch. If there are other limits, the first one "
               "reached ends the run.")
      .integer("batch", &O::batch, {1, 4096}, "", "Number of points evaluated at the same time.")
      .integer(
          "initial", &O::initial, {0, max_count, Automatic{0}}, "",
          "Number of space-filling points evaluated before the model is used.",
          "Automatic (0) takes three times the square root of the number of variables, rounded "
          "up, and at least 5. It rounds to whole batches unless a batch is larger. With trust "
          "regions it takes two points per variable. It never takes more than the evaluations "
          "that end the run.")
      .choice("design", &O::design, {"sobol", "latin-hypercube", "uniform"},
              "Space-filling design of the initial points.")
      .integer("studies", &O::studies, {1, max_count}, "",
               "Number of independent studies run side by side.",
               "Each study has separate random numbers and a separate model.");
}

void add_model(OptionTable<O>& table) {
  table
      .choice(
          "covariance", &O::covariance,
          {"automatic", "rbf", "matern52", "matern32", "matern12", "rational-quadratic"},
          "Covariance function of the Gaussian process.",
          "It says how the correlation of two values falls with their distance. Automatic takes "
          "rbf, but matern52 in trust regions and where all variables have levels.")
      .choice("priors", &O::priors,
              {"automatic", "weak", "dimension-scaled", "gamma", "trust-region", "none"},
              "Prior of the length scales, the variance and the noise.",
              "none gives maximum likelihood. Automatic takes weak, and trust-region with trust "
              "regions.")
      .choice("lengths", &O::lengths, {"axis", "common"},
              "Length scales of the model: one per variable, or one in common.")
      .choice("names", &O::names, {"automatic", "distinct", "alike"},
              "Similarity of categories: by shared pieces of their names, or none.",
              "alike: categories whose names share pieces are similar, such as molecules named by "
              "their formulas. distinct: all categories are equally different. Automatic takes "
              "alike if the names have eight characters or more on average.")
      .choice("noise", &O::noise, {"automatic", "fitted", "none"},
              "Whether repeated evaluations of one point may differ.",
              "fitted: they may, and the fit estimates by how much. none: they never do. Automatic "
              "takes none for functions. It takes fitted for programs that are called and for "
              "values that are told.")
      .choice("transform", &O::transform, {"automatic", "none", "clip", "logarithm"},
              "Transform of the values before the model is fitted.",
              "none: values as they are. clip: values far above the median are cut off. logarithm: "
              "the logarithm of the difference from the best value. Automatic cuts off values a "
              "hundred times as far from the median as the best value is.");
}

void add_search(OptionTable<O>& table) {
  table
      .real("confidence", &O::confidence, {0, 1000}, "",
            "Standard deviations below the mean, for acquisition=ucb.")
      .integer("restarts", &O::restarts, {0, 4096, Automatic{0}}, "",
               "Number of starts of each fit of the model.",
               "Automatic (0) takes 8, and 2 beyond 200 observations.")
      .integer(
          "candidates", &O::candidates, {0, 1 << 20, Automatic{0}}, "",
          "Number of points at which each search evaluates the acquisition.",
          "Automatic (0) takes 4096. In trust regions it takes 100 per variable, at most 5000.")
      .integer("starts", &O::starts, {0, 4096, Automatic{0}}, "",
               "Number of best candidates from which gradient ascent starts.",
               "Automatic (0) takes 32.")
      .integer("fantasies", &O::fantasies, {0, 1024, Automatic{0}}, "",
               "Values drawn for each pending point, for acquisition=qlogei.",
               "Automatic (0) takes 32.")
      .integer("trust_regions", &O::trust_regions, {0, 256}, "",
               "Number of trust regions; 0 searches the whole space.",
               "A trust region is a box with a separate model, to which the search is confined. It "
               "grows after success and shrinks after failure.")
      .integer("failures", &O::failures, {0, max_count, Automatic{0}}, "",
               "Batches without improvement after which a trust region is halved.",
               "Automatic (0) takes the larger of 4 / batch and d / batch, rounded up, for d "
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
