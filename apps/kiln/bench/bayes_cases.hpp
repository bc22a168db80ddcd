// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the suite bayes is made of: a row, what it must reach, and how it is measured.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"

#include "bench/suite.hpp"

namespace kiln::cli {

/// What a row must reach.
struct BayesGate {
  std::string what;  ///< "median gap", "ms"
  double limit = 0;
  bool at_least = false;  ///< else at most
  double value = std::numeric_limits<double>::quiet_NaN();

  bool met() const { return at_least ? value >= limit : value <= limit; }
};

/// One row, measured.
struct BayesRow {
  std::string instance;        ///< empty: values of the suite's own
  std::int64_t dimension = 0;  ///< coordinates
  std::int64_t evaluations = 0, batch = 1, studies = 1;
  std::vector<double> milliseconds;   ///< of an iteration of one study
  std::vector<double> values;         ///< the best of each study, in the user's sense
  std::int64_t bad_suggestions = -1;  ///< not finite, or outside the space; -1: not asked for
  std::string failure = {};           ///< what was thrown
  std::vector<BayesGate> gates = {};

  bool met() const;  ///< all gates
};

/// A row that can be asked for by name.
struct BayesCase {
  std::string name;
  /// Repeats what can be repeated for about so many seconds.
  std::function<BayesRow(const BenchRun& run, double limit_s)> measure;
  bool needs_data = false;  ///< the table of --data
};

/// Whole searches of 20 seeds or more: how good their best values are.
std::vector<BayesCase> bayes_quality_cases();
/// The next points after so many evaluations: how long they take.
std::vector<BayesCase> bayes_speed_cases();
/// Data that make models fail.
std::vector<BayesCase> bayes_hard_cases();

/// The device of an ask/tell object that is to work where the suite does.
std::string device_of(const BenchRun& run);
/// Its options: the defaults, and what the command line says instead.
/// @throws InvalidArgument
BayesianOptimizationOptions bayes_options(const BenchRun& run);

}  // namespace kiln::cli
