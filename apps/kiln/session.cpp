// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>

#include "kiln/plan.hpp"
#include "kiln/run.hpp"
#include "kiln/scalarized.hpp"

#include "atomic_file.hpp"
#include "console.hpp"
#include "dry_run.hpp"
#include "evaluation_files.hpp"
#include "events.hpp"
#include "front_output.hpp"
#include "initial_states.hpp"
#include "progress.hpp"
#include "signals.hpp"
#include "solve_text.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

void print_results(const CommandOptions& options, const Result& result, double read_s,
                   const RunFolder* folder, const RunOutput& output) {
  if (options.verbose) print_note(details_of(result, read_s));
  if (!options.quiet) print_note(advice_text(result.advice));
  if (options.json) {
    print_result(result_json(result));
    return;
  }
  if (!result.verified) return;
  print_result(output.text(options, result));
  if (folder != nullptr && !options.quiet) {
    print_result(fmt::format("files  {}\n", folder->description()));
  }
}

void require_verified(const Result& result, const Problem& problem) {
  if (result.verified) return;
  if (!result.feasible()) {
    throw ObjectiveError("result.infeasible",
                         fmt::format("{}: no state that was found meets the constraints; the best "
                                     "one exceeds them by {:.6g}",
                                     clean(problem.name), result.violation()),
                         {}, "search longer, or begin in a feasible state: --initial");
  }
  throw SelfCheckError("check.mismatch",
                       fmt::format("{}: the best state has another value on the CPU than the run "
                                   "on {} claims",
                                   clean(problem.name), clean(result.device)),
                       "The number is not a result and is not shown.",
                       "repeat with --device cpu, and please report this");
}

void require_unchanged(const LoadedProblem& loaded, const CommandOptions& options) {
  if (options.expected_fingerprint.empty()) return;
  if (loaded.fingerprint == options.expected_fingerprint) return;
  throw InputError("repeat.changed",
                   fmt::format("{}: its data are not those of the run that is to be repeated",
                               clean(options.problem)),
                   {}, "name the problem beside --repeat to use the options alone");
}

void require_sampler(const ScheduleEntry& entry, const Registry& registry) {
  if (entry.samples) return;
  std::string names;
  for (const ScheduleEntry* one : registry.schedules()) {
    if (one->samples) names += (names.empty() ? "" : ", ") + one->name;
  }
  throw InvalidArgument("schedule.no_draws",
                        fmt::format("schedule '{}' searches and keeps no draws", entry.name),
                        "schedules that sample: " + names,
                        fmt::format("kiln solve PROBLEM --schedule {}", entry.name));
}

void require_density(const Problem& problem, const CommandOptions& options) {
  if (problem.posterior) return;
  throw InvalidArgument(
      "problem.no_density",
      fmt::format("{} is no posterior: its values are to be made {}, not the "
                  "logarithm of a density to draw from",
                  clean(problem.name), problem.sense == Sense::maximize ? "large" : "small"),
      "kiln list problems shows what can be sampled",
      fmt::format("kiln solve {}", clean(options.problem)));
}

ProgressTable table_of(const Session& session) {
  const Schedule& schedule = *session.schedule;
  const ScheduleEntry& entry = session.registry.schedule(session.options.schedule);
  ProgressTable table{session.options.verb->samples, 0, entry.several_objectives,
                      entry.few_evaluations};
  const std::map<std::string, std::string> parameters = schedule.parameters();
  if (const auto warmup = parameters.find("warmup"); warmup != parameters.end()) {
    const std::string& text = warmup->second;
    std::from_chars(text.data(), text.data() + text.size(), table.warmup);
  }
  return table;
}

void write_results(const Session& session, const Result& result, const RunOutput& output,
                   const Trace& trace, const Events& events, bool in_a_hurry) {
  RunFolder& folder = *session.folder;
  const CommandOptions& options = session.options;
  const Problem& problem = session.loaded.problem;
  folder.write("result.json", result_json(result));
  if (result.evaluations) {
    folder.write("evaluations.csv", evaluations_csv(*result.evaluations, problem));
  }
  if (result.verified) {
    output.write(folder, options, result, problem, session.reference_front, in_a_hurry);
  }
  if (in_a_hurry) return;
  folder.write("trace.csv", trace.text());
  folder.write("events.ndjson", events.text());
}

// Points that a front is compared with where the user gives none.
constexpr std::int64_t true_points = 2000;

// Of schedules that end by themselves.
void drop_default_limit(CommandOptions& options) {
  const auto limit = options.settings.find("time-limit");
  if (limit == options.settings.end() || limit->second.origin != Origin::standard) return;
  options.settings.erase(limit);
  options.budget.time_limit_s.reset();
}

// Problems of several objectives: the schedule for them is the default, and any other one gets the
// objectives as one number.
void prepare_front(Session& session) {
  CommandOptions& options = session.options;
  Problem& problem = session.loaded.problem;
  if (options.settings.at("schedule").origin == Origin::standard) {
    options.schedule = "multi-objective";
    options.settings["schedule"].text = options.schedule;
    drop_default_limit(options);
  }
  if (!options.reference_front.empty()) {
    session.reference_front = load_reference_front(options.reference_front, problem);
  } else if (problem.objectives->true_front) {
    session.reference_front = problem.objectives->true_front(true_points);
  }
  if (session.registry.schedule(options.schedule).several_objectives) return;
  ScalarizationOptions how;
  how.kind = options.scalarization;
  problem = scalarized(problem, how);
  session.loaded.notes.push_back(
      "schedule '" + options.schedule +
      "' minimises one number: each of its groups weighs the objectives in its own way");
}

ExitCode dry_run(const Session& session) {
  const CommandOptions& options = session.options;
  const RunPlan plan = plan_run(session.loaded.problem, *session.schedule, options.budget,
                                options.run, session.backend);
  const DryRun run{options, session.loaded, session.registry.schedule(options.schedule), plan};
  print_result(options.json ? dry_run_json(run) : dry_run_text(run));
  return ExitCode::ok;
}

}  // namespace

Session prepare(const RunVerb& verb, const Arguments& arguments) {
  Session session{resolve_options(verb, arguments), builtin_registry(), {}, {}, {}, {}, {}};
  const CommandOptions& options = session.options;
  const ScheduleEntry& entry = session.registry.schedule(options.schedule);
  if (verb.samples) require_sampler(entry, session.registry);
  // What the default is depends on the problem, so that its parameters are judged later.
  const bool schedule_given = options.settings.at("schedule").origin != Origin::standard;
  if (schedule_given) session.schedule = make_schedule(entry, options.parameters);
  if (options.problem.empty()) {
    const char* const example = verb.samples ? "posterior:eight-schools" : "gset:G22";
    throw InvalidArgument(
        "cli.missing", fmt::format("kiln {} needs a problem", verb.name),
        fmt::format("a path, - for standard input, or an instance such as {}", example),
        fmt::format("kiln {} {}{}", verb.name, example, verb.samples ? "" : " --time-limit 10s"));
  }
  check_format_name(options.format);
  // Before anything that takes time: a place that cannot be written to must not cost an answer.
  const bool writes = !options.folder.empty() && !options.dry_run;
  if (writes) session.folder = std::make_unique<RunFolder>(options.folder);
  // Meanwhile: a GPU takes about as long to open as a problem to read. What is wrong with the
  // problem is said first, as if the device were opened after it.
  auto opening = std::async(std::launch::async | std::launch::deferred, open_backend,
                            options.run.device, options.run.threads);
  session.loaded = load_problem(options.problem,
                                {options.format,
                                 options.sense,
                                 {options.vartype, options.colors},
                                 options.data,
                                 options.problem_settings},
                                session.registry);
  require_unchanged(session.loaded, options);
  for (const std::string& note : options.notes) session.loaded.notes.push_back(note);
  if (verb.samples) require_density(session.loaded.problem, options);
  if (session.loaded.problem.objectives) {
    prepare_front(session);
  } else if (!options.reference_front.empty()) {
    throw InvalidArgument("cli.conflict",
                          fmt::format("--reference-front is for problems of several objectives, "
                                      "which {} is not",
                                      clean(session.loaded.problem.name)),
                          {}, "leave it out");
  }
  if (!session.schedule) {
    session.schedule =
        make_schedule(session.registry.schedule(options.schedule), options.parameters);
  }
  if (session.registry.schedule(options.schedule).few_evaluations) {
    drop_default_limit(session.options);
  }
  if (!options.past.empty()) {
    add_past_evaluations(options.past, session.loaded.problem, *session.schedule);
  }
  if (!options.initial.empty()) {
    session.options.run.initial_states =
        read_initial_states(options.initial, session.loaded.problem);
  }
  session.backend = opening.get();
  print_note(fallback_warning(session.backend.backend->info(), session.backend.fallback_reason));
  return session;
}

ExitCode run_session(Session session, const std::vector<std::string>& words,
                     const RunOutput& output) {
  if (session.options.dry_run) return dry_run(session);
  const CommandOptions& options = session.options;
  const Problem& problem = session.loaded.problem;
  RunFolder* folder = session.folder.get();
  Progress progress(problem, !options.quiet, table_of(session));
  Trace trace(problem.integral);
  std::stop_source stop;

  std::optional<StopSignals> signals;
  const auto watch_signals = [&] {
    signals.emplace(stop, [&] {
      progress.note("stopping; the result will be written. Press again to stop now.");
    });
  };
  // Programs that are called must not outlive this one, not even those called before the run.
  if (problem.watch_stop) {
    watch_signals();
    problem.watch_stop(stop.get_token());
  }
  Run run(problem, *session.schedule, options.budget, options.run, session.backend);
  // From here on there is something to keep; before, a signal simply ends the program.
  if (!signals) watch_signals();
  const RunFacts facts{options,
                       session.loaded,
                       run.backend().backend->info(),
                       run.backend().fallback_reason,
                       run.batch().replicas(),
                       session.schedule->parameters()};
  if (folder != nullptr) folder->write("run.json", run_json(facts, words));
  if (!options.save.empty()) write_file(options.save, run_json(facts, words));
  if (!options.quiet) print_note(banner_of(facts));

  Events events(facts);
  const Observers observers{[&](const ReportPoint& point) {
    progress.update(point);
    trace.add(point);
    events.update(point);
    return Next::go_on;
  }};
  Result result = run.advance(options.budget, observers, stop.get_token());
  if (result.stop == Stop::interrupted && signals->exit_code() == ExitCode::terminated) {
    result.stop = Stop::terminated;
  }
  progress.finish();
  events.finish(result);
  result.time.setup_s += session.loaded.seconds;
  compare_with(session.reference_front, result);

  // A full disk must not swallow the answer: it goes to standard output in any case.
  std::exception_ptr write_error;
  try {
    if (folder != nullptr)
      write_results(session, result, output, trace, events, signals->count() > 1);
  } catch (const IoError&) {
    write_error = std::current_exception();
  }
  print_results(options, result, session.loaded.seconds, folder, output);
  flush_results();
  require_verified(result, problem);
  if (write_error) std::rethrow_exception(write_error);
  const bool asked = result.stop == Stop::interrupted || result.stop == Stop::terminated;
  return asked ? signals->exit_code() : ExitCode::ok;
}

}  // namespace kiln::cli
