// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/session/session_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/pipelines/stages.hpp"
#include "kiln/problems/expression.hpp"

#include "cli/repeat.hpp"
#include "errors.hpp"
#include "output/atomic_file.hpp"
#include "output/metrics.hpp"
#include "output/text.hpp"

namespace kiln::cli {

void require_verified(const Result& result, const Problem& problem) {
  if (result.verified) return;
  if (!result.feasible()) {
    throw ObjectiveError(
        "result.infeasible",
        fmt::format(
            "{}: the run found no feasible state; the best state exceeds the constraints by {:.6g}",
            clean(problem.identity.name), result.violation()),
        {}, "search longer, or start from a feasible state (--initial)");
  }
  throw SelfCheckError(
      "check.mismatch",
      fmt::format("{}: the value of the best state, recomputed on the CPU, differs "
                  "from the value that the run on {} reports",
                  clean(problem.identity.name), clean(result.device)),
      "The reported value is wrong, and Kiln does not show it.",
      "repeat with --device cpu, and please report this");
}

void require_front(const Result& result, const Problem& problem) {
  if (!result.front || !result.front->members.empty()) return;
  const Front& front = *result.front;
  if (front.candidates == 0) {
    throw ObjectiveError("run.no_evaluation", "the run ended before its first evaluation", {},
                         "raise --time-limit");
  }
  if (front.nearest.empty()) {
    throw ObjectiveError(
        "objective.not_finite",
        fmt::format("{}: the run found no state with a finite value of every objective",
                    clean(problem.identity.name)));
  }
  throw ObjectiveError(
      "result.infeasible",
      fmt::format(
          "{}: the run found no feasible state; the best state exceeds the constraints by {:.6g}",
          clean(problem.identity.name), front.min_violation),
      {}, "search longer, or start from a feasible state (--initial)");
}

void require_unchanged(const LoadedProblem& loaded, const CommandOptions& options) {
  if (options.expected_fingerprint.empty()) return;
  if (loaded.fingerprint == options.expected_fingerprint) return;
  if (!options.changed_problem_options.empty()) {
    throw InputError(
        "repeat.changed",
        fmt::format("{}: these options make another problem than that of the recorded run: {}",
                    clean(options.problem), fmt::join(options.changed_problem_options, "; ")),
        {}, "remove them, or name the problem on the command line to repeat only the options");
  }
  throw InputError(
      "repeat.changed",
      fmt::format("{}: the data differ from the data of the recorded run", clean(options.problem)),
      {}, "to repeat only the options, name the problem on the command line");
}

void require_sampler(const ScheduleEntry& entry, const Registry& registry) {
  if (entry.samples) return;
  std::string names;
  for (const ScheduleEntry* one : registry.schedules()) {
    if (one->samples) names += (names.empty() ? "" : ", ") + one->name;
  }
  throw InvalidArgument("schedule.no_draws",
                        fmt::format("schedule '{}' is for searches and keeps no draws", entry.name),
                        "schedules that sample: " + names,
                        fmt::format("kiln solve PROBLEM --schedule {}", entry.name));
}

void require_possible_naming(const CommandOptions& options, const Schedule& schedule) {
  const auto naming = options.settings.find("draw-naming");
  const std::map<std::string, std::string> parameters = schedule.parameters();
  const auto noise = parameters.find("noise");
  if (naming == options.settings.end() || naming->second.origin != Origin::config) return;
  if (noise == parameters.end() || noise->second != "shared") return;
  const Setting& setting = naming->second;
  if (setting.text == "auto") return;
  const std::string what = options.recorded ? fmt::format("{}: the recorded run drew by {}",
                                                          clean(setting.place), clean(setting.text))
                                            : fmt::format("{}={}", label_of("draw-naming", setting),
                                                          clean(setting.text));
  throw InvalidArgument("run.draw_naming", what + ", and shared noise excludes this naming", {},
                        "--draw-naming auto, or -p noise=independent");
}

void leave_out_telemetry(CommandOptions& options, const Schedule& schedule) {
  if (schedule.as<HasStages>() == nullptr) return;
  if (options.has("telemetry") && options.run.telemetry.level != TelemetryLevel::off) {
    throw InvalidArgument("cli.telemetry",
                          fmt::format("{}: a pipeline has no telemetry",
                                      label_of("telemetry", options.settings.at("telemetry"))),
                          "records have the groups of one stage, and stages have different groups",
                          "remove --telemetry; trace.csv and events.ndjson go through all stages");
  }
  options.run.telemetry.level = TelemetryLevel::off;
}

void require_telemetry(const CommandOptions& options, const ScheduleEntry& entry) {
  if (!entry.several_objectives) return;
  const auto refuse = [&](const std::string& name) {
    const auto given = options.settings.find(name);
    if (given == options.settings.end()) return;
    const std::string value = given->second.text.empty() ? "" : "=" + clean(given->second.text);
    throw InvalidArgument(
        "cli.telemetry",
        fmt::format("{}{}: schedule '{}' searches for a front, and has neither telemetry nor "
                    "incumbents",
                    label_of(name, given->second), value, entry.name),
        "they are about the energies of replicas, which states of a front do not have",
        fmt::format("remove --{}; trace.csv and events.ndjson have the hypervolume of the front",
                    name));
  };
  const bool budget = options.value<std::int64_t>("telemetry-budget").value_or(0) > 0;
  if (options.has("telemetry") && options.run.telemetry.level != TelemetryLevel::off) {
    refuse("telemetry");
  }
  if (budget) refuse("telemetry-budget");
  refuse("telemetry-interval");
  refuse("incumbent-solutions");
}

[[noreturn]] static void refuse_no_density(const std::string& name, const CommandOptions& options) {
  throw InvalidArgument(
      "problem.no_density",
      name + " is an optimisation problem, not a posterior; kiln sample needs a log-density",
      "kiln list problems shows the posteriors",
      fmt::format("kiln solve {}", clean(options.problem)));
}

Problem with_density(Problem problem, const CommandOptions& options) {
  if (problem.identity.family == "expr") {
    return problems::posterior_of_expression(std::move(problem));
  }
  if (!problem.posterior) refuse_no_density(clean(problem.identity.name), options);
  return problem;
}

void require_sampled_family(const CommandOptions& options, const Registry& registry) {
  const std::string name = options.problem.substr(0, options.problem.find(':'));
  if (!registry.has_problem(name)) return;
  const ProblemEntry& entry = registry.problem(name);
  if (entry.settings.empty() || entry.takes_data) return;
  refuse_no_density(clean(options.problem), options);
}

namespace {

// First states may take hours: a file is judged before them.
void check_replaceable(const std::string& path, bool (*may_replace)(const std::string& path),
                       const std::string& kind, const std::string& fix) {
  std::error_code error;
  const auto type = std::filesystem::symlink_status(path, error).type();
  check_writable(path);
  if (type == std::filesystem::file_type::not_found) return;
  if (type != std::filesystem::file_type::regular) {
    throw IoError("io.exists",
                  clean(path) + " is not a regular file, and Kiln does not overwrite it", {}, fix);
  }
  if (may_replace(path)) return;
  throw IoError("io.exists",
                fmt::format("{} is not {}, and Kiln does not overwrite it", clean(path), kind), {},
                fix);
}

// The first line is enough.
bool is_metrics_file(const std::string& path) {
  std::ifstream file(path);
  std::array<char, 64> beginning{};
  file.read(beginning.data(), beginning.size());
  const auto size = static_cast<std::size_t>(file.gcount());
  return !file.bad() && (size == 0 || is_metrics_text({beginning.data(), size}));
}

}  // namespace

void check_save(const std::string& path) {
  check_replaceable(path, is_run_document, "a run.json", "--save another-name.json");
}

void check_metrics(const std::string& path, const std::string& run_folder) {
  namespace fs = std::filesystem;
  const fs::path file = fs::absolute(path);
  const bool is_inside = !run_folder.empty() && fs::weakly_canonical(file.parent_path()) ==
                                                    fs::weakly_canonical(fs::absolute(run_folder));
  if (is_inside && file.extension() != ".prom") {
    throw IoError("io.exists",
                  clean(path) +
                      " is in the folder of the run, where it may take the place of a file "
                      "of the run",
                  {}, "--metrics another-name.prom");
  }
  check_replaceable(path, is_metrics_file, "a file of Kiln's metrics",
                    "--metrics another-name.prom");
}

}  // namespace kiln::cli
