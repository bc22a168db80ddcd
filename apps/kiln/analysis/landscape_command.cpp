// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/landscape_command.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "kiln/engine.hpp"
#include "kiln/options.hpp"

#include "analysis/analyze_options.hpp"
#include "analysis/landscape.hpp"
#include "analysis/slice.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/interruption.hpp"
#include "run/problem_source.hpp"
#include "run/waiting.hpp"

namespace kiln::cli {
namespace {

SliceOptions slice_options_of(const Arguments& arguments) {
  SliceOptions options;
  if (arguments.has("axes")) options.axes = axes_in(arguments.text("axes"));
  if (arguments.has("at")) options.at = arguments.text("at");
  constexpr std::int64_t any = std::int64_t{1} << 30;  // take_slice() judges it
  options.resolution =
      static_cast<std::int32_t>(count_option(arguments, "resolution", 0, any, options.resolution));
  if (!arguments.has("box")) return options;
  for (const std::string& text : arguments.options.at("box")) {
    options.box.push_back(interval_in(text));
  }
  return options;
}

LandscapeOptions landscape_options_of(const Arguments& arguments) {
  LandscapeOptions options;
  if (!arguments.has("threshold")) return options;
  const std::string text = arguments.text("threshold");
  options.threshold = number_in(text).value_or(std::numeric_limits<double>::quiet_NaN());
  if (options.threshold >= 0 && options.threshold <= 1) return options;
  throw InvalidArgument("cli.range", fmt::format("--threshold={} is outside 0 .. 1", clean(text)),
                        "a share of the range of values", "for example --threshold 0.01");
}

Landscape look_at(const Problem& problem, const SliceOptions& options,
                  const LandscapeOptions& looks, const RunOptions& run) {
  const Waiting waiting("evaluating the slice");
  Engine engine(run);
  Slice slice = take_slice(problem, options, known_registry(), engine);
  const std::unique_ptr<Queue> queue = engine.backend().backend->make_queue();
  return landscape_of(std::move(slice), looks, *queue);
}

}  // namespace

const std::vector<OptionSpec>& landscape_specs() {
  static const std::vector<OptionSpec> specs{
      {"landscape", 0, "", "show basins and barriers of PROBLEM along two real variables"},
      {"axes", 0, "X,Y", "the names of the two variables (default: the first two)"},
      {"box", 0, "NAME=LOW:HIGH",
       "the interval of an axis (default: the bounds of the problem); may be given twice"},
      {"resolution", 0, "N", "points along each axis, 16 .. 2048 (default 256)"},
      {"at", 0, "PLACE",
       "the point whose values the other variables have: best, center, a file with a value for "
       "each variable, or a run folder (default best: of a short anneal)"},
      {"threshold", 0, "SHARE",
       "barriers below this share of the range of values make no basin (default 0.01)"},
      {"picture", 0, "FILE", "write a picture (SVG); the file must not exist yet"}};
  return specs;
}

ExitCode run_landscape(const Arguments& arguments) {
  const SliceOptions options = slice_options_of(arguments);
  const LandscapeOptions looks = landscape_options_of(arguments);
  const RunOptions run = device_options(arguments);
  const std::string name = arguments.positional.front();
  const EndBySignal interruptible("analysing " + clean(name));
  const LoadedProblem loaded =
      load_problem(name, problem_options_of(settings_of(arguments)), known_registry());
  const Landscape landscape = look_at(loaded.problem, options, looks, run);
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
