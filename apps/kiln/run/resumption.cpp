// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/resumption.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr const char *verb_note = "verb", *data_note = "problem.fingerprint",
                     *finished_note = "finished";

std::string note_of(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.notes().find(name);
  return found == checkpoint.notes().end() ? std::string{} : found->second;
}

// Limits of the command line take the place of those of the run.
void take(const Budget& given, Budget& left) {
  if (given.time_limit_s) left.time_limit_s = given.time_limit_s;
  if (given.sweeps) left.sweeps = given.sweeps;
  if (given.target) left.target = given.target;
  if (given.work_limit) left.work_limit = given.work_limit;
  if (!given.until.empty()) left.until = given.until;
  if (given.stop_when) left.stop_when = given.stop_when;
}

[[noreturn]] void refuse_limit(const std::string& option, const std::string& schedule,
                               const std::string& has) {
  throw InvalidArgument(
      "resume.limit",
      fmt::format("--{} is no limit of this run: schedule {} {}", option, schedule, has), {},
      "--sweeps N or --time-limit TIME");
}

}  // namespace

bool ResumeLimits::any() const {
  return budget.has_limit() || !budget.until.empty() || draws || evaluations || generations;
}

CheckpointNotes checkpoint_notes(const RunVerb& verb, const LoadedProblem& loaded,
                                 const std::string& finished) {
  return {{verb_note, verb.name}, {data_note, loaded.fingerprint}, {finished_note, finished}};
}

void require_data(const Resumption& resumption, const LoadedProblem& loaded) {
  if (!resumption.found) return;
  const Checkpoint& checkpoint = resumption.found->checkpoint;
  const std::string saved = note_of(checkpoint, data_note);
  if (saved == loaded.fingerprint) return;
  throw CheckpointError(
      "checkpoint.other_run",
      fmt::format("{}: the data of the problem have the fingerprint {}, and "
                  "those of the saved run {}",
                  clean(checkpoint.file().string()), clean(loaded.fingerprint), clean(saved)),
      {}, "continue with the data that the run began with");
}

// What a run has reached is no limit of its continuation.
Budget Resumption::left_of(Budget planned) const {
  const Checkpoint& checkpoint = found->checkpoint;
  const std::string finished = note_of(checkpoint, finished_note);
  if (planned.time_limit_s) *planned.time_limit_s -= checkpoint.run_s();
  if (planned.time_limit_s && (*planned.time_limit_s <= 0 || finished == "time_limit")) {
    planned.time_limit_s.reset();
  }
  const auto steps = static_cast<std::int64_t>(checkpoint.steps());
  if (planned.sweeps && (*planned.sweeps <= steps || finished == "sweep_limit")) {
    planned.sweeps.reset();
  }
  if (finished == "target_reached") planned.target.reset();
  if (finished == "work_limit") planned.work_limit.reset();
  if (finished == "gain_limit") planned.stop_when.reset();
  return planned;
}

// Of a run that was killed behind its last tick: what is missing is the result.
Budget Resumption::end_of(Budget planned) const {
  constexpr double shortest_s = 1e-3;
  if (planned.time_limit_s) {
    planned.time_limit_s = std::max(shortest_s, *planned.time_limit_s - found->checkpoint.run_s());
  }
  return planned;
}

// Limits count from the start of the run: one that is behind it would end it before what it has
// found.
void Resumption::require_ahead() const {
  const std::int64_t saved = found ? static_cast<std::int64_t>(found->checkpoint.steps()) : 0;
  const std::int64_t done = std::max(saved, former ? former->steps() : 0);
  const bool is_there = given.budget.sweeps == done;
  const auto refuse = [&](const std::string& option, const std::string& made,
                          const std::string& fix) {
    throw InvalidArgument(
        is_there ? "resume.finished" : "resume.limit",
        fmt::format("{} counts from the start, and the run has made {}", option, made), {}, fix);
  };
  // A continuation that was killed at its end is given the same limit again.
  const bool ended = found && !note_of(found->checkpoint, finished_note).empty();
  const auto& sweeps = given.budget.sweeps;
  if (sweeps && (*sweeps < done || (*sweeps == done && ended))) {
    const std::string made = fmt::format("{} steps of each replica", done);
    if (given.evaluations) {
      refuse(fmt::format("--evaluations={}", *given.evaluations), made,
             fmt::format("--evaluations {}", 2 * *given.evaluations / *sweeps * done));
    }
    const char* const name = given.generations ? "generations" : "sweeps";
    refuse(fmt::format("--{}={}", name, *sweeps), made, fmt::format("--{} {}", name, 2 * done));
  }
  const auto& work = given.budget.work_limit;
  if (work && ended && former && static_cast<double>(*work) <= former->work()) {
    refuse(fmt::format("--work-limit={}", *work), fmt::format("{:.6g}", former->work()),
           fmt::format("--work-limit {:.3g}", 2 * former->work()));
  }
}

Budget Resumption::limit(const Budget& planned) const {
  const Budget& more = given.budget;
  require_ahead();
  if (!found) {
    if (former && former->is_finished()) {
      throw InvalidArgument(
          "resume.finished",
          fmt::format("{}: the run is finished ({}) and has no checkpoint to continue from",
                      clean(folder), clean(former->stop())),
          {},
          fmt::format("kiln {} --repeat {} -o NEW", former->has_draws() ? "sample" : "solve",
                      shell_word(folder)));
    }
    Budget anew = planned;
    take(more, anew);
    return anew;
  }
  const std::string finished = note_of(found->checkpoint, finished_note);
  const bool gives = given.any();
  if (finished.empty() && !gives) return end_of(planned);
  const bool samples = note_of(found->checkpoint, verb_note) == sample_verb().name;
  const bool all_draws = samples && finished == "sweep_limit" && !planned.sweeps;
  const bool done = finished == "converged" || finished == "evaluation_limit" || all_draws;
  Budget left = left_of(planned);
  // Conditions that the draws have met are no limit of further draws.
  if (done && given.draws) left.until = {};
  take(more, left);
  if (given.draws || !more.until.empty()) return left;
  // A schedule that ended by itself has an end unless it is told another number of steps.
  const bool endless = !planned.has_limit() && !done;
  if (endless || more.sweeps || (left.has_limit() && !done)) return left;
  const std::string draws = found->checkpoint.field("-p draws");
  const std::string evaluations = found->checkpoint.field("-p evaluations");
  const std::string longer =
      samples                ? fmt::format("--draws {}", 2 * std::atoll(draws.c_str()))
      : !evaluations.empty() ? fmt::format("--evaluations {}", 2 * std::atoll(evaluations.c_str()))
      : !done                ? "--time-limit 60s"
                             : fmt::format("--{} {}", steps_option, 2 * found->checkpoint.steps());
  throw InvalidArgument("resume.finished",
                        fmt::format("{}: the run is finished ({}) after {} steps of each replica",
                                    clean(folder), clean(finished), found->checkpoint.steps()),
                        done ? "" : "a new limit: --time-limit, or a greater --sweeps",
                        fmt::format("kiln resume {} {}", shell_word(folder), longer));
}

void Resumption::count_steps(const ScheduleEntry& entry, const Schedule& schedule) {
  const std::string step(schedule.step_name());
  if (step == "generation") steps_option = "generations";
  const std::string counts_work = std::string("counts ") + to_string(schedule.work_kind());
  if (given.work_unit && *given.work_unit != schedule.work_kind()) {
    refuse_limit("work-limit", entry.name, counts_work);
  }
  if (const auto& gain = given.budget.stop_when) {
    const std::string unit = to_string(gain->unit);
    if (entry.several_objectives) refuse_limit("stop-when", entry.name, "has no single best value");
    if (gain->unit != GainCondition::Unit::sweeps && unit != to_string(schedule.work_kind())) {
      refuse_limit("stop-when in " + unit, entry.name, counts_work);
    }
  }
  std::optional<std::int64_t>& sweeps = given.budget.sweeps;
  if (given.generations) {
    if (step != "generation") refuse_limit("generations", entry.name, "counts " + step + "s");
    sweeps = given.generations;
  }
  if (!given.evaluations) return;
  if (!entry.few_evaluations) refuse_limit("evaluations", entry.name, "counts " + step + "s");
  const std::map<std::string, std::string> parameters = schedule.parameters();
  const std::int64_t batch = std::max<std::int64_t>(1, std::stoll(parameters.at("batch")));
  if (*given.evaluations % batch != 0) {
    throw InvalidArgument(
        "resume.limit",
        fmt::format("--evaluations={} ends within a batch of {}", *given.evaluations, batch),
        "a multiple of the batch",
        fmt::format("--evaluations {}", (*given.evaluations / batch + 1) * batch));
  }
  sweeps = *given.evaluations / batch;
}

std::optional<std::string> Resumption::draws(const CommandOptions& options) const {
  const std::string had = found ? found->checkpoint.field("-p draws") : std::string{};
  if (!options.verb->samples) return std::nullopt;
  if (!given.draws) return had.empty() ? std::nullopt : std::optional(had);
  if (!had.empty() && *given.draws <= std::stoll(had)) {
    throw InvalidArgument("resume.draws",
                          fmt::format("--draws={} counts from the start, and the run has {} draws "
                                      "of each chain",
                                      *given.draws, had),
                          {}, fmt::format("--draws {}", 2 * std::stoll(had)));
  }
  return std::to_string(*given.draws);
}

void Resumption::restore(Run& run) const {
  if (found) found->checkpoint.restore(run);
}

std::string Resumption::warning() const {
  if (!found || found->passed_over.empty()) return {};
  return fmt::format("warning[checkpoint.damaged]: {}; continuing from {}\n",
                     clean(found->passed_over), clean(found->checkpoint.file().string()));
}

std::string Resumption::text() const {
  if (!found) {
    return fmt::format("resume       {}: there is no checkpoint yet; the run begins anew\n",
                       clean(folder));
  }
  return fmt::format("resume       {} after {} and {} steps of each replica\n",
                     clean(found->checkpoint.file().string()),
                     human_seconds(found->checkpoint.run_s()), found->checkpoint.steps());
}

}  // namespace kiln::cli
