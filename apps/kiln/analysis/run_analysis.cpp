// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "kiln/information/estimate_information.hpp"
#include "kiln/statistics/chain_statistics.hpp"

#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
// Flow between rungs is weak, a few hundredths of a nat: many neighbours have a third of the spread
// of few, and the bias is the same in surrogates.
constexpr std::int32_t neighbors = 16;

/// The energies of a rung in all ladders, one after the other. The gap between two ladders keeps
/// delay vectors within a ladder.
Series pooled(const ReplicaSeries& series, std::int64_t rung) {
  Series pooled{fmt::format("rung {}", rung), {}};
  for (std::int64_t g = 0; g < series.groups; ++g) {
    const std::vector<double> energies = series.on_rung(g, rung);
    pooled.values.insert(pooled.values.end(), energies.begin(), energies.end());
    pooled.values.push_back(nothing);
  }
  return pooled;
}

InformationOptions options_of(InformationMeasure measure, const RunAnalysisOptions& options) {
  InformationOptions how;
  how.measure = measure;
  how.k = neighbors;
  how.surrogates = options.surrogates;
  how.surrogate_kind = SurrogateKind::rotation;
  how.seed = options.seed;
  return how;
}

double autocorrelation_sweeps(const ReplicaSeries& series, std::int64_t rung) {
  std::vector<double> all;
  for (std::int64_t g = 0; g < series.groups; ++g) {
    const std::vector<double> energies = series.on_rung(g, rung);
    all.insert(all.end(), energies.begin(), energies.end());
  }
  if (std::ranges::any_of(all, [](double x) { return std::isnan(x); })) return nothing;
  double draws = 0;
  for (std::int64_t g = 0; g < series.groups; ++g) {
    draws += effective_draws({std::span(all).subspan(static_cast<std::size_t>(g * series.epochs),
                                                     static_cast<std::size_t>(series.epochs)),
                              1, series.epochs});
  }
  return static_cast<double>(series.groups * series.epochs * series.sweeps_apart) / draws;
}

// Links of both directions are one family of tests.
void mark_significant(LadderAnalysis& ladder, double rate) {
  std::vector<InformationLink*> links;
  for (InformationLink& link : ladder.up) links.push_back(&link);
  for (InformationLink& link : ladder.down) links.push_back(&link);
  std::vector<double> p_values;
  for (const InformationLink* const link : links) p_values.push_back(link->estimate.p_value);
  const std::vector<double> rates = false_discovery_rates(p_values);
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i]->q_value = rates[i];
    links[i]->significant = rates[i] <= rate;
  }
}

std::int64_t burn_in_of(const RunFiles& files) {
  const auto text = text_at(files.run, {"schedule", "parameters", "burn_in"});
  return text ? static_cast<std::int64_t>(number_in(*text).value_or(0)) : 0;
}

bool has_ladder(const std::string& schedule) {
  return schedule == "parallel-tempering" || schedule == "replica-exchange";
}

std::int64_t last_sweep_of(const TelemetryReader& telemetry) {
  return telemetry.records().empty() ? 0
                                     : static_cast<std::int64_t>(telemetry.records().back().step);
}

void analyze_telemetry(const RunFiles& files, const RunAnalysisOptions& options, Backend& backend,
                       RunAnalysis& run) {
  const TelemetryReader& telemetry = *files.telemetry;
  run.sweeps = last_sweep_of(telemetry);
  if (telemetry.header().level != TelemetryLevel::replicas) {
    run.notes.emplace_back(
        "The telemetry has no energies of replicas: flow, memory and clones need "
        "--telemetry replicas.");
    return;
  }
  // Ladders adapt in the burn-in, and trends at the start look like flow.
  const std::int64_t begin = std::max(burn_in_of(files), run.sweeps / 3);
  const std::int64_t groups =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(telemetry.header().groups));
  const std::int64_t most = std::max(least_epochs, options.points / groups);
  const ReplicaSeries series = replica_series(telemetry, begin, most);
  run.replicas = series.groups * series.size;
  if (run.replicas > 1) run.clones = clones_of(series);
  if (!has_ladder(run.schedule)) {
    run.notes.push_back(fmt::format(
        "{} has no ladder: there are no rungs between which information flows.", run.schedule));
  } else if (series.size < 2) {
    run.notes.emplace_back("The ladder has one rung: there is no neighbour from which to learn.");
  } else if (series.epochs < least_epochs) {
    run.notes.push_back(fmt::format(
        "Flow and memory need {} epochs after the first {} sweeps, and there are {}: run longer, "
        "or with a smaller --telemetry-interval.",
        least_epochs, begin, series.epochs));
  } else {
    run.ladder = analyze_ladder(series, options, backend);
  }
}

}  // namespace

std::int64_t LadderAnalysis::significant_links() const {
  const auto significant = [](const InformationLink& link) { return link.significant; };
  return std::ranges::count_if(up, significant) + std::ranges::count_if(down, significant);
}

LadderAnalysis analyze_ladder(const ReplicaSeries& series, const RunAnalysisOptions& options,
                              Backend& backend) {
  LadderAnalysis ladder;
  ladder.ladders = series.groups;
  ladder.rungs = series.size;
  ladder.epochs = series.epochs;
  ladder.first_sweep = series.first_sweep;
  ladder.sweeps_apart = series.sweeps_apart;
  std::vector<Series> rungs;
  for (std::int64_t r = 0; r < series.size; ++r) rungs.push_back(pooled(series, r));
  const InformationOptions flow = options_of(InformationMeasure::transfer_entropy, options);
  for (std::int32_t r = 0; r + 1 < static_cast<std::int32_t>(series.size); ++r) {
    ladder.up.push_back(estimate_information(rungs, {{r}, {r + 1}, {}}, flow, backend).links.at(0));
    ladder.down.push_back(
        estimate_information(rungs, {{r + 1}, {r}, {}}, flow, backend).links.at(0));
  }
  mark_significant(ladder, options.significance);
  const InformationOptions storage = options_of(InformationMeasure::active_storage, options);
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(series.size); ++r) {
    ladder.memory.push_back(
        {autocorrelation_sweeps(series, r),
         estimate_information(rungs, {{}, {r}, {}}, storage, backend).links.at(0).estimate});
  }
  return ladder;
}

RunAnalysis analyze_run(const RunFiles& files, const RunAnalysisOptions& options,
                        Backend& backend) {
  RunAnalysis run;
  run.folder = files.folder;
  run.problem = text_at(files.run, {"problem", "name"}).value_or("?");
  run.schedule = text_at(files.run, {"schedule", "name"}).value_or("?");
  run.under_way = files.under_way;
  run.surrogates = options.surrogates;
  run.significance = options.significance;
  run.notes = files.notes;
  if (files.telemetry) analyze_telemetry(files, options, backend, run);
  if (files.evaluations) run.inputs = rank_inputs(*files.evaluations, options, backend);
  if (!run.ladder && !run.clones && !run.inputs) {
    const std::string why = run.notes.empty()
                                ? std::string("there is neither telemetry.bin nor evaluations.csv")
                                : run.notes.back();
    throw InputError("analyze.nothing", files.folder + ": nothing to analyse: " + why,
                     "expected: a run folder with energies of replicas in telemetry.bin, or with "
                     "evaluations.csv",
                     "kiln solve ... --telemetry replicas -o out/run");
  }
  run.advice = advice_of(run);
  return run;
}

RunAnalysis analyze_run(const std::string& folder, const RunAnalysisOptions& options,
                        Backend& backend) {
  return analyze_run(read_run_files(folder), options, backend);
}

}  // namespace kiln::cli
