// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/session.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "kiln/device/begin_run.hpp"
#include "kiln/device/device_fault.hpp"
#include "kiln/plan.hpp"
#include "kiln/problems/command.hpp"
#include "kiln/run.hpp"

#include "cli/repeat.hpp"
#include "errors.hpp"
#include "experiments/evaluation_plan.hpp"
#include "fix_words.hpp"
#include "front/front_output.hpp"
#include "front/reference_front.hpp"
#include "hardware/sensors.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/cost/memory_text.hpp"
#include "output/cost/profile_text.hpp"
#include "output/progress.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "run/dry_run.hpp"
#include "run/memory_reserve.hpp"
#include "run/monitor.hpp"
#include "run/program_keeper.hpp"
#include "run/session_checks.hpp"
#include "run/thread_advice.hpp"

namespace kiln::cli {
namespace {

/// @param text  what the verb says of the result
void print_results(const CommandOptions& options, const Result& result, const std::string& text,
                   double read_s, const RunFolder* folder) {
  if (options.has("verbose")) {
    print_note(details_of(result, read_s));
    print_note(memory_text(result.memory));
  }
  if (!options.has("quiet")) print_note(advice_text(result.advice));
  if (options.has("json")) {
    print_result(options.is_extended ? continued_result_json(result) : result_json(result));
    return;
  }
  if (!result.verified) return;
  print_text(text);
  if (result.profile) print_text(profile_text(*result.profile));
  const std::string files = folder != nullptr && !options.has("quiet") ? folder->description() : "";
  // In a pipe, too: a list of names is for people.
  if (!files.empty()) print_result(fitted(fmt::format("files  {}\n", files), result_columns()));
}

ProgressTable table_of(const Session& session, const Budget& limit) {
  const Schedule& schedule = *session.schedule;
  const ScheduleEntry& entry = session.registry.schedule(session.options.schedule);
  ProgressTable table{session.options.verb->samples, 0, entry.several_objectives,
                      entry.few_evaluations && !entry.several_objectives, entry.few_evaluations};
  const std::map<std::string, std::string> parameters = schedule.parameters();
  table.time_limit_s = limit.time_limit_s;
  table.step = schedule.step_name();
  if (const auto plan =
          evaluation_plan(session.options, entry, parameters, session.loaded.problem)) {
    table.together = plan->studies * plan->batch;
    table.batches = plan->batches;
  }
  if (const auto warmup = parameters.find("warmup"); warmup != parameters.end()) {
    const std::string& text = warmup->second;
    std::from_chars(text.data(), text.data() + text.size(), table.warmup);
  }
  return table;
}

std::string note_on(const FirstEvaluation& first, const Session& session) {
  const ScheduleEntry& entry = session.registry.schedule(session.options.schedule);
  const DeviceInfo device = session.backend.backend->info();
  const auto host = static_cast<int>(std::thread::hardware_concurrency());
  const auto plan = evaluation_plan(session.options, entry, session.schedule->parameters(),
                                    session.loaded.problem);
  return first_evaluation_text(first, plan, device.name == "cpu" ? device.parallel_units : host);
}

ExitCode dry_run(const Session& session) {
  const CommandOptions& options = session.options;
  constexpr std::string_view command = "command:";
  if (session.loaded.problem.identity.family == "command" && options.problem.starts_with(command)) {
    problems::require_program(options.problem.substr(command.size()),
                              options.problem_options.settings);
  }
  const RunPlan plan = plan_run(session.loaded.problem, *session.schedule, options.budget,
                                options.run, session.backend);
  const DryRun run{options,
                   session.loaded,
                   session.registry.schedule(options.schedule),
                   plan,
                   std::string(session.schedule->step_name()),
                   session.schedule->parameters()};
  if (options.has("json")) {
    print_result(dry_run_json(run));
  } else {
    print_text(dry_run_text(run, options.has("verbose") || !results_are_seen()));
  }
  return ExitCode::ok;
}

bool is_lack_of_memory(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

// Where memory has ended between two ticks the run can continue from its state with more of it.
[[noreturn]] void end_by(const std::exception_ptr& failure, const CommandOptions& options, Run& run,
                         RunRecord& record) {
  if (!is_lack_of_memory(failure)) std::rethrow_exception(failure);
  const std::string less = less_memory(options.verb->samples);
  if (!record.keep_state(run)) {
    throw RunMemoryError("memory.host", "there is not enough memory", {},
                         "use " + less + ", or a machine with more memory");
  }
  const std::string folder = shell_word(options.text("output"));
  throw RunMemoryError(
      "memory.host", "there is not enough memory; the run is kept in its last checkpoint", {},
      fmt::format("kiln resume {} with more memory, or a new run with {}", folder, less));
}

// Whatever ends the run: the states that it had found are still there, unless the device is gone.
// Then the folder has the best and the checkpoint of the last time that they were written.
Result advance(Run& run, const RunFacts& facts, const Budget& budget, const Observers& observers,
               std::stop_token stop, RunRecord& record, std::exception_ptr& failure) {
  const DeviceInfo& device = facts.device;
  try {
    return run.advance_to(budget, observers, std::move(stop));
  } catch (const Interrupted&) {
    record.withdraw();
    throw;
  } catch (const CudaError& error) {
    if (ends_device(error)) {
      const std::string message = fmt::format("{} ({}{}{}): {}", device.name, device.description,
                                              device.pci_bus_id.empty() ? "" : ", PCI ",
                                              device.pci_bus_id, error.message());
      record.warn(run.seconds_at(~0ull), error.code(), message);
      throw CudaError(error.code(), message, error.expected(), error.fix_steps());
    }
    failure = std::current_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    return run.result_so_far(Stop::failed);
  } catch (...) {
    end_by(failure, facts.options, run, record);
  }
}

// Who asks twice does not wait for numbers that a file of the front can give at any time.
void compare_unless_in_a_hurry(const Points& reference, const StopSignals& signals,
                               Result& result) {
  if (signals.count() <= 1) return compare_with(reference, result);
  if (!result.front || reference.empty()) return;
  result.advice.emplace_back(
      "the front was not compared with the reference front, because a second signal ended the run");
}

const FormerResult* former_of(const Session& session) {
  const auto& resumption = session.resumption;
  return resumption && resumption->former ? &*resumption->former : nullptr;
}

// Files first: an output that nobody reads, or a wrong answer, must not keep them from being there.
ExitCode conclude(const Session& session, const RunOutput& output, Run& run, Result& result,
                  RunRecord& record, const StopSignals& signals,
                  const std::exception_ptr& failure) {
  if (const FormerResult* const former = former_of(session)) {
    former->improve(result, session.loaded.problem);
  }
  const bool asked = result.stop == Stop::interrupted && signals.count() > 0;
  if (asked && signals.exit_code() == ExitCode::terminated) result.stop = Stop::terminated;
  result.time.setup_s += session.loaded.seconds;
  if (signals.count() <= 1) record.begin_last_checkpoint(run, result);
  record.keep_solution(result, signals.count() > 1);
  compare_unless_in_a_hurry(session.reference_front, signals, result);
  const bool is_read = session.folder != nullptr || !session.options.has("json");
  const std::string text = result.verified && is_read
                               ? output.text(session.options, result, session.loaded.problem)
                               : std::string{};
  record.finish(result, text);
  if (signals.count() <= 1) record.finish_last_checkpoint(result);
  print_results(session.options, result, text, session.loaded.seconds, session.folder.get());
  const bool heard = flush_results();
  if (failure) {
    result.sample.reset();  // its draws are in the folder, and a checkpoint needs room
    end_by(failure, session.options, run, record);
  }
  require_verified(result, session.loaded.problem);
  if (!asked) require_front(result, session.loaded.problem);
  if (record.error()) std::rethrow_exception(record.error());
  if (!heard) return ExitCode::broken_pipe;
  if (asked) return signals.exit_code();
  return result.misses_target() || result.misses_until() ? ExitCode::target_missed : ExitCode::ok;
}

void hear_of_first(const Session& session, Progress& progress, std::atomic<bool>& has_value) {
  const std::optional<Experiment>& experiment = session.loaded.problem.experiment;
  if (!experiment || !experiment->tell_first) return;
  experiment->tell_first([&](const FirstEvaluation& first) {
    has_value = true;
    if (!session.options.has("quiet")) progress.note(note_on(first, session));
  });
}

void tell_of_resumption(const Session& session) {
  print_note(session.resumption->warning());
  if (session.recalled) print_note(session.recalled->warning());
  if (session.options.has("quiet")) return;
  print_note(session.resumption->text());
  if (session.recalled) print_note(session.recalled->text());
}

// Where the run ends: beside what it is planned for, what continues it, or continued the run that
// it repeats.
Budget limit_of(const Session& session) {
  const CommandOptions& options = session.options;
  Budget limit = options.budget;
  if (options.continuation) limit = {.sweeps = options.continuation->steps};
  return session.resumption ? session.resumption->limit(limit) : limit;
}

// What gave way so that the run could begin.
void warn_of(const BegunRun& begun, RunRecord& record) {
  if (begun.moved) {
    const OpenedBackend& now = begun.run->backend();
    print_note(fallback_warning(now.backend->info(), now.fallback_reason));
  }
  if (begun.fewer_replicas.empty()) return;
  const std::string text = "the run has " + begun.fewer_replicas;
  print_note(fmt::format("warning[memory.replicas]: {}\n", clean(text)));
  record.warn(0, "memory.replicas", text);
}

// Once the run has resolved its parameters.
std::string note_on_changes(Session& session) {
  std::string changed = changed_parameters(session.options, session.schedule->parameters());
  if (!changed.empty()) session.loaded.notes.push_back(changed);
  return changed;
}

}  // namespace

ExitCode run_session(Session session, const std::vector<std::string>& words,
                     const RunOutput& output) {
  if (session.options.has("dry-run")) return dry_run(session);
  CommandOptions& options = session.options;
  const std::optional<Resumption>& resumption = session.resumption;
  const Budget limit = limit_of(session);
  const Problem& problem = session.loaded.problem;
  Progress progress(problem, !options.has("quiet"), table_of(session, limit));
  RunRecord record(session.folder.get(), options, problem, session.reference_front, output);
  record.keep_telemetry(options.run.telemetry);
  record.recall(session.recalled);
  if (session.resumption && session.resumption->former) {
    session.resumption->former->find_best(problem);
    record.keep_better(former_of(session));
  }
  // Each evaluation is worth a line of a file as soon as it is there.
  if (session.registry.schedule(options.schedule).few_evaluations) {
    options.run.on_evaluation = [&progress, log = record.evaluation_log(true)](const auto& one) {
      if (log) log(one);
      progress.evaluated();
    };
  }
  std::stop_source stop;
  std::atomic<bool> has_value{false};
  const std::unique_ptr<StopSignals> signals = std::move(session.signals);
  const auto stop_by_signal = [&] {
    signals->answer_by([&] {
      stop.request_stop();
      progress.note(has_value
                        ? "stopping; the result will be written. Press Ctrl-C again to stop now."
                        : "stopping. Press Ctrl-C again to stop now.");
    });
  };
  // Programs that are called must not outlive this one, not even those called before the run.
  if (problem.watches_stop()) {
    stop_by_signal();
    problem.experiment->watch_stop(stop.get_token());
  }
  hear_of_first(session, progress, has_value);
  const BegunRun begun =
      begin_run(problem, *session.schedule, options.budget, options.run, session.backend);
  Run& run = *begun.run;
  if (resumption) resumption->restore(run);
  session.set_up->end();
  // For expensive evaluations the clock starts with the first one.
  const Budget budget = problem.watches_stop() ? limit : session.set_up->what_is_left_of(limit);
  // From here on there is something to keep; before, a signal simply ends the program.
  if (!problem.watches_stop()) stop_by_signal();
  const std::string changed = note_on_changes(session);
  const RunFacts facts{options,
                       session.loaded,
                       run.backend().backend->info(),
                       run.backend().fallback_reason,
                       run.batch().replicas(),
                       run.draw_naming(),
                       std::string(session.schedule->step_name()),
                       session.schedule->parameters(),
                       resumption || options.continuation ? std::optional(limit) : std::nullopt};
  const bool from_checkpoint = resumption && resumption->found;
  record.begin(facts, words, from_checkpoint ? &resumption->found->checkpoint : nullptr);
  if (resumption) record.go_on(run);
  if (from_checkpoint && !resumption->found->passed_over.empty()) record.drop_damaged_checkpoint();
  warn_of(begun, record);
  record.tell_by([&progress](const std::string& line) { progress.note(line); });
  if (!options.has("quiet")) print_note(banner_of(facts));
  if (resumption) tell_of_resumption(session);
  progress.begin();
  Monitor monitor(
      facts, *run.backend().backend,
      {[&](const std::string& note) {
         if (!options.has("quiet")) progress.note(note);
       },
       [&](const AlertChange& change, double time_s) { record.alert(change, time_s); }});
  Sensors sensors(facts.device.pci_bus_id);
  sensors.begin();

  const bool keeps = session.folder != nullptr || options.has("save");
  std::exception_ptr failure;
  std::uint64_t known_lost = 0;
  const Observers observers{[&](const ReportPoint& point) {
    if (point.has_best) has_value = true;
    record.update(point, run);  // first: what is shown is on the disk
    progress.update(point);
    sensors.update(point.time_s);
    const std::uint64_t lost = run.telemetry_counts().lost;
    monitor.update(point, {SlowdownReadings{sensors.slowdowns()},
                           TelemetryReadings{lost - std::exchange(known_lost, lost)}});
    monitor.look(run);
    if (!memory_is_kept_back()) failure = std::make_exception_ptr(std::bad_alloc());
    if (failure) return Next::stop;
    // A run whose answer nobody will see is not worth going on with.
    return keeps || !nobody_listens() ? Next::go_on : Next::stop;
  }};
  Result result = advance(run, facts, budget, observers, stop.get_token(), record, failure);
  if (failure) result.stop = Stop::failed;
  result.hardware = sensors.finish(result.time.run_s);
  if (options.has("verbose") && !sensors.complaint().empty()) {
    progress.note(fmt::format("hardware was not read: {}", sensors.complaint()));
  }
  session.set_up->explain(limit, budget, result);
  if (!changed.empty()) result.notes.push_back(changed);
  if (!begun.fewer_replicas.empty()) {
    result.advice.push_back(fmt::format("The run had {}.", begun.fewer_replicas));
  }
  advise_on_threads(facts.device, result);
  monitor.finish(result);
  // Of a front the objective is its hypervolume, which is no column of schedules that weigh.
  const bool one_number = result.verified && result.front == nullptr;
  progress.finish(one_number ? std::optional(result.objective) : std::nullopt);
  return conclude(session, output, run, result, record, *signals, failure);
}

}  // namespace kiln::cli
