// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/models/gaussian_process.hpp"
#include "kiln/options.hpp"
#include "kiln/problem.hpp"
#include "kiln/queue.hpp"
#include "kiln/space.hpp"

namespace kiln {

/// Options of Bayesian optimisation; 0 means "choose for me" where that is possible.
struct KILN_API BayesianOptimizationOptions {
  std::string acquisition = "automatic";
  std::int64_t evaluations = 100;
  std::int64_t batch = 1;
  std::int64_t initial = 0;
  std::string design = "sobol";
  std::int64_t studies = 1;
  std::string covariance = "automatic";
  std::string priors = "automatic";
  std::string lengths = "axis";
  std::string names = "automatic";
  std::string noise = "automatic";
  std::string transform = "automatic";
  double confidence = 2;
  std::int64_t restarts = 0;
  std::int64_t candidates = 0;
  std::int64_t starts = 0;
  std::int64_t fantasies = 0;
  std::int64_t trust_regions = 0;
  std::int64_t failures = 0;

  KILN_API static const OptionTable<BayesianOptimizationOptions>& table();
};

/// What a search for expensive minima is about.
struct BayesianProblem {
  Space space;
  int constraints = 0;  ///< values g_j <= 0 that every evaluation has beside its own
  bool noisy = true;    ///< whether evaluations of the same point may differ
  /// As in Problem.
  std::vector<VariableModel> coordinates = {};
  std::shared_ptr<const std::vector<State>> candidates = {};
};

/// A point that was suggested and is to be evaluated.
struct Suggestion {
  std::int64_t id = 0;  ///< for tell()
  State state;
};

/// What a model of a study has learnt.
struct StudyModel {
  std::vector<double> lengths;  ///< of each coordinate, in units of its range
  double variance = 0;          ///< in units of the targets, squared
  double noise = 0;             ///< likewise
  double spread = 1;            ///< of the values, transformed, which the targets are in units of
  double evidence = 0;
  double fit = 0;  ///< 1 - mean squared error / variance of the targets, each left out in turn
};

/// Bayesian optimisation by asking and telling: for objectives that are evaluated elsewhere. All
/// values are minimised.
///
/// Points may be asked for while others are pending, and told in any order. A value that is not
/// finite counts as a failed evaluation: its place is avoided as if it were as bad as the worst
/// seen. The same seed and the same calls give the same suggestions on the same backend.
///
/// @code
/// BayesianOptimizer search({Space::reals(2, -5, 10)});
/// for (int i = 0; i < 30; ++i) {
///   const Suggestion next = search.ask().front();
///   search.tell(next.id, expensive(std::get<std::vector<double>>(next.state[0])));
/// }
/// @endcode
/// @par Source  see docs/schedules/bayesian_optimization.md
class KILN_API BayesianOptimizer {
 public:
  /// @param device  as in RunOptions.
  /// @throws InvalidArgument for options or spaces that it does not take (permutations, reals
  /// without bounds); NoDevice, ...
  explicit BayesianOptimizer(BayesianProblem problem, BayesianOptimizationOptions options = {},
                             std::uint64_t seed = 1, const std::string& device = "auto");
  ~BayesianOptimizer();
  BayesianOptimizer(BayesianOptimizer&&) noexcept;
  BayesianOptimizer& operator=(BayesianOptimizer&&) noexcept;

  /// The next points of a study, which become pending. Never one that is pending or was evaluated;
  /// fewer than `count` where the space has no others. @throws InvalidArgument for a count below 1,
  /// or where the space has no point left.
  std::vector<Suggestion> ask(std::int64_t count = 1, std::int64_t study = 0);
  /// The value of a point that was asked for, and those of its constraints.
  /// @throws InvalidArgument for an id that is not pending, or a wrong number of constraints.
  void tell(std::int64_t id, double value, const std::vector<double>& constraints = {});
  /// The same for a point that nobody asked for: past evaluations.
  /// @throws InvalidArgument for what is no state of the space, or a wrong number of constraints.
  void add(const State& state, double value, const std::vector<double>& constraints = {},
           std::int64_t study = 0);

  std::int64_t pending(std::int64_t study = 0) const;
  std::int64_t evaluations(std::int64_t study = 0) const;
  bool has_best(std::int64_t study = 0) const;  ///< a feasible, finite one
  double best_value(std::int64_t study = 0) const;
  State best_state(std::int64_t study = 0) const;
  /// Of the last fit; empty lengths before it.
  StudyModel model(std::int64_t study = 0) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
