// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The options of the verbs that run a schedule.
#include "cli/problem_options.hpp"
#include "cli/settings.hpp"

namespace kiln::cli {
namespace {

using Specs = std::vector<OptionSpec>;

const OptionSpec parameter_option{"parameter", 'p', "KEY=VALUE",
                                  "a parameter of the schedule; may be repeated"};
const OptionSpec initial{"initial", 0, "FILE",
                         "begin in the states of this file, as solution.txt has them"};
// Of every run: where, from what options, and what is shown and written.
const Specs device_specs{
    {"seed", 0, "N", "random seed (default 1); the same seed gives the same path"},
    {"device", 0, "NAME", "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)"},
    {"threads", 0, "N", "CPU threads (default all); the answer does not depend on it"},
};
const Specs output_specs{
    {"graph-capture", 0, "on|off",
     "capture steps in CUDA graphs (default on); same answer either way"},
    {"config", 0, "FILE",
     "read options from a TOML file; parameters stand in its table [schedule]"},
    {"dry-run", 0, "", "show what would be run, on what, and the memory needed; run nothing"},
    {"repeat", 0, "RUN",
     "repeat a run from its folder or its run.json; other options change it, --device need not"},
    {"allow-command", 0, "", "let --repeat call the program that its file names"},
    {"save", 0, "FILE", "write what repeats the run (run.json) to this file"},
    {"output", 'o', "DIR", "write a run folder; an existing run is never overwritten"},
    {"out", 0, "DIR", "", "output"},
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

Specs solve_specs() {
  return joined(
      {{{"schedule", 0, "NAME",
         "how to search; `kiln list schedules` (default: what suits the problem, mostly "
         "simulated-annealing)"},
        parameter_option,
        {"replicas", 0, "N", "independent copies in the batch (default: what suits the device)"},
        {"time-limit", 0, "TIME",
         "stop after this time: 500ms, 30s, 5m, 2h (default 10s if there is no other limit)"},
        {"sweeps", 0, "N", "stop after this many sweeps of each replica: 1000, 10k, 1e6, 64Ki"},
        {"evaluations", 0, "N", "evaluations of each study (bayesian-optimization)"},
        {"generations", 0, "N", "generations of each population (multi-objective)"},
        {"target", 0, "VALUE",
         "stop as soon as the best value is at least this good, or best-known; exit code 10 if it "
         "is not reached"}},
       device_specs,
       problem_specs(),
       {initial,
        {"past", 0, "FILE",
         "evaluations that are known already, as in evaluations.csv (bayesian-optimization, and "
         "multi-objective with strategy=surrogate)"},
        {"scalarize", 0, "NAME",
         "chebyshev, augmented (default) or weighted-sum: how schedules for one objective are to "
         "add up several"},
        {"reference-front", 0, "FILE",
         "compare the front of several objectives with the points of this file"},
        {"top", 0, "N", "list the N best distinct solutions (default 1)"}},
       output_specs});
}

Specs sample_specs() {
  return joined(
      {{{"draws", 0, "N", "draws of each chain, after warm-up: 1000, 10k, 1e6"},
        {"warmup", 0, "N", "transitions before, in which step, metric and length adapt"},
        {"chains", 0, "N", "independent chains (default: what suits the device)"},
        {"schedule", 0, "NAME", "how to sample; `kiln list schedules` (default hmc)"},
        parameter_option,
        {"time-limit", 0, "TIME",
         "stop after this time, with the draws made so far: 500ms, 30s, 5m, 2h (default none)"}},
       device_specs,
       {data_spec(),
        initial,
        {"csv", 0, "N",
         "write draws of the first N chains kept as CSV files into the run folder (default 16)"}},
       output_specs});
}

}  // namespace

const RunVerb& solve_verb() {
  static const RunVerb verb{"solve",    solve_specs(), "simulated-annealing",
                            "replicas", "10s",         {"evaluations", "generations"},
                            false};
  return verb;
}

const RunVerb& sample_verb() {
  static const RunVerb verb{"sample", sample_specs(),      "hmc", "chains",
                            "",       {"draws", "warmup"}, true};
  return verb;
}

}  // namespace kiln::cli
