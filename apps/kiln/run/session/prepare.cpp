// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <system_error>

#include "kiln/fronts/scalarized.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/objectives/recall.hpp"
#include "kiln/pipelines/stages.hpp"

#include "attach/command_files.hpp"
#include "cli/option_values.hpp"
#include "cli/plugin_option.hpp"
#include "cli/present_names.hpp"
#include "cli/run_registry.hpp"
#include "experiments/evaluation_files.hpp"
#include "experiments/evaluation_plan.hpp"
#include "front/reference_front.hpp"
#include "output/console.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "run/initial_states.hpp"
#include "run/program_keeper.hpp"
#include "run/session/session.hpp"
#include "run/session/session_checks.hpp"
#include "tune/tune_warning.hpp"

// Everything before a run: options, problem, schedule and device.
namespace kiln::cli {
namespace {

bool limits_all_stages(const Schedule& schedule) {
  const auto* const pipeline = schedule.as<HasStages>();
  return pipeline != nullptr && std::ranges::none_of(pipeline->stages(), [](const Stage& one) {
           return one.limit.empty();
         });
}

// Of a schedule that ends by itself, whoever named it: a run and its repeat end in the same way.
void drop_default_limit(CommandOptions& options, const ScheduleEntry& entry,
                        const Schedule& schedule) {
  const bool ends = entry.few_evaluations || entry.several_objectives;
  if (!ends && !limits_all_stages(schedule)) return;
  const auto limit = options.settings.find("time-limit");
  if (limit == options.settings.end() || limit->second.origin != Origin::standard) return;
  options.settings.erase(limit);
  options.budget.time_limit_s.reset();
}

void take_best_known(Session& session) {
  const Problem& problem = session.loaded.problem;
  if (!problem.known.best) {
    const bool most = problem.units.sense == Sense::maximize;
    throw InvalidArgument(
        "problem.best_known",
        fmt::format("Kiln has no record of the {} known {} of {}", most ? "greatest" : "least",
                    clean(problem.units.value_name), clean(problem.identity.name)),
        {}, "give --target VALUE, or another limit such as --time-limit 60s");
  }
  session.options.budget.target = problem.known.best;
}

// Where the user names no schedule the problem may know one that suits it.
void take_default_schedule(Session& session) {
  CommandOptions& options = session.options;
  const std::string suited = session.registry.default_schedule(session.loaded.problem);
  if (suited.empty()) return;
  options.schedule = suited;
  options.settings["schedule"].text = suited;
  const ScheduleEntry& entry = session.registry.schedule(suited);
  // Of a posterior `solve` wants the mode: what could draw has to search.
  if (!entry.samples || options.verb->samples || options.parameters.contains("mode")) return;
  for (const char* name : {"draws", "warmup", "keep", "thin", "rungs", "super_chains"}) {
    if (!options.parameters.contains(name)) continue;
    const std::string problem = clean(options.problem);
    throw InvalidArgument(
        "cli.conflict",
        fmt::format("-p {} is a parameter of sampling, and kiln solve searches for the mode of {}",
                    name, problem),
        {}, fmt::format("use kiln sample {} for draws; remove -p {} for the mode", problem, name));
  }
  options.parameters["mode"] = {"anneal"};
}

// A limit with the unit of another schedule would be a limit of something else.
void take_work_kind(Session& session) {
  CommandOptions& options = session.options;
  options.work_kind = session.schedule->work_kind();
  const auto work = options.value<WorkAmount>("work-limit");
  if (!work || work->unit.value_or(options.work_kind) == options.work_kind) return;
  throw InvalidArgument("cli.range",
                        fmt::format("{}={} counts {}, and schedule '{}' counts {}",
                                    label_of("work-limit", options.settings.at("work-limit")),
                                    clean(options.text("work-limit")), to_string(*work->unit),
                                    options.schedule, to_string(options.work_kind)),
                        {}, fmt::format("--work-limit N{}", to_string(options.work_kind)));
}

void make_schedule_of(Session& session) {
  try {
    session.schedule = make_schedule(session.registry.schedule(session.options.schedule),
                                     session.options.parameters);
    take_work_kind(session);
  } catch (const InvalidArgument&) {
    // The complaint has present names, and the user may have written former ones.
    print_note(renamed_warning(session.options));
    throw;
  }
}

// A target that is never reached must not make the number of expensive evaluations endless, and
// evaluations or generations that were asked for are a limit beside others.
void limit_beside_others(Session& session) {
  Budget& budget = session.options.budget;
  const bool asked = session.options.parameters.contains("evaluations");
  if (!budget.has_limit()) return;
  if (budget.sweeps && !asked) return;
  const ScheduleEntry& entry = session.registry.schedule(session.options.schedule);
  const bool other_limit = budget.time_limit_s || budget.work_limit || budget.stop_when;
  const bool ends_by_itself = !entry.several_objectives && !other_limit;
  if (entry.few_evaluations && (asked || ends_by_itself)) {
    if (!end_at_evaluations(session.options, entry, session.schedule->parameters())) return;
    if (auto* const search = session.schedule->as<EndsAtEvaluations>()) {
      search->end_at_evaluations();
    }
  } else if (session.options.parameters.contains("generations")) {
    budget.sweeps = session.schedule->needs(session.loaded.problem, budget).default_sweeps;
  }
}

// How many there may be, what calls them, and what is known of them.
void prepare_evaluations(Session& session) {
  const CommandOptions& options = session.options;
  const Problem& problem = session.loaded.problem;
  drop_default_limit(session.options, session.registry.schedule(options.schedule),
                     *session.schedule);
  limit_beside_others(session);
  const std::optional<Experiment>& experiment = problem.experiment;
  if (experiment && experiment->keep_programs) experiment->keep_programs(make_program_keeper());
  if (!options.has("past")) return;
  std::string note = add_past_evaluations(options.text("past"), problem, *session.schedule);
  if (!note.empty()) session.loaded.notes.push_back(std::move(note));
}

// Any schedule but those for several objectives gets them as one number.
void prepare_front(Session& session) {
  CommandOptions& options = session.options;
  Problem& problem = session.loaded.problem;
  session.reference_front =
      reference_front_of(options.text("reference-front"), problem, session.loaded.notes);
  if (session.registry.schedule(options.schedule).several_objectives) return;
  ScalarizationOptions how;
  how.kind = options.value<ScalarizationKind>("scalarize").value_or(how.kind);
  problem = scalarized(problem, how);
  session.loaded.notes.push_back(
      "schedule '" + options.schedule +
      "' minimises one value; each group of replicas weights the objectives differently");
}

// A run whose only checkpoint is damaged begins anew, with the evaluations that it paid for.
[[noreturn]] void refuse_lost_run(const CheckpointError& error, const CommandOptions& options,
                                  const std::string& folder) {
  const std::string past = (std::filesystem::path(folder) / "evaluations.csv").string();
  std::error_code ignored;
  const bool has_past = std::filesystem::is_regular_file(past, ignored);
  throw CheckpointError(
      error.code(), error.message(),
      fmt::format("{} has no whole checkpoint before it, so the run cannot continue",
                  clean(folder)),
      fmt::format("kiln {} --repeat {}{}{} -o NEW begins the run anew", options.verb->name,
                  shell_word(folder), has_past ? " --past " + shell_word(past) : "",
                  options.problem.starts_with("command:")  ? " --allow-command"
                  : options.problem.starts_with("source:") ? " --allow-jit"
                                                           : ""));
}

// First the folder: what its files say stays so.
void claim_resumed(Session& session, const ResumedFolder& resumed) {
  session.folder = session.set_up->reclaim(resumed.path);
  session.resumption =
      Resumption{resumed.path, {}, resumed.given, FormerResult::read(resumed.path)};
  const std::optional<FormerResult>& former = session.resumption->former;
  session.options.is_extended = resumed.given.any() || (former && former->is_extended());
  try {
    session.resumption->found.emplace(find_checkpoint(session.folder->place_of(checkpoint_name)));
  } catch (const IoError& error) {
    if (error.code() != "io.missing") throw;
  } catch (const CheckpointError& error) {
    // The message on a file of another version names its remedy.
    const bool unknown = error.code() == "checkpoint.format" && error.fix().empty();
    if (error.code() != "checkpoint.damaged" && !unknown) throw;
    refuse_lost_run(error, session.options, resumed.path);
  }
}

// Expensive evaluations that the killed run has made are not made again.
void recall_evaluations(Session& session) {
  Problem& problem = session.loaded.problem;
  if (!session.resumption || !problem.experiment || problem.objectives) return;
  const auto known =
      std::make_shared<const RecalledEvaluations>(session.resumption->folder, problem);
  problem =
      with_recall(std::move(problem), [known](StateSpan state) { return known->find(state); });
  session.recalled = known;
}

// A run that was continued with more draws has more than run.json says.
void take_draws(Session& session) {
  const std::optional<std::string> draws = session.resumption->draws(session.options);
  if (!draws) return;
  session.options.parameters["draws"] = {*draws, Origin::command_line};
  make_schedule_of(session);
}

void load(Session& session) {
  const CommandOptions& options = session.options;
  const bool from_input = options.problem == "-";
  const bool made = names_a_family(options.problem, session.registry);
  if (made && options.verb->samples) require_sampled_family(options, session.registry);
  session.set_up->is((made ? "making " : "reading ") +
                     (from_input ? "standard input" : clean(options.problem)));
  session.loaded = load_problem(options.problem, options.problem_options, session.registry);
  session.set_up->is("preparing the run");
  if (from_input) session.set_up->begin_now();
  require_unchanged(session.loaded, options);
  if (session.resumption) require_data(*session.resumption, session.loaded);
  recall_evaluations(session);
  for (const std::string& note : options.notes) session.loaded.notes.push_back(note);
}

// The commands of the recorded run, unless its options solve another problem.
void take_repeated(Session& session, const Arguments& arguments,
                   const std::optional<ResumedFolder>& resumed) {
  std::vector<LoggedCommand>& repeat = session.options.run.commands.repeat;
  if (resumed) {
    repeat = repeated_commands(resumed->path);
  } else if (arguments.has("repeat")) {
    repeat = commands_of_run(arguments.text("repeat"));
    if (repeat.empty()) return;
    if (!arguments.positional.empty()) {
      session.options.notes.push_back(
          fmt::format("the recorded run was told {} command{}, which this run does not repeat, "
                      "because the command line names a problem",
                      repeat.size(), repeat.size() == 1 ? "" : "s"));
      repeat.clear();
      return;
    }
    session.options.notes.push_back(
        fmt::format("the recorded run was told {} command{}, which this run repeats ({})",
                    repeat.size(), repeat.size() == 1 ? "" : "s", command_log));
  }
}

}  // namespace

Session prepare(const RunVerb& verb, const Arguments& arguments,
                const std::optional<ResumedFolder>& resumed) {
  // First: a file of options may be a pipe that nobody writes to.
  auto set_up = std::make_unique<SetUp>();
  auto signals = std::make_unique<StopSignals>([&setting = *set_up] { setting.interrupt(); });
  hear_checkpoint_requests();
  Session session{
      resolve_options(verb, arguments, resumed ? TakeOver::all_given : TakeOver::what_decides),
      known_registry(),
      {},
      {},
      {},
      {},
      {},
      std::move(set_up),
      std::move(signals)};
  const CommandOptions& options = session.options;
  session.registry = run_registry(options.schedule);
  // The problem decides the default schedule, whose parameters are judged later.
  const bool schedule_given = options.settings.at("schedule").origin != Origin::standard;
  if (schedule_given) take_present_names(session.options, session.registry);
  if (verb.samples) {
    require_sampler(session.registry.schedule(options.schedule), session.registry);
  }
  if (schedule_given) make_schedule_of(session);
  if (options.problem.empty()) {
    const char* const example = verb.samples ? "posterior:eight-schools" : "gset:G22";
    throw InvalidArgument(
        "cli.missing", fmt::format("kiln {} needs a problem", verb.name),
        fmt::format("a path, - for standard input, or an instance such as {}", example),
        fmt::format("kiln {} {}{}", verb.name, example, verb.samples ? "" : " --time-limit 10s"));
  }
  take_repeated(session, arguments, resumed);
  check_format_name(options.problem_options.format);
  // Before anything that takes time: a place that cannot be written to must not cost an answer.
  if (options.has("save")) check_save(options.text("save"));
  if (options.has("metrics")) {
    check_metrics(options.text("metrics"), options.has("output") ? options.text("output") : "");
  }
  session.set_up->begin(!options.has("quiet"));
  if (resumed) {
    claim_resumed(session, *resumed);
    if (schedule_given) take_draws(session);
  } else if (options.has("output") && !options.has("dry-run")) {
    session.folder = session.set_up->claim(options.text("output"));
  }
  // Meanwhile: a GPU takes about as long to open as a problem to read. What is wrong with the
  // problem is said first, as if the device were opened after it.
  auto opening = std::async(std::launch::async | std::launch::deferred, open_backend,
                            options.run.device, options.run.threads);
  const HostThreads threads(options.run.threads);
  load(session);
  if (verb.samples) {
    session.loaded.problem = with_density(std::move(session.loaded.problem), options);
  }
  if (options.text("target") == "best-known") take_best_known(session);
  if (!schedule_given) {
    take_default_schedule(session);
    take_present_names(session.options, session.registry);
    make_schedule_of(session);
  }
  if (resumed) {
    session.resumption->count_steps(session.registry.schedule(options.schedule), *session.schedule);
  }
  require_possible_naming(session.options, *session.schedule);
  leave_out_telemetry(session.options, *session.schedule);
  if (!resumed) {
    require_telemetry(session.options, session.registry.schedule(session.options.schedule));
  }
  if (session.loaded.problem.objectives) {
    prepare_front(session);
  } else if (options.has("reference-front")) {
    throw InvalidArgument("cli.conflict",
                          fmt::format("--reference-front is for problems of several objectives, "
                                      "and {} has one objective",
                                      clean(session.loaded.problem.identity.name)),
                          {}, "remove --reference-front");
  }
  prepare_evaluations(session);
  if (options.has("initial")) {
    session.options.run.initial_states =
        read_initial_states(options.text("initial"), session.loaded.problem);
  }
  session.backend = opening.get();
  print_note(renamed_warning(options));
  const DeviceInfo device = session.backend.backend->info();
  print_note(fallback_warning(device, session.backend.fallback_reason));
  print_note(tuning_warning(device));
  return session;
}

}  // namespace kiln::cli
