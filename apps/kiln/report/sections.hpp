// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "diagnosis/diagnosis.hpp"
#include "report/run_files.hpp"

// The sections of a report on one run, as HTML. Each is "" where the files have nothing for it.
namespace kiln::cli {

/// "sweep", "generation", ...: what a step of the schedule is called.
std::string step_of(const RunFiles& files);
/// "sweeps", "generations", "batches"
std::string steps_of(const RunFiles& files);
/// Whether larger values are better.
bool is_maximized(const RunFiles& files);
/// The name of the value: "cut".
std::string value_name_of(const RunFiles& files);
/// The value along a run, of its incumbents, trace and telemetry: of a run that scalarises several
/// objectives a weighed value, to be minimised, whereas its result is a hypervolume.
struct TracedValue {
  std::string name;
  bool maximized = false;
  bool of_result = true;  ///< whether the result has the same value
};
TracedValue traced_value_of(const RunFiles& files);
/// Seconds of the run so far.
double run_seconds(const RunFiles& files);
/// The command that repeats the run into a new folder.
std::string repeat_command(const RunFiles& files);

/// "simulated-annealing on cpu 2 threads, seed 1, Kiln 0.2.0"
std::string subtitle_html(const RunFiles& files);
/// Result, time, device and seed, what to repeat it with, and advice.
std::string headline_html(const RunFiles& files);
/// Best and mean against time and work, the gap, and what else the trace has.
std::string curves_html(const RunFiles& files);
/// Best, mean and spread, acceptance, and groups by epoch: the records of telemetry.bin.
std::string telemetry_html(const RunFiles& files);
/// The ladder of a tempering run.
std::string ladder_html(const Diagnosis& run);
/// Series of other schedules.
std::string series_html(const Diagnosis& run);
std::string diagnostics_html(const Diagnosis& run);
std::string front_html(const nlohmann::json& result);
std::string posterior_html(const RunFiles& files);
/// Evaluations of an expensive objective and the model of them.
std::string evaluations_html(const RunFiles& files);
std::string memory_html(const nlohmann::json& result);
std::string profile_html(const nlohmann::json& result);
std::string hardware_html(const nlohmann::json& result);
/// Warnings, alerts, checkpoints and stops.
std::string events_html(const RunFiles& files);
std::string options_html(const nlohmann::json& run);
std::string environment_html(const RunFiles& files);
/// What of the files could not be read.
std::string notes_html(const RunFiles& files);

}  // namespace kiln::cli
