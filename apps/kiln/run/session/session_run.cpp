// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/session/session_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <thread>
#include <utility>

#include "kiln/option_info.hpp"

#include "cli/repeat.hpp"
#include "errors.hpp"
#include "experiments/evaluation_plan.hpp"
#include "fix_words.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/memory_reserve.hpp"
#include "run/session/session_checks.hpp"
#include "run/supervision/shared_state.hpp"
#include "run/thread_advice.hpp"

namespace kiln::cli {
namespace {

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
  std::int64_t at_once = device.name == "cpu" ? device.parallel_units : host;
  if (const std::string jobs = session.options.text("jobs"); !jobs.empty()) {
    at_once = std::min(at_once, parse_count(jobs, "--jobs"));
  }
  return first_evaluation_text(first, plan, at_once);
}

// The limit of the run: as planned, of the continuation, or, for a repeat of an extended run, the
// steps that the recorded run reached.
Budget limit_of(const Session& session) {
  const CommandOptions& options = session.options;
  Budget limit = options.budget;
  if (options.continuation) limit = {.sweeps = options.continuation->steps};
  return session.resumption ? session.resumption->limit(limit) : limit;
}

Heartbeat* heartbeat_of_process() {
  SharedState* const shared = shared_state();
  return shared == nullptr ? nullptr : &shared->heartbeat;
}

// What gave way so that the run could begin. That an objective of the host runs on the host is no
// news; that a kernel is missing is.
void warn_of(const BegunRun& begun, const Session& session, RunRecord& record) {
  const OpenedBackend& now = begun.run->backend();
  const bool is_of_host = session.loaded.problem.objective->execution().pace == Pace::host;
  if (begun.moved || (!is_of_host && now.fallback_reason != session.backend.fallback_reason)) {
    print_note(fallback_warning(now.backend->info(), now.fallback_reason));
  }
  if (begun.fewer_replicas.empty()) return;
  const std::string text = "the run has " + begun.fewer_replicas;
  print_note(fmt::format("warning[memory.replicas]: {}\n", clean(text)));
  record.warn(0, "memory.replicas", text);
}

}  // namespace

SessionRun::SessionRun(Session session, const RunOutput& output)
    : session_(std::move(session)),
      output_(output),
      limit_(limit_of(session_)),
      progress_(session_.loaded.problem, !is_quiet(), table_of(session_, limit_)),
      record_(session_.folder.get(), session_.options, session_.loaded.problem,
              session_.reference_front, output_),
      signals_(std::move(session_.signals)) {
  record_.keep_telemetry(session_.options.run.telemetry);
  record_.recall(session_.recalled);
  if (former() == nullptr) return;
  session_.resumption->former->find_best(session_.loaded.problem);
  record_.keep_better(former());
}

const FormerResult* SessionRun::former() const {
  const std::optional<Resumption>& resumption = session_.resumption;
  return resumption && resumption->former ? &*resumption->former : nullptr;
}

ExitCode SessionRun::run(const std::vector<std::string>& words) {
  const HeartbeatScope scope(heartbeat_of_process());
  set_up();
  begin(words);
  announce();
  follow();
  Result result = advance();
  complete(result);
  const ExitCode code = conclude(result);
  if (SharedState* const shared = shared_state(); shared != nullptr) {
    shared->answered = static_cast<int>(code);
  }
  return code;
}

void SessionRun::set_up() {
  hear_of_evaluations();
  take_commands();
  const Problem& problem = session_.loaded.problem;
  // Programs that are called must not outlive this one, not even those called before the run.
  if (problem.watches_stop()) {
    stop_by_signal();
    problem.experiment->watch_stop(stop_.get_token());
  }
  CommandOptions& options = session_.options;
  begun_ = begin_run(problem, *session_.schedule, options.budget, options.run, session_.backend);
  if (session_.folder != nullptr && !has_room_for_checkpoint()) {
    throw RunMemoryError(
        "memory.host", "there is not enough memory for a run and its checkpoint", {},
        "use " + less_memory(options.verb->samples) + ", or a machine with more memory");
  }
  if (session_.resumption) session_.resumption->restore(run());
  session_.set_up->end();
  // For expensive evaluations the clock starts with the first one.
  budget_ = problem.watches_stop() ? limit_ : session_.set_up->what_is_left_of(limit_);
  // From here on there is something to keep; before, a signal simply ends the program.
  if (!problem.watches_stop()) stop_by_signal();
  changed_ = changed_parameters(options, session_.schedule->parameters());
  if (!changed_.empty()) session_.loaded.notes.push_back(changed_);
}

void SessionRun::hear_of_evaluations() {
  CommandOptions& options = session_.options;
  // Each evaluation is worth a line of a file as soon as it is there.
  if (session_.registry.schedule(options.schedule).few_evaluations) {
    options.run.on_evaluation = [this, log = record_.evaluation_log(true)](const auto& one) {
      if (log) log(one);
      progress_.evaluated();
    };
  }
  const std::optional<Experiment>& experiment = session_.loaded.problem.experiment;
  if (!experiment || !experiment->tell_first) return;
  experiment->tell_first([this](const FirstEvaluation& first) {
    has_value_ = true;
    if (!is_quiet()) progress_.note(note_on(first, session_));
  });
}

// By the socket in the folder, so that the rights of the folder are those of the commands.
void SessionRun::take_commands() {
  if (session_.folder == nullptr) return;
  RunCommandOptions& commands = session_.options.run.commands;
  commands.ring = std::make_shared<CommandRing>();
  commands.log = [this](const LoggedCommand& one) {
    record_.log(one);
    if (one.decides() && one.kind != CommandKind::stop) record_.keep_told(run());
  };
  commands.checkpoint = [this] { record_.checkpoint_now(run()); };
}

// A folder without sockets, as some network file systems are, costs no run.
void SessionRun::let_attach() {
  const RunCommandOptions& commands = session_.options.run.commands;
  if (!commands.ring) return;
  attach_ = std::make_unique<AttachServer>(session_.options.text("output"), commands.ring,
                                           session_.loaded.problem);
  if (attach_->complaint().empty()) return;
  record_.warn(0, "attach.socket", attach_->complaint());
  if (session_.options.has("verbose")) {
    progress_.note("kiln attach cannot reach this run: " + clean(attach_->complaint()));
  }
}

void SessionRun::stop_by_signal() {
  signals_->answer_by([this] {
    stop_.request_stop();
    progress_.note(has_value_
                       ? "stopping; the result will be written. Press Ctrl-C again to stop now."
                       : "stopping. Press Ctrl-C again to stop now.");
  });
}

void SessionRun::begin(const std::vector<std::string>& words) {
  const std::optional<Resumption>& resumption = session_.resumption;
  const CommandOptions& options = session_.options;
  const OpenedBackend& backend = run().backend();
  facts_.emplace(options, session_.loaded, backend.backend->info(), backend.fallback_reason,
                 run().batch().replicas(), run().draw_naming(),
                 std::string(session_.schedule->step_name()), session_.schedule->parameters(),
                 resumption || options.continuation ? std::optional(limit_) : std::nullopt);
  const bool from_checkpoint = resumption && resumption->found;
  record_.begin(*facts_, words, from_checkpoint ? &resumption->found->checkpoint : nullptr);
  if (resumption) record_.go_on(run());
  if (from_checkpoint && !resumption->found->passed_over.empty()) {
    record_.drop_damaged_checkpoint();
  }
  SharedState* const shared = shared_state();
  if (shared == nullptr) return;
  if (from_checkpoint) shared->continues_from = resumption->found->checkpoint.steps();
  if (session_.folder != nullptr) keep_folder(*shared, options.text("output"));
  shared->has_begun = true;
  if (shared->restarts == 0) return;
  record_.warn(from_checkpoint ? resumption->found->checkpoint.run_s() : 0, "supervise.restart",
               fmt::format("restart {} of the process", shared->restarts));
}

void SessionRun::announce() {
  warn_of(begun_, session_, record_);
  record_.tell_by([this](const std::string& line) { progress_.note(line); });
  if (!is_quiet()) print_note(banner_of(*facts_));
  if (!session_.resumption) return;
  const auto& recalled = session_.recalled;
  print_note(session_.resumption->warning());
  if (recalled) print_note(recalled->warning());
  if (is_quiet()) return;
  print_note(session_.resumption->text());
  if (recalled) print_note(recalled->text());
}

void SessionRun::follow() {
  progress_.begin();
  monitor_.emplace(*facts_, *run().backend().backend,
                   MonitorSink{[this](const std::string& note) {
                                 if (!is_quiet()) progress_.note(note);
                               },
                               [this](const AlertChange& change, double time_s) {
                                 record_.alert(change, time_s);
                               }});
  sensors_.emplace(facts_->device.pci_bus_id);
  sensors_->begin();
}

Next SessionRun::look(const ReportPoint& point) {
  if (point.has_best) has_value_ = true;
  if (!is_quiet() && point.stage != std::exchange(stage_, point.stage)) {
    progress_.note("stage " + point.stage);
  }
  if (point.paused != std::exchange(paused_, point.paused) && !is_quiet()) {
    progress_.note(paused_ ? fmt::format("paused; kiln attach {} resume lets the run go on",
                                         clean(session_.options.text("output")))
                           : "the run goes on");
  }
  record_.update(point, run());  // first: what is shown is on the disk
  progress_.update(point);
  sensors_->update(point.time_s);
  const std::uint64_t lost = run().telemetry_counts().lost;
  monitor_->update(point, {SlowdownReadings{sensors_->slowdowns()},
                           TelemetryReadings{lost - std::exchange(known_lost_, lost)}});
  monitor_->look(run());
  if (!memory_is_kept_back()) failure_ = std::make_exception_ptr(std::bad_alloc());
  if (failure_) return Next::stop;
  // A run whose answer nobody will see is not worth going on with.
  const bool keeps = session_.folder != nullptr || session_.options.has("save");
  return keeps || !nobody_listens() ? Next::go_on : Next::stop;
}

// Whatever ends the run: the states that it had found are still there, unless the device is gone.
// Then the folder has the best and the checkpoint of the last time that they were written.
Result SessionRun::advance() {
  const Observers observers{[this](const ReportPoint& point) { return look(point); }};
  let_attach();
  const auto end = [this](void*) { attach_.reset(); };
  const std::unique_ptr<void, decltype(end)> until_it_ends(this, end);
  try {
    const std::unique_ptr<Watchdog> dog = watchdog();
    Result result = run().advance_to(budget_, observers, stop_.get_token());
    leave_if_hung(result);
    if (failure_) result.stop = Stop::failed;
    return result;
  } catch (const Interrupted&) {
    record_.withdraw();
    throw;
  } catch (const CudaError& error) {
    stop_on_lost_device(error);
    failure_ = std::current_exception();
  } catch (...) {
    failure_ = std::current_exception();
  }
  try {
    return run().result_so_far(Stop::failed);
  } catch (...) {
    end_by(failure_);
  }
}

void SessionRun::stop_on_lost_device(const CudaError& error) {
  if (!ends_device(error)) return;
  const DeviceInfo& device = facts_->device;
  const std::string message =
      fmt::format("{} ({}{}{}): {}", device.name, device.description,
                  device.pci_bus_id.empty() ? "" : ", PCI ", device.pci_bus_id, error.message());
  record_.warn(run().seconds_at(~0ull), error.code(), message);
  throw CudaError(error.code(), message, error.expected(), error.fix_steps());
}

// What the program knows of the run beside what the run says.
void SessionRun::complete(Result& result) {
  result.hardware = sensors_->finish(result.time.run_s);
  if (session_.options.has("verbose") && !sensors_->complaint().empty()) {
    progress_.note(fmt::format("hardware was not read: {}", sensors_->complaint()));
  }
  session_.set_up->explain(limit_, budget_, result);
  if (!changed_.empty()) result.notes.push_back(changed_);
  if (!begun_.fewer_replicas.empty()) {
    result.advice.push_back(fmt::format("The run had {}.", begun_.fewer_replicas));
  }
  advise_on_threads(facts_->device, result);
  monitor_->finish(result);
  // Of a front the objective is its hypervolume, which is no column of schedules that weigh.
  const bool one_number = result.verified && result.front == nullptr;
  progress_.finish(one_number ? std::optional(result.objective) : std::nullopt);
}

}  // namespace kiln::cli
