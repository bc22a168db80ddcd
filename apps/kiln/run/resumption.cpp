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

bool any(const Budget& budget) {
  return budget.time_limit_s || budget.sweeps || budget.target || budget.work_limit;
}

}  // namespace

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

Budget Resumption::limit(const Budget& planned) const {
  if (!found) return any(given) ? given : planned;
  const std::string finished = note_of(found->checkpoint, finished_note);
  if (finished.empty() && !any(given)) return end_of(planned);
  const bool done = finished == "converged" || finished == "evaluation_limit";
  Budget left = left_of(planned);
  if (given.time_limit_s) left.time_limit_s = given.time_limit_s;
  if (given.sweeps) left.sweeps = given.sweeps;
  if (given.target) left.target = given.target;
  // A schedule that ended by itself has an end unless it is told another number of steps.
  const bool endless = !any(planned) && !done;
  if (endless || given.sweeps || (any(left) && !done)) return left;
  throw InvalidArgument(
      "resume.finished",
      fmt::format("{}: the run is finished ({}) after {} steps of each replica", clean(folder),
                  clean(finished), found->checkpoint.steps()),
      done ? "" : "a new limit: --time-limit, or a greater --sweeps",
      done ? fmt::format("kiln resume {} --sweeps {}", clean(folder), 2 * found->checkpoint.steps())
           : fmt::format("kiln resume {} --time-limit 60s", clean(folder)));
}

void Resumption::restore(Run& run) const {
  if (found) found->checkpoint.restore(run);
}

std::string Resumption::text() const {
  if (!found) {
    return fmt::format("resume       {}: there is no checkpoint yet; the run begins anew\n",
                       clean(folder));
  }
  std::string text;
  if (!found->passed_over.empty()) {
    text = fmt::format("warning[checkpoint.damaged]: {}; continuing from {}\n",
                       clean(found->passed_over), clean(found->checkpoint.file().string()));
  }
  return text + fmt::format("resume       {} after {} and {} steps of each replica\n",
                            clean(found->checkpoint.file().string()),
                            human_seconds(found->checkpoint.run_s()), found->checkpoint.steps());
}

}  // namespace kiln::cli
