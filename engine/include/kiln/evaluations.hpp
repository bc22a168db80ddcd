// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/space.hpp"

namespace kiln {

/// One evaluation of an expensive objective.
struct Evaluation {
  std::int64_t study = 0;  ///< from 0: which of several independent searches requested it
  std::int64_t batch = 0;  ///< from 1: evaluated together; 0: known before the run
  State state;
  double value = 0;                 ///< in the user's sense and units; NaN: the evaluation failed
  std::vector<double> constraints;  ///< met where at most 0
  /// [objectives], in the user's sense and units, the first equal to `value`; empty for one
  /// objective.
  std::vector<double> objectives = {};
};

/// Length scales and fit of the surrogate model, in the first study.
struct ModelSummary {
  /// By name of the variable, in units of its range: the distance over which values change. A short
  /// length scale marks a variable that matters.
  std::vector<std::pair<std::string, double>> lengths;
  double noise = 0;   ///< standard deviation, relative to that of the values
  double spread = 0;  ///< standard deviation of the values, in units of the objective
  double fit = 0;     ///< share of the variance that leave-one-out predictions explain

  /// The noise in units of the objective.
  double noise_of_values() const { return noise * spread; }
  /// "good", "fair" or "poor".
  const char* fit_in_words() const { return fit >= 0.8 ? "good" : fit >= 0.4 ? "fair" : "poor"; }
};

/// All evaluations of an expensive objective in a run, in order.
struct Evaluations {
  std::vector<Evaluation> all;
  ModelSummary model;  ///< without lengths if there was no model yet
};

}  // namespace kiln
