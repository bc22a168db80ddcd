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
                                  "a parameter of the schedule; may be repeated"};
const OptionSpec initial{"initial",
                         0,
                         "FILE",
                         "begin in the states of this file, as solution.txt has them",
                         {.recorded = true}};
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
     "CPU threads (default all); the answer does not depend on it",
     {.standard = "auto", .environment = true, .read = whole_number_or_auto({1, 4096, "4"})}},
};
const Specs output_specs{
    {"graph-capture",
     0,
     "on|off",
     "capture steps in CUDA graphs (default on); same answer either way",
     {.standard = "on", .read = on_or_off()}},
    {"report-interval",
     0,
     "TIME",
     "time between two report points: rows of trace.csv, looks at progress (default 100ms)",
     {.read = duration("100ms")}},
    {"config", 0, "FILE",
     "read options from a TOML file; parameters stand in its table [schedule]"},
    {"dry-run", 0, "", "show what would be run, on what, and the memory needed; run nothing"},
    {"repeat", 0, "RUN",
     "repeat a run from its folder or its run.json; other options change it, --device need not"},
    {"allow-command", 0, "", "let --repeat call the program that its file names"},
    {"save", 0, "FILE", "write what repeats the run (run.json) to this file"},
    {"output", 'o', "DIR", "write a run folder; an existing run is never overwritten"},
    {"out", 0, "DIR", "", {}, "output"},
    {"json", 0, "", "print the result as one JSON document"},
    {"quiet", 'q', "", "print the result line only"},
    {"verbose", 'v', "", "print timings, counters and all parameters as well"},
    {"help", 'h', "", "show this help"},
};

Specs joined(const std::vector<Specs>& parts) {
  Specs all;
  for (const Specs& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Specs search_specs() {
  return {
      {"schedule",
       0,
       "NAME",
       "how to search; `kiln list schedules` (default: what suits the problem, mostly "
       "simulated-annealing)",
       {.standard = "simulated-annealing", .recorded = true}},
      parameter_option,
      {"replicas", 0, "N", "independent copies in the batch (default: what suits the device)",
       replicas_use},
      {"time-limit", 0, "TIME",
       "stop after this time: 500ms, 30s, 5m, 2h (default 10s if there is no other limit)",
       time_use},
      {"sweeps",
       0,
       "N",
       "stop after this many sweeps of each replica: 1000, 10k, 1e6, 64Ki",
       {.recorded = true, .limit = true, .read = whole_number({1, no_bound, "10k"})}},
      {"evaluations",
       0,
       "N",
       "evaluations of each study (bayesian-optimization, bayesian-front)",
       {.recorded = true, .limit = true, .parameter = true}},
      {"generations",
       0,
       "N",
       "generations of each population (evolutionary)",
       {.recorded = true, .limit = true, .parameter = true}},
      {"target",
       0,
       "VALUE",
       "stop as soon as the best value is at least this good, or best-known; exit code 10 if it "
       "is not reached",
       {.recorded = true, .limit = true, .read = target_number()}}};
}

Specs answer_specs() {
  return {
      {"past",
       0,
       "FILE",
       "evaluations that are known already, as in evaluations.csv (bayesian-optimization, "
       "bayesian-front)",
       {.recorded = true}},
      {"scalarize",
       0,
       "NAME",
       "chebyshev, augmented (default) or weighted-sum: how schedules for one objective are "
       "to add up several",
       {.recorded = true,
        .read = one_of<ScalarizationKind>({{"chebyshev", ScalarizationKind::chebyshev},
                                           {"augmented", ScalarizationKind::augmented_chebyshev},
                                           {"weighted-sum", ScalarizationKind::weighted_sum}},
                                          "augmented")}},
      {"reference-front",
       0,
       "FILE",
       "compare the front of several objectives with the points of this file",
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
  return {
      {"draws", 0, "N", "draws of each chain, after warm-up: 1000, 10k, 1e6", parameter},
      {"warmup", 0, "N", "transitions before, in which step, metric and length adapt", parameter},
      {"chains", 0, "N", "independent chains (default: what suits the device)", replicas_use},
      {"schedule",
       0,
       "NAME",
       "how to sample; `kiln list schedules` (default hmc)",
       {.standard = "hmc", .recorded = true}},
      parameter_option,
      {"time-limit", 0, "TIME",
       "stop after this time, with the draws made so far: 500ms, 30s, 5m, 2h (default none)",
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
                       "write draws of the first N chains kept as CSV files into the run folder "
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
