// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The options of the verbs that run a schedule.
#include <limits>

#include "kiln/executors/executor.hpp"
#include "kiln/kernels/fronts/scalarization.hpp"
#include "kiln/kernels/sweeps/draw_naming.hpp"

#include "cli/option_values.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "cli/settings.hpp"
#include "cli/telemetry_options.hpp"

namespace kiln::cli {
namespace {

using Specs = std::vector<OptionSpec>;

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t max_replicas = std::int64_t{1} << 31;

const OptionSpec parameter_option{"parameter", 'p', "KEY=VALUE",
                                  "set a parameter of the schedule; may be repeated"};
const OptionSpec initial{"initial",
                         0,
                         "FILE",
                         "initial states of the replicas, in the format of solution.txt",
                         {.recorded = true}};
const OptionUse replicas_use{.standard = "auto",
                             .environment = true,
                             .read = whole_number_or_auto({1, max_replicas, "1024"})};
const OptionUse time_use{.recorded = true, .limit = true, .read = duration("30s")};

const OptionSpec work_limit{
    "work-limit",
    0,
    "N[UNIT]",
    "stop after N units of work of all replicas: attempts, gradients (hmc) or evaluations "
    "(evolutionary, amosa, bayesian-optimization, bayesian-front), such as 1e9, 20Mgradients; "
    "every repeat stops at the same place",
    {.recorded = true, .limit = true, .read = amount_of_work()}};

// Of every run: where, from what options, and what is shown and written.
const Specs device_specs{
    {"seed",
     0,
     "N",
     "random seed (default 1); the same seed gives the same random numbers",
     {.standard = "1", .environment = true, .recorded = true, .read = seed_number()}},
    {"device",
     0,
     "NAME",
     "auto, cpu, cuda or cuda:N (default auto: a GPU if present, else the CPU)",
     {.standard = "auto", .environment = true}},
    {"threads",
     0,
     "N",
     "number of CPU threads (default all); without a time limit N changes no answer",
     {.standard = "auto", .environment = true, .read = whole_number_or_auto({1, 4096, "4"})}},
};
// The third naming goes with an option of a schedule.
std::any naming_of(const std::string& name, const Setting& setting) {
  if (setting.text == to_string(DrawNaming::shared)) {
    refuse_value(name, setting, "is not one of auto, words and planes", "-p noise=shared");
  }
  static const ReadOption read = one_of<std::optional<DrawNaming>>(
      {{"auto", std::nullopt}, {"words", DrawNaming::words}, {"planes", DrawNaming::planes}},
      "words");
  return read(name, setting);
}

std::any executor_of(const std::string& name, const Setting& setting) {
  static const ReadOption read = one_of<Executor>({{"auto", Executor::automatic},
                                                   {"stream", Executor::stream},
                                                   {"graph", Executor::graph},
                                                   {"loop", Executor::loop},
                                                   {"resident", Executor::resident}},
                                                  "auto");
  return read(name, setting);
}

// Older versions had words only: what repeats them says so.
const OptionSpec draw_naming{"draw-naming",
                             0,
                             "NAME",
                             "how sweeps draw random words: words (one for each replica), planes "
                             "(bits shared by 32 replicas), or auto (default: planes if the run "
                             "can, else words)",
                             {.recorded = true, .read = naming_of}};
// Made at the first use: it takes an option of another file.
const Specs& output_specs() {
  static const Specs specs{
      {"executor",
       0,
       "NAME",
       "how a GPU gets its launches: stream (one by one), graph (captured, many at a time), loop "
       "(repeated by the device), resident (launches of several ticks, for parallel tempering), or "
       "auto "
       "(default: the fastest, by measurement); the answer does not change",
       {.standard = "auto", .read = executor_of}},
      // How it was called before there were several.
      {"graph-capture", 0, "on|off", "", {.read = on_or_off()}},
      {"report-interval",
       0,
       "TIME",
       "time between two report points, each a row of trace.csv (default 100ms)",
       {.read = duration("100ms")}},
      {"checkpoint-every",
       0,
       "TIME",
       "time between two checkpoints in the run folder, from which kiln resume continues, or off "
       "(default 60s; longer if they would cost more than 0.5 % of the time)",
       {.standard = "60s", .read = duration_or_off("60s")}},
      {"supervise", 0, "",
       "run in a child process, and start it again from its last checkpoint if it crashes or "
       "hangs; the answer does not change"},
      {"telemetry",
       0,
       "LEVEL",
       "what telemetry.bin records of each epoch: off, summary, groups or replicas (default "
       "summary "
       "with -o)",
       {.read = telemetry_level()}},
      {"telemetry-budget",
       0,
       "BYTES",
       "size limit of telemetry.bin, 0 for none of it (default 4Mi, above level summary 256Mi)",
       {.read = whole_number({0, no_bound, "16Mi"})}},
      {"telemetry-interval",
       0,
       "SWEEPS",
       "sweeps from one epoch of telemetry.bin to the next, at most (default: so many that "
       "telemetry costs next to nothing)",
       {.read = whole_number({1, std::numeric_limits<std::int32_t>::max(), "64"})}},
      {"incumbent-solutions", 0, "",
       "write the solution of each incumbent to the folder incumbents of the run folder"},
      plugin_spec(),
      {"config", 0, "FILE",
       "read options from a TOML file; the table [schedule] of the file has the parameters"},
      {"dry-run", 0, "", "show the plan of the run and the memory needed, and run nothing"},
      {"repeat", 0, "RUN",
       "repeat a run from its folder or its run.json; other options override the options of the "
       "run"},
      {"allow-command", 0, "", "let --repeat call the program that run.json names"},
      {"metrics", 0, "FILE",
       "keep the state of the run in FILE, as metrics for Prometheus, replaced once a second"},
      {"save", 0, "FILE", "write run.json, from which --repeat repeats the run, to FILE"},
      {"output", 'o', "DIR", "write the results to the run folder DIR, which must be new or empty"},
      {"out", 0, "DIR", "", {}, "output"},
      {"no-report", 0, "", "do not write report.html, the report on the run, to the run folder"},
      {"json", 0, "", "print the result as one JSON document"},
      {"profile", 0, "",
       "also print the share of the time of each kernel; the answer does not change"},
      {"quiet", 'q', "", "print only the result, without banner and progress"},
      {"verbose", 'v', "", "also print timings, counters and all parameters"},
      {"help", 'h', "", "show this help"},
  };
  return specs;
}

Specs joined(const std::vector<Specs>& parts) {
  Specs all;
  for (const Specs& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Specs search_specs() {
  return {{"schedule",
           0,
           "NAME",
           "search method; `kiln list schedules` shows all methods (default: depends on the "
           "problem, mostly simulated-annealing)",
           {.standard = "simulated-annealing", .recorded = true}},
          parameter_option,
          {"replicas", 0, "N",
           "number of replicas (default: depends on the schedule and the device)", replicas_use},
          {"time-limit", 0, "TIME",
           "stop after this time: 500ms, 30s, 5m, 2h (default 10s, if neither an option nor the "
           "schedule sets a limit)",
           time_use},
          {"sweeps",
           0,
           "N",
           "stop after N sweeps of each replica: 10k, 1e6, 64Ki",
           {.recorded = true, .limit = true, .read = whole_number({1, no_bound, "10k"})}},
          work_limit,
          {"evaluations",
           0,
           "N",
           "stop after N evaluations of each study, for bayesian-optimization and bayesian-front",
           {.recorded = true, .limit = true, .parameter = true}},
          {"generations",
           0,
           "N",
           "stop after N generations, for evolutionary",
           {.recorded = true, .limit = true, .parameter = true}},
          {"target",
           0,
           "VALUE",
           "stop at this value or a better value; best-known is the best value on record; exit "
           "code 10 if the run does not reach the target",
           {.recorded = true, .limit = true, .read = target_number()}},
          {"stop-when",
           0,
           "CONDITION",
           "stop once the best value gains too little, such as 'gain<0.1% in 1e9 attempts' or "
           "'gain<2 in 5000 sweeps'; counts sweeps, attempts or evaluations, so every repeat stops "
           "at the same place",
           {.recorded = true, .limit = true, .read = condition_on_gain()}}};
}

Specs answer_specs() {
  return {
      {"past",
       0,
       "FILE",
       "past evaluations, in the format of evaluations.csv, for bayesian-optimization and "
       "bayesian-front",
       {.recorded = true}},
      {"scalarize",
       0,
       "NAME",
       "scalarisation of several objectives for a single-objective schedule: chebyshev, augmented "
       "(default) or weighted-sum",
       {.recorded = true,
        .read = one_of<ScalarizationKind>({{"chebyshev", ScalarizationKind::chebyshev},
                                           {"augmented", ScalarizationKind::augmented_chebyshev},
                                           {"weighted-sum", ScalarizationKind::weighted_sum}},
                                          "augmented")}},
      {"reference-front",
       0,
       "FILE",
       "compare the front with the points of this file, or with the front of this run folder",
       {.recorded = true}},
      {"top",
       0,
       "N",
       "list the N best distinct solutions of one objective (default 1)",
       {.read = whole_number({1, 1000000, "10"})}}};
}

Specs solve_specs() {
  return joined({search_specs(),
                 device_specs,
                 problem_specs(),
                 {initial, draw_naming},
                 answer_specs(),
                 output_specs()});
}

Specs draw_specs() {
  const OptionUse parameter{.recorded = true, .parameter = true};
  return {{"draws", 0, "N", "number of draws of each chain after the warmup: 1000, 10k, 1e6",
           parameter},
          {"warmup", 0, "N",
           "number of warmup transitions, which adapt step size, metric and length", parameter},
          {"chains", 0, "N", "number of chains (default: depends on the device)", replicas_use},
          {"schedule",
           0,
           "NAME",
           "sampling method; `kiln list schedules` shows all schedules (default hmc)",
           {.standard = "hmc", .recorded = true}},
          parameter_option,
          {"time-limit", 0, "TIME",
           "stop after this time and keep the draws made so far: 500ms, 30s, 5m, 2h (default none)",
           time_use},
          work_limit,
          {"until",
           0,
           "CONDITIONS",
           "stop once the draws meet all of these conditions, such as 'ess>=400,rhat<=1.01'; "
           "statistics: ess, ess_bulk, ess_tail, rhat, divergences; exit code 10 if the draws of "
           "the run do not meet them",
           {.recorded = true, .limit = true, .read = conditions_on_draws()}}};
}

Specs sample_specs() {
  const CountRange chains{.least = 0,
                          .most = 9999,
                          .example = "16",
                          .fix = "draws.npy has the draws of all chains that were kept"};
  const OptionSpec csv{"csv",
                       0,
                       "N",
                       "write the draws of the first N stored chains as CSV files into the run "
                       "folder (default 16)",
                       {.standard = "16", .read = whole_number(chains)}};
  return joined(
      {draw_specs(), device_specs, {data_spec(), variable_spec(), initial, csv}, output_specs()});
}

}  // namespace

const RunVerb& solve_verb() {
  static const RunVerb verb{"solve", solve_specs(), "replicas", "10s", false};
  return verb;
}

const RunVerb& sample_verb() {
  static const RunVerb verb{"sample", sample_specs(), "chains", "", true};
  return verb;
}

const OptionSpec* find_run_option(const std::string& name) {
  for (const RunVerb* verb : {&solve_verb(), &sample_verb()}) {
    for (const OptionSpec& spec : verb->specs) {
      if (spec.name == name) return &spec;
    }
  }
  return nullptr;
}

}  // namespace kiln::cli
