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

/// The problem of a search for expensive minima.
struct BayesianProblem {
  Space space;
  int constraints = 0;  ///< values g_j <= 0 of every evaluation
  bool noisy = true;    ///< whether evaluations of the same point may differ
  /// As in Problem.
  std::vector<VariableModel> coordinates = {};
  std::shared_ptr<const std::vector<State>> candidates = {};
};

/// A suggested point, to evaluate.
struct Suggestion {
  std::int64_t id = 0;  ///< for tell()
  State state;
};

/// The fitted model of a study.
struct StudyModel {
  std::vector<double> lengths;  ///< of each coordinate, in units of its range
  double variance = 0;          ///< in units of the targets, squared
  double noise = 0;             ///< likewise
  /// Standard deviation of the transformed values, which is the unit of the targets
  double spread = 1;
  double evidence = 0;
  /// 1 - mean squared error / variance of the targets, by leave-one-out predictions
  double fit = 0;
};

/// Bayesian optimisation with an ask-and-tell interface, for objectives that are evaluated
/// elsewhere. All values are minimised.
///
/// Points may be requested while others are pending, and told in any order. A value that is not
/// finite counts as a failed evaluation: its neighbourhood is avoided as if it were as bad as the
/// worst value so far. The same seed and the same calls give the same suggestions on the same
/// backend.
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
  /// @param problem  space, constraints and senses
  /// @param options  of the search
  /// @param seed  of all draws
  /// @param device  as in RunOptions.
  /// @throws InvalidArgument for unsupported options or spaces (permutations, reals without
  /// bounds); NoDevice, ...
  explicit BayesianOptimizer(BayesianProblem problem, BayesianOptimizationOptions options = {},
                             std::uint64_t seed = 1, const std::string& device = "auto");
  ~BayesianOptimizer();
  BayesianOptimizer(BayesianOptimizer&&) noexcept;
  BayesianOptimizer& operator=(BayesianOptimizer&&) noexcept;

  /// Returns the next points of a study, which become pending. A point is never one that is pending
  /// or was evaluated; fewer than `count` are returned if the space has no others. @throws
  /// InvalidArgument for a count below 1, or if the space has no point left.
  std::vector<Suggestion> ask(std::int64_t count = 1, std::int64_t study = 0);
  /// Reports the value of a requested point, and those of its constraints.
  /// @throws InvalidArgument for an id that is not pending, or a wrong number of constraints.
  void tell(std::int64_t id, double value, const std::vector<double>& constraints = {});
  /// Adds the value of a point that was not requested: past evaluations.
  /// @throws InvalidArgument for a state outside the space, or a wrong number of constraints.
  void add(const State& state, double value, const std::vector<double>& constraints = {},
           std::int64_t study = 0);

  std::int64_t pending(std::int64_t study = 0) const;
  std::int64_t evaluations(std::int64_t study = 0) const;
  bool has_best(std::int64_t study = 0) const;  ///< a feasible, finite one
  double best_value(std::int64_t study = 0) const;
  State best_state(std::int64_t study = 0) const;
  /// The model of the last fit; empty lengths before it.
  StudyModel model(std::int64_t study = 0) const;

  /// All that the search knows, as numbers for restore().
  std::vector<double> state() const;
  /// Puts a search of the same problem, options and seed where another one was, so that the same
  /// calls give the same points, with the same ids, as there.
  /// @throws InvalidArgument `archive.value` for other numbers, after which the search is broken
  void restore(const std::vector<double>& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
