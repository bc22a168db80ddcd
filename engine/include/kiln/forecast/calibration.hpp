// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/forecast/curve.hpp"
#include "kiln/forecast/forecast_model.hpp"

namespace kiln {

/// The best energies that a run may end with: a closed interval.
struct ForecastBand {
  double lower = 0, upper = 0;  ///< upper is at most the present best energy
  double level = 0;             ///< fraction of runs whose best energy lies in the band

  bool contains(double energy) const { return lower <= energy && energy <= upper; }
};

/// Number of stages of a run. Forecasts made early err more than late ones, so each stage has its
/// scores. A stage is a range of the fraction of the work that is done: up to 3/16, 3/8, 5/8, 1.
inline constexpr std::size_t forecast_stages = 4;
/// The fraction of the work at which a past run is calibrated, for each stage.
inline constexpr std::array<double, forecast_stages> stage_fractions{0.125, 0.25, 0.5, 0.75};
/// The stage of a forecast.
/// @param now  work done, positive
/// @param work  later work of the forecast
KILN_API std::size_t stage_of(double now, double work);

/// Split conformal calibration: turns predictions into bands that hold on unseen instances.
///
/// The score of a past run is (actual - mean) / deviation; a run that kept its best energy has the
/// score +infinity. For n scores of a stage and level 1 - a, the k-th smallest and the k-th largest
/// score with k = floor((n + 1) a / 2) give the ends of a band. The band contains the actual value
/// of a further run with probability at least 1 - a if all n + 1 runs are exchangeable, for example
/// runs with one seed of instances from one family. A run adds one score to a stage, so prefixes of
/// the same run do not count as several runs.
///
/// If even the (k + 1)-th largest score is +infinity, many runs keep their best energy. The band
/// then ends at the present best energy and cannot miss above. So the part a / 2 of that tail goes
/// to the other one: k = floor((n + 1) a).
/// @par Source  Lei, G'Sell, Rinaldo, Tibshirani, Wasserman, JASA 113 (2018) 1094; Vovk, Lindsay,
/// Nouretdinov, Gammerman, Mondrian Confidence Machine (2003), for groups.
class KILN_API Calibration {
 public:
  /// Adds the outcome of a past run that the model has not been trained on.
  /// @param stage  of the prediction
  /// @param prediction  of the model
  /// @param best  best energy when the prediction was made
  /// @param actual  best energy at the work of the prediction
  /// @throws InvalidArgument `forecast.stage` for a stage that does not exist;
  /// `forecast.prediction` unless its mean is finite and its deviation positive; `forecast.actual`
  /// unless `actual` is finite and at most `best`.
  void add(std::size_t stage, const Prediction& prediction, double best, double actual);

  /// The scores of a stage, ascending.
  std::span<const double> scores(std::size_t stage) const { return scores_.at(stage); }

  /// The band of a new run. Its ends are rounded outward.
  /// @param stage  of the prediction
  /// @param prediction  of the model
  /// @param best  the present best energy
  /// @param level  0 < level < 1
  /// @throws InvalidArgument `forecast.level`; `forecast.scores` if the stage has fewer than
  /// min_scores(level) scores.
  ForecastBand band(std::size_t stage, const Prediction& prediction, double best,
                    double level) const;
  /// The distribution behind all bands: one energy for each score, ascending. Empty without scores.
  std::vector<double> ensemble(std::size_t stage, const Prediction& prediction, double best) const;

  /// The fewest scores for a band of this level: 19 for 0.9.
  static std::int64_t min_scores(double level);

 private:
  std::array<std::vector<double>, forecast_stages> scores_;
};

/// Calibrates a model on whole past runs: one score for each run and stage. A run whose prefix has
/// no forecast adds no score to that stage.
KILN_API Calibration calibrate(const ForecastModel& model, std::span<const RunCurve> past);

}  // namespace kiln
