// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

std::int64_t burn_in_of(const RunFiles& files) {
  const auto text = text_at(files.run, {"schedule", "parameters", "burn_in"});
  return text ? static_cast<std::int64_t>(number_in(*text).value_or(0)) : 0;
}

bool shares_rungs(const ReplicaSeries& series) {
  std::vector<std::int32_t> rungs;
  for (std::int64_t r = 0; r < series.size; ++r)
    rungs.push_back(series.rung[static_cast<std::size_t>(r)].front());
  std::ranges::sort(rungs);
  return std::ranges::adjacent_find(rungs) != rungs.end();
}

bool has_ladder(const std::string& schedule) {
  return schedule == "parallel-tempering" || schedule == "replica-exchange";
}

std::int64_t last_sweep_of(const TelemetryReader& telemetry) {
  return telemetry.records().empty() ? 0
                                     : static_cast<std::int64_t>(telemetry.records().back().step);
}

std::string few_epochs_note(const ReplicaSeries& series, std::int64_t begin,
                            const Recording& recording) {
  std::string help = "run longer";
  if (series.max_apart > series.min_apart) {
    help = budget_advice(recording);
  } else if (recording.min_apart > recording.sweeps_per_tick) {
    help += ", or with a smaller --telemetry-interval";
  }
  return fmt::format(
      "Flow and memory need {} epochs after the first {} sweeps, and there are {}: "
      "{}.",
      min_epochs, begin, series.epochs, help);
}

void analyze_telemetry(const RunFiles& files, const RunAnalysisOptions& options, Backend& backend,
                       RunAnalysis& run) {
  const TelemetryReader& telemetry = *files.telemetry;
  run.sweeps = last_sweep_of(telemetry);
  if (telemetry.header().level != TelemetryLevel::replicas) {
    // Of an expensive objective the evaluations matter.
    if (files.evaluations) return;
    run.notes.emplace_back(
        "The telemetry has no energies of replicas: flow, memory and clones need "
        "--telemetry replicas.");
    return;
  }
  // Ladders adapt in the burn-in, and trends at the start look like flow.
  const std::int64_t burn_in = burn_in_of(files);
  const std::int64_t begin = std::max(burn_in, run.sweeps / 3);
  const std::int64_t groups =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(telemetry.header().groups));
  std::int64_t most = std::max(min_epochs, options.points / groups);
  ReplicaSeries series = densest_series(telemetry, burn_in, min_epochs, most);
  if (series.groups > groups) {  // blocks of ladders
    most = std::max(min_epochs, options.points / series.groups);
    series = densest_series(telemetry, burn_in, min_epochs, most);
  }
  run.exchange = exchange_of(files);
  run.recording = recording_of(telemetry.header(), series, burn_in, most);
  run.replicas = series.groups * series.size;
  if (run.replicas > 1) run.clones = clones_of(replica_series(telemetry, begin, most));
  if (!has_ladder(run.schedule)) {
    run.notes.push_back(fmt::format(
        "{} has no ladder: there are no rungs between which information flows.", run.schedule));
  } else if (series.size < 2) {
    run.notes.emplace_back("The ladder has one rung: there is no neighbour from which to learn.");
  } else if (series.epochs > 0 && shares_rungs(series)) {
    run.notes.emplace_back(
        "The telemetry puts several ladders into one group, so that rungs have several replicas: "
        "flow and memory need one replica per rung. Fewer replicas (--replicas N) give each ladder "
        "a group.");
  } else if (series.epochs < min_epochs) {
    run.notes.push_back(few_epochs_note(series, begin, run.recording));
  } else {
    run.ladder = analyze_ladder(series, options, backend);
  }
}

}  // namespace

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
