// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The options of the verbs that run a schedule.
#include <limits>

#include "kiln/kernels/fronts/scalarization.hpp"

#include "cli/option_values.hpp"
#include "cli/problem_options.hpp"
#include "cli/settings.hpp"

namespace kiln::cli {
namespace {

using Specs = std::vector<OptionSpec>;

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t max_replicas = std::int64_t{1} << 31;

const OptionSpec parameter_option{"parameter", 'p', "KEY=VALUE",
                                  "parameter of the schedule; may be repeated"};
const OptionSpec initial{
    "initial", 0, "FILE", "initial states, in the form of solution.txt", {.recorded = true}};
const OptionUse replicas_use{.standard = "auto",
                             .environment = true,
                             .read = whole_number_or_auto({1, max_replicas, "1024"})};
const OptionUse time_use{.recorded = true, .limit = true, .read = duration("30s")};

// Of every run: where, from what options, and what is shown and written.
const Specs device_specs{
    {"seed",
     0,
     "N",
     "random seed (default 1); the same seed gives the same path",
     {.standard = "1", .environment = true, .recorded = true, .read = seed_number()}},
    {"device",
     0,
     "NAME",
     "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)",
     {.standard = "auto", .environment = true}},
    {"threads",
     0,
     "N",
     "CPU threads (default all); same answer for any N",
     {.standard = "auto", .environment = true, .read = whole_number_or_auto({1, 4096, "4"})}},
};
const Specs output_specs{
    {"graph-capture",
     0,
     "on|off",
     "use CUDA graphs (default on); same answer if off",
     {.standard = "on", .read = on_or_off()}},
    {"report-interval",
     0,
     "TIME",
     "time between report points: rows of trace.csv and of the progress (default 100ms)",
     {.read = duration("100ms")}},
    {"config", 0, "FILE",
     "read options from a TOML file; its table [schedule] holds the parameters"},
    {"dry-run", 0, "", "show the plan and the memory needed; run nothing"},
    {"repeat", 0, "RUN",
     "repeat a run from its folder or run.json; other options override it, and any --device gives "
     "the same answer"},
    {"allow-command", 0, "", "let --repeat call the program named in its file"},
    {"save", 0, "FILE", "write run.json, which repeats the run, to FILE"},
    {"output", 'o', "DIR", "write a run folder, which must be new or empty"},
    {"out", 0, "DIR", "", {}, "output"},
    {"json", 0, "", "print the result as one JSON document"},
    {"quiet", 'q', "", "print the result line only"},
    {"verbose", 'v', "", "also print timings, counters and all parameters"},
    {"help", 'h', "", "show this help"},
};

Specs joined(const std::vector<Specs>& parts) {
  Specs all;
  for (const Specs& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Specs search_specs() {
  return {{"schedule",
           0,
           "NAME",
           "search method; `kiln list schedules` shows all (default: by problem, mostly "
           "simulated-annealing)",
           {.standard = "simulated-annealing", .recorded = true}},
          parameter_option,
          {"replicas", 0, "N", "independent replicas (default: by device)", replicas_use},
          {"time-limit", 0, "TIME",
           "stop after this time: 500ms, 30s, 5m, 2h (default 10s if there is no other limit)",
           time_use},
          {"sweeps",
           0,
           "N",
           "stop after N sweeps per replica: 10k, 1e6, 64Ki",
           {.recorded = true, .limit = true, .read = whole_number({1, no_bound, "10k"})}},
          {"evaluations",
           0,
           "N",
           "evaluations per study (bayesian-optimization, bayesian-front)",
           {.recorded = true, .limit = true, .parameter = true}},
          {"generations",
           0,
           "N",
           "generations per population (evolutionary)",
           {.recorded = true, .limit = true, .parameter = true}},
          {"target",
           0,
           "VALUE",
           "stop at this value or better, or at best-known; exit code 10 if it is not reached",
           {.recorded = true, .limit = true, .read = target_number()}}};
}

Specs answer_specs() {
  return {
      {"past",
       0,
       "FILE",
       "known evaluations, as in evaluations.csv (bayesian-optimization, bayesian-front)",
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
       "points or run folder to compare the front with",
       {.recorded = true}},
      {"top",
       0,
       "N",
       "list the N best distinct solutions (default 1)",
       {.read = whole_number({1, 1000000, "10"})}}};
}

Specs solve_specs() {
  return joined(
      {search_specs(), device_specs, problem_specs(), {initial}, answer_specs(), output_specs});
}

Specs draw_specs() {
  const OptionUse parameter{.recorded = true, .parameter = true};
  return {{"draws", 0, "N", "draws per chain after warmup: 1000, 10k, 1e6", parameter},
          {"warmup", 0, "N", "transitions that adapt step, metric and length", parameter},
          {"chains", 0, "N", "independent chains (default: by device)", replicas_use},
          {"schedule",
           0,
           "NAME",
           "sampler; `kiln list schedules` (default hmc)",
           {.standard = "hmc", .recorded = true}},
          parameter_option,
          {"time-limit", 0, "TIME",
           "stop after this time and keep the draws made so far: 500ms, 30s, 5m, 2h (default none)",
           time_use}};
}

Specs sample_specs() {
  const CountRange chains{.least = 0,
                          .most = 9999,
                          .example = "16",
                          .fix = "draws.npy has the draws of all chains that were kept"};
  const OptionSpec csv{"csv",
                       0,
                       "N",
                       "write the draws of the first N kept chains as CSV into the run folder "
                       "(default 16)",
                       {.standard = "16", .read = whole_number(chains)}};
  return joined({draw_specs(), device_specs, {data_spec(), initial, csv}, output_specs});
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
