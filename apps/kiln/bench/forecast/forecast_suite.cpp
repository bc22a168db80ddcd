// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench forecast: how well models forecast where runs end, on instances that they do not know.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "kiln/errors.hpp"
#include "kiln/forecast/forecaster.hpp"
#include "kiln/forecast/ridge_model.hpp"

#include "bench/forecast/families.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t max_runs = 1000, min_runs = 120;
// A figure about two cores, so that the number of runs follows from options and not from the clock.
constexpr double runs_per_second = 45;
// A tick has eight sweeps, and the first forecast comes after an eighth of them.
constexpr std::int64_t min_sweeps = std::int64_t{RunCurve::min_points} * 8 * 8;
// Fractions of the work at which nothing is calibrated, one or two of each stage.
constexpr std::array<double, 6> between_fractions{0.15, 0.2, 0.33, 0.42, 0.6, 0.9};
constexpr double level = 0.9, min_coverage = 0.85, max_coverage = 0.95, max_crps_ratio = 0.9;

/// The runs of a family, split by purpose.
struct Runs {
  std::vector<RunCurve> training, selection, calibration, test;
  std::uint64_t count = 0, ignored = 0;
};

// Of twenty instances six train, three choose the model, six calibrate, five test.
Runs make_runs(const BenchRun& run, const ForecastFamily& family, double limit_s) {
  Runs runs;
  const double fitting = std::min(limit_s * runs_per_second, static_cast<double>(max_runs));
  const std::uint64_t wanted =
      run.options.quick ? min_runs : std::max(min_runs, static_cast<std::uint64_t>(fitting));
  for (; runs.count < wanted; ++runs.count) {
    RunCurve curve = family.run(run, runs.count);
    runs.ignored += static_cast<std::uint64_t>(curve.ignored());
    const std::uint64_t place = runs.count % 20;
    std::vector<RunCurve>& part = place < 6    ? runs.training
                                  : place < 9  ? runs.selection
                                  : place < 15 ? runs.calibration
                                               : runs.test;
    part.push_back(std::move(curve));
  }
  return runs;
}

/// How many forecasts had the later best energy in their band.
struct Coverage {
  std::int64_t inside = 0, forecasts = 0;

  void add(bool is_inside) {
    inside += is_inside ? 1 : 0;
    ++forecasts;
  }
  /// NaN without a forecast, which JSON has as null.
  double fraction() const { return static_cast<double>(inside) / static_cast<double>(forecasts); }
  std::string percent() const {
    return forecasts == 0 ? "-" : fmt::format("{:.1f}", 100 * fraction());
  }
};

struct Outcome {
  std::string model;
  double crps = 0, width = 0;
  std::array<Coverage, forecast_stages> stages{};
  Coverage all, between;
  bool chosen = false;
};

Outcome test_model(const std::shared_ptr<const ForecastModel>& model, const Runs& runs) {
  const Forecaster forecaster(model, calibrate(*model, runs.calibration));
  const ModelScore score = score_model(*model, forecaster.calibration(), runs.test);
  Outcome outcome{model->name(), score.crps, 0, {}, {}, {}, false};
  for (const RunCurve& curve : runs.test) {
    const auto forecast_at = [&](double fraction) {
      return forecaster.forecast(curve.until(fraction * curve.work()), curve.work(), level);
    };
    for (std::size_t s = 0; s < forecast_stages; ++s) {
      const std::optional<Forecast> forecast = forecast_at(stage_fractions[s]);
      if (!forecast) continue;
      const ForecastBand& band = forecast->band;
      outcome.stages[s].add(band.contains(curve.best()));
      outcome.all.add(band.contains(curve.best()));
      outcome.width += (band.upper - band.lower) / curve.fall();
    }
    for (const double fraction : between_fractions) {
      const std::optional<Forecast> forecast = forecast_at(fraction);
      if (forecast) outcome.between.add(forecast->band.contains(curve.best()));
    }
  }
  outcome.width /= static_cast<double>(outcome.all.forecasts);
  return outcome;
}

std::vector<Outcome> test_models(const Runs& runs) {
  std::vector<std::shared_ptr<const ForecastModel>> models = untrained_models();
  models.push_back(std::make_shared<RidgeModel>(RidgeModel::train(runs.training)));
  const Forecaster automatic = Forecaster::choose(models, runs.selection, runs.calibration);
  std::vector<Outcome> outcomes;
  for (const auto& model : models) {
    outcomes.push_back(test_model(model, runs));
    outcomes.back().chosen = model.get() == &automatic.model();
  }
  return outcomes;
}

bool meets_gates(const Outcome& outcome, double ratio) {
  const double coverage = outcome.all.fraction();
  return coverage >= min_coverage && coverage <= max_coverage && ratio <= max_crps_ratio;
}

void report_outcome(const BenchRun& run, const std::string& family, const Runs& runs,
                    const Outcome& outcome, double last_crps, BenchReport& report) {
  const double ratio = last_crps > 0 ? outcome.crps / last_crps : 1;
  const bool met = meets_gates(outcome, ratio);
  Json by_stage = Json::array();
  std::vector<std::string> cells{family, outcome.model, outcome.all.percent()};
  for (const Coverage& stage : outcome.stages) {
    by_stage.push_back(stage.fraction());
    cells.push_back(stage.percent());
  }
  cells.insert(cells.end(), {outcome.between.percent(), fmt::format("{:.4f}", outcome.width),
                             fmt::format("{:.3f}", ratio),
                             !outcome.chosen ? ""
                             : met           ? "yes"
                                             : "yes, gate missed"});
  report.table.push_back(cells);
  report.rows.push_back({{"family", family},
                         {"model", outcome.model},
                         {"backend", run.on_cpu() ? "cpu" : "cuda"},
                         {"runs", runs.count},
                         {"sweeps", run.options.sweeps ? Json(*run.options.sweeps) : Json()},
                         {"test_runs", runs.test.size()},
                         {"forecasts", outcome.all.forecasts},
                         {"ignored_points", runs.ignored},
                         {"level", level},
                         {"coverage", outcome.all.fraction()},
                         {"coverage_by_stage", by_stage},
                         {"coverage_between", outcome.between.fraction()},
                         {"width", outcome.width},
                         {"crps", outcome.crps},
                         {"crps_ratio", ratio},
                         {"chosen", outcome.chosen},
                         {"met", outcome.chosen ? Json(met) : Json(nullptr)}});
}

}  // namespace

BenchReport run_forecast_suite(const BenchRun& run) {
  if (run.options.sweeps && *run.options.sweeps < min_sweeps) {
    throw InvalidArgument("bench.sweeps",
                          fmt::format("after an eighth of {} sweeps a run has too few points for a "
                                      "forecast",
                                      *run.options.sweeps),
                          fmt::format("{} sweeps or more", min_sweeps),
                          fmt::format("--sweeps {}", min_sweeps));
  }
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "forecasts from 1/8, 1/4, 1/2 and 3/4 of the work to the end of runs of unseen "
                   "instances"}};
  report.table = {{"family", "model", "in band %", "at 1/8", "1/4", "1/2", "3/4", "between",
                   "width", "CRPS/last", "auto"}};
  report.first_number = 2;
  report.notes.emplace_back(
      "in band: forecasts whose band of 90 % has the final value; between: from fractions of the "
      "work without a calibration; width: mean, in units of the fall of the energy; auto: the "
      "model with the least CRPS on instances for the choice alone");
  const auto name_of = [](const ForecastFamily& family) { return family.name; };
  measure_rows(run, forecast_families(), name_of, report,
               [&](const ForecastFamily& family, double limit_s) {
                 const Runs runs = make_runs(run, family, limit_s);
                 const std::vector<Outcome> outcomes = test_models(runs);
                 for (const Outcome& outcome : outcomes) {
                   report_outcome(run, family.name, runs, outcome, outcomes[0].crps, report);
                 }
               });
  return report;
}

}  // namespace kiln::cli
