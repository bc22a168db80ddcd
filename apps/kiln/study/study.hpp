// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/problem.hpp"

namespace kiln::cli {

/// The definition of a study, in study.json. It never changes.
struct StudySettings {
  std::vector<std::string> variables;  ///< as --var has them
  std::string constraints = "0";
  std::string sense = "minimize";
  std::uint64_t seed = 1;
  std::string device = "cpu";               ///< cpu or cuda: the bits of points depend on it
  std::optional<std::int64_t> evaluations;  ///< limit of the number of points
  std::map<std::string, std::string> parameters;

  /// @throws InvalidArgument for variables that cannot be
  Problem problem() const;
  /// @throws InvalidArgument for parameters that cannot be
  BayesianOptimizationOptions options() const;
  BayesianOptimizer optimizer(const Problem& problem) const;
};

/// A point of a study, and what was told of it.
struct StudyPoint {
  std::int64_t id = 0;
  std::vector<double> numbers = {};  ///< of its state, in order
  bool told = false;
  double value = 0;  ///< in the user's sense; NaN: it failed
  std::vector<double> constraints = {};
};

/// A value that is told.
struct Telling {
  std::int64_t id = 0;
  double value = 0;  ///< in the user's sense; NaN: it failed
  std::vector<double> constraints = {};
};

/// Something that happened to a study: points were asked for, or a value was told.
struct StudyEvent {
  std::int64_t asked = 0;                 ///< how many points were wanted; 0: a value was told
  std::vector<std::int64_t> points = {};  ///< their ids
  Telling told = {};
};

/// A study as its journal has it.
struct StudyRecord {
  std::vector<StudyEvent> events;
  std::map<std::int64_t, StudyPoint> points;
  std::vector<std::string> sums;  ///< of the journal up to each line
  std::uint64_t bytes = 0;        ///< of its whole lines

  std::int64_t told() const;
  std::int64_t failed() const;
  std::vector<std::int64_t> pending() const;
  /// The best feasible value; null if there is none.
  const StudyPoint* best(Sense sense) const;
};

/// The state of a point. @throws InvalidArgument for numbers of no point of the space
State state_of(const Problem& problem, const std::vector<double>& numbers);

}  // namespace kiln::cli
