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
  std::int64_t study = 0;  ///< from 0: which of several independent searches asked for it
  std::int64_t batch = 0;  ///< from 1: evaluated together; 0: it was known before the run
  State state;
  double value = 0;                 ///< in the user's sense and units; NaN: it failed
  std::vector<double> constraints;  ///< met where at most 0
  /// [objectives], of several: as `value` is, which is the first of them; empty where there is one.
  std::vector<double> objectives = {};
};

/// Length scales and fit of the surrogate model, in the first study.
struct ModelSummary {
  /// By name of the variable, in units of its range: how far one has to go for another value. A
  /// short one says that the variable matters.
  std::vector<std::pair<std::string, double>> lengths;
  double noise = 0;   ///< standard deviation, as a share of that of the values
  double spread = 0;  ///< standard deviation of the values, in units of the objective
  double fit = 0;     ///< share of the variance of the values that the others predict; 1: all of it

  /// The noise in units of the objective.
  double noise_of_values() const { return noise * spread; }
  /// "good", "fair" or "poor".
  const char* fit_in_words() const { return fit >= 0.8 ? "good" : fit >= 0.4 ? "fair" : "poor"; }
};

/// Everything that a schedule of few evaluations saw, in order.
struct Evaluations {
  std::vector<Evaluation> all;
  ModelSummary model;  ///< without lengths where there was no model yet
};

}  // namespace kiln
