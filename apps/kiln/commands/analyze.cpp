// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/landscape.hpp"
#include "cli/arguments.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "commands/commands.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"
#include "run/problem_source.hpp"
#include "run/waiting.hpp"

namespace kiln::cli {

const std::vector<OptionSpec>& analyze_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all = problem_specs();
    all.insert(
        all.end(),
        {{"landscape", 0, "", "show basins and barriers along two real variables"},
         {"axes", 0, "X,Y", "these variables (default: the first two)"},
         {"resolution", 0, "N", "points along each axis, 16 .. 2048 (default 256)"},
         {"at", 0, "PLACE",
          "the values of the other variables: best, center, a solution file or a run folder "
          "(default best: of a short anneal)"},
         {"box", 0, "NAME=LOW:HIGH", "interval of an axis (default: the bounds of the problem)"},
         {"threshold", 0, "SHARE",
          "barriers below this share of the range of values make no basin (default 0.01)"},
         {"picture", 0, "FILE", "write a picture (SVG)"},
         {"device", 0, "NAME", "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)"},
         {"seed", 0, "N", "random seed of the anneal (default 1)"},
         plugin_spec(),
         {"json", 0, "", "print one JSON document"},
         {"help", 'h', "", "show this help"}});
    return all;
  }();
  return specs;
}

std::string analyze_help() {
  return "usage: kiln analyze PROBLEM --landscape [options]\n\noptions:\n" +
         describe_options(analyze_specs());
}

ExitCode run_analyze(const Words& words) {
  const Arguments arguments = parse_arguments("analyze", words, analyze_specs(), 1,
                                              {"fix", "plugin", "subject-to", "var", "box"});
  if (arguments.has("help")) {
    print_text(analyze_help());
    return ExitCode::ok;
  }
  load_plugins(arguments);
  const Registry& registry = known_registry();
  const LoadedProblem loaded = load_problem(arguments.positional.at(0),
                                            problem_options_of(settings_of(arguments)), registry);
  SliceOptions options;
  if (arguments.has("axes")) options.axes = axes_in(arguments.text("axes"));
  if (arguments.has("resolution")) options.resolution = std::stoi(arguments.text("resolution"));
  if (arguments.has("at")) options.at = arguments.text("at");
  if (arguments.has("box")) {
    for (const std::string& text : arguments.options.at("box")) {
      options.box.push_back(interval_in(text));
    }
  }
  LandscapeOptions looks;
  if (arguments.has("threshold")) {
    looks.threshold = number_in(arguments.text("threshold")).value_or(-1);
  }
  RunOptions run;
  if (arguments.has("device")) run.device = arguments.text("device");
  if (arguments.has("seed")) run.seed = std::stoull(arguments.text("seed"));
  const EndBySignal interruptible("analyzing " + clean(loaded.problem.identity.name));
  const Waiting waiting("evaluating the slice");
  Engine engine(run);
  Slice slice = take_slice(loaded.problem, options, registry, engine);
  const std::unique_ptr<Queue> queue = engine.backend().backend->make_queue();
  const Landscape landscape = landscape_of(std::move(slice), looks, *queue);
  if (arguments.has("picture")) {
    write_file(arguments.text("picture"), landscape_svg(landscape), Existing::refuse);
  }
  if (arguments.has("json")) {
    print_result(json_of(landscape).dump() + "\n");
  } else {
    print_text(text_of(landscape, result_columns()));
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
