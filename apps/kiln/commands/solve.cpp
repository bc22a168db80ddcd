// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <memory>

#include "kiln/backend.hpp"
#include "kiln/plan.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "arguments.hpp"
#include "atomic_file.hpp"
#include "catalogue.hpp"
#include "commands/commands.hpp"
#include "console.hpp"
#include "dry_run.hpp"
#include "errors.hpp"
#include "events.hpp"
#include "initial_states.hpp"
#include "problem_source.hpp"
#include "progress.hpp"
#include "run_folder.hpp"
#include "settings.hpp"
#include "signals.hpp"
#include "solve_text.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

void write_results(RunFolder& folder, const Result& result, const Problem& problem,
                   const Trace& trace, const Events& events, bool in_a_hurry) {
  folder.write("result.json", result_json(result));
  if (result.verified && problem.format_solution) {
    folder.write("solution.txt", problem.format_solution(spans_of(result.solution)));
  }
  if (in_a_hurry) return;
  folder.write("trace.csv", trace.text());
  folder.write("events.ndjson", events.text());
}

void print_results(const SolveOptions& options, const Result& result, double read_s,
                   const RunFolder* folder) {
  if (options.verbose) print_note(details_of(result, read_s));
  if (!options.quiet) print_note(advice_text(result.advice));
  if (options.json) {
    print_result(result_json(result));
    return;
  }
  if (!result.verified) return;
  print_result(done_line(result));
  if (!options.quiet) print_result(top_text(result));
  if (folder != nullptr && !options.quiet) {
    print_result(fmt::format("files  {}\n", folder->description()));
  }
}

void require_verified(const Result& result, const Problem& problem) {
  if (result.verified) return;
  throw SelfCheckError("check.mismatch",
                       fmt::format("{}: the best state has another value on the CPU than the run "
                                   "on {} claims",
                                   clean(problem.name), clean(result.device)),
                       "The number is not a result and is not shown.",
                       "repeat with --device cpu, and please report this");
}

void require_unchanged(const LoadedProblem& loaded, const SolveOptions& options) {
  if (options.expected_fingerprint.empty()) return;
  if (loaded.fingerprint == options.expected_fingerprint) return;
  throw InputError("repeat.changed",
                   fmt::format("{}: its data are not those of the run that is to be repeated",
                               clean(options.problem)),
                   {}, "name the problem beside --repeat to use the options alone");
}

struct Session {
  SolveOptions options;
  Registry registry;
  std::unique_ptr<Schedule> schedule;
  std::unique_ptr<RunFolder> folder;
  LoadedProblem loaded;
  OpenedBackend backend;
};

Session prepare(const Arguments& arguments) {
  Session session{resolve_solve_options(arguments), builtin_registry(), {}, {}, {}, {}};
  const SolveOptions& options = session.options;
  session.schedule = make_schedule(session.registry.schedule(options.schedule), options.parameters);
  if (options.problem.empty()) {
    throw InvalidArgument("cli.missing", "kiln solve needs a problem",
                          "a path, - for standard input, or an instance such as gset:G22",
                          "kiln solve gset:G22 --time-limit 10s");
  }
  check_format_name(options.format);
  // Before anything that takes time: a place that cannot be written to must not cost an answer.
  const bool writes = !options.folder.empty() && !options.dry_run;
  if (writes) session.folder = std::make_unique<RunFolder>(options.folder);
  session.loaded =
      load_problem(options.problem,
                   {options.format, options.sense, {options.vartype, options.colors}, options.data},
                   session.registry);
  require_unchanged(session.loaded, options);
  if (!options.initial.empty()) {
    session.options.run.initial_states =
        read_initial_states(options.initial, session.loaded.problem);
  }
  session.backend = open_backend(options.run.device, options.run.threads);
  print_note(fallback_warning(session.backend.backend->info(), session.backend.fallback_reason));
  return session;
}

ExitCode solve(Session session, const Words& words) {
  const SolveOptions& options = session.options;
  const Problem& problem = session.loaded.problem;
  RunFolder* folder = session.folder.get();
  Progress progress(problem, !options.quiet);
  Trace trace(problem.integral);
  std::stop_source stop;

  Run run(problem, *session.schedule, options.budget, options.run, session.backend);
  // From here on there is something to keep; before, a signal simply ends the program.
  const StopSignals signals(stop, [&] {
    progress.note("stopping; the result will be written. Press again to stop now.");
  });
  const RunFacts facts{options,
                       session.loaded,
                       session.backend.backend->info(),
                       session.backend.fallback_reason,
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
  if (result.stop == Stop::interrupted && signals.exit_code() == ExitCode::terminated) {
    result.stop = Stop::terminated;
  }
  progress.finish();
  events.finish(result);
  result.time.setup_s += session.loaded.seconds;

  // A full disk must not swallow the answer: it goes to standard output in any case.
  std::exception_ptr write_error;
  try {
    if (folder != nullptr)
      write_results(*folder, result, problem, trace, events, signals.count() > 1);
  } catch (const IoError&) {
    write_error = std::current_exception();
  }
  print_results(options, result, session.loaded.seconds, folder);
  flush_results();
  require_verified(result, problem);
  if (write_error) std::rethrow_exception(write_error);
  const bool asked = result.stop == Stop::interrupted || result.stop == Stop::terminated;
  return asked ? signals.exit_code() : ExitCode::ok;
}

ExitCode dry_run(Session session) {
  const SolveOptions& options = session.options;
  const RunPlan plan = plan_run(session.loaded.problem, *session.schedule, options.budget,
                                options.run, session.backend);
  const DryRun run{options, session.loaded, session.registry.schedule(options.schedule), plan};
  print_result(options.json ? dry_run_json(run) : dry_run_text(run));
  return ExitCode::ok;
}

std::string schedules_help() {
  std::string names;
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) names += " " + entry->name;
  std::string text = "\nschedules, of which `kiln describe NAME` tells all:\n";
  for (const std::string& line : wrap(names, 94)) text += fmt::format("  {}\n", line);
  return text;
}

}  // namespace

std::string solve_help() {
  return "usage: kiln solve PROBLEM [options]\n\n"
         "PROBLEM is a file, - for standard input, or an instance of a family: gset:G22, "
         "torus:50x40,1\n\noptions:\n" +
         describe_options(solve_specs()) + schedules_help() +
         "\nparameters of simulated-annealing, for -p:\n" +
         fields_text(builtin_registry().schedule("simulated-annealing").fields) +
         "\nValues are taken from the defaults, then --config, then KILN_DEVICE, KILN_SEED, "
         "KILN_THREADS\nand KILN_REPLICAS, then the command line.\n"
         "\nexamples:\n"
         "  kiln solve gset:G22 --time-limit 30s --target 13359\n"
         "  kiln solve graph.txt --sweeps 10k --seed 7 -o out/graph\n"
         "  kiln solve model.qubo --maximize -p cooling=geometric --json\n"
         "  kiln solve queen8_8.col --colors 9 --target 0\n"
         "  kiln solve gset:G81 --replicas 64k --dry-run\n";
}

ExitCode run_solve(const Words& words) {
  const Arguments arguments = parse_arguments("solve", words, solve_specs(), 1, {"parameter"});
  if (arguments.has("help")) {
    print_result(solve_help());
    return ExitCode::ok;
  }
  Session session = prepare(arguments);
  if (session.options.dry_run) return dry_run(std::move(session));
  return solve(std::move(session), words);
}

}  // namespace kiln::cli
