// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/problem_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kiln/problems/potts.hpp"

#include "cli/option_values.hpp"
#include "cli/sense.hpp"
#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

// What files do not say themselves, and what is held of their models.
const std::vector<OptionSpec> file_specs{
    {"format", 0, "NAME",
     "file format; `kiln list formats` shows all formats (default: recognised from the file)"},
    {"colors", 0, "N",
     "number of colours for the graph of a col file, or min for as few as possible"},
    {"vartype", 0, "NAME",
     "variable type, spin or binary, for a file that does not state the type"},
    {"fix", 0, "NAME=VALUE",
     "keep a variable of a quadratic model at a value; NAME is its number, as the format counts; "
     "several are separated by semicolons; may be repeated"},
    {"fix-file", 0, "FILE", "the same from a file, a line for each variable: NAME VALUE"}};

// Of families of problems: ProblemEntry::settings.
const std::vector<OptionSpec> family_specs{
    {"objective", 0, "COLUMN|FILE",
     "column of a table that the search maximises or minimises; without a problem, a file of "
     "source "
     "text with a function `objective` of the variables (--var), which needs --allow-jit"},
    {"allow-jit", 0, "",
     "compile the source text of --objective, which can do all that you may do"},
    {"sense", 0, "NAME",
     "minimize or maximize, as --minimize and --maximize (default: experiments in a table "
     "are maximised, everything else is minimised)"},
    {"categorical", 0, "A,B", "columns of a table whose numbers are labels without an order"},
    {"ignore", 0, "A,B", "columns of a table that the search ignores"},
    {"pick", 0, "N", "number of assets of a portfolio"},
    {"risk", 0, "R",
     "risk aversion of a portfolio: the weight of the variance against the mean return (default: "
     "1)"},
    {"flows", 0, "FILE",
     "table of flows between facilities; the table of an assignment has the distances of places"},
    {"var", 0, "NAME=KIND",
     "variable of a command or a formula; KIND is real:LOW:HIGH or int:LOW:HIGH, of a command also "
     "real:LOW:HIGH:log or cat:A,B, of a formula also binary, where NAME may be an array: x[10]; "
     "may be repeated"},
    {"subject-to", 0, "CONSTRAINT",
     "constraint of a formula, such as 'x + y <= 1', with <=, >= or ==; may be repeated"},
    {"constraints", 0, "N",
     "number of constraint values that a command prints after its value; a call is feasible if all "
     "are <= 0"},
    {"timeout", 0, "TIME",
     "time limit of each call of a command: 500ms, 30s, 5m, 2h; a longer call fails"},
    {"worker", 0, "FORM",
     "the command stays and reads points from its standard input: json or words, a line for each "
     "point (default: a process for each point)"},
    {"jobs", 0, "N",
     "number of calls of a command at the same time, at most (default: the number of threads)"}};

std::int32_t colors_of(const Setting& setting) {
  if (setting.text == "min") return Coloring::fewest;
  const std::int64_t colors = with_fix("--colors 4, or --colors min", [&] {
    return parse_count(clean(setting.text), label_of("colors", setting));
  });
  if (colors >= 2 && colors <= Coloring::max_colors) return static_cast<std::int32_t>(colors);
  refuse_value("colors", setting, fmt::format("is outside 2 .. {}", Coloring::max_colors),
               "--colors min minimises the number of colours");
}

VarType vartype_of(const Setting& setting) {
  if (setting.text == "spin" || setting.text == "SPIN") return VarType::spin;
  if (setting.text == "binary" || setting.text == "BINARY") return VarType::binary;
  refuse_value("vartype", setting, "is neither spin nor binary", "--vartype spin");
}

std::vector<std::string> texts_of(const Setting& setting) {
  return setting.repeated.empty() ? std::vector{setting.text} : setting.repeated;
}

ProblemSettings family_settings_of(const Settings& settings) {
  ProblemSettings given;
  for (const OptionSpec& spec : family_specs) {
    const auto found = settings.find(spec.name);
    // The sense is not of some families alone, and may be said in other ways.
    if (found == settings.end() || spec.name == "sense") continue;
    const Setting& setting = found->second;
    if (spec.name == "timeout") {
      given[spec.name] = {fmt::format("{}", positive_duration(spec.name, setting, "60s"))};
    } else if (spec.name == "allow-jit") {
      given[spec.name] = {"/proc/self/exe"};  // this program compiles, in a child process
    } else {
      given[spec.name] = texts_of(setting);
    }
  }
  return given;
}

}  // namespace

const OptionSpec& variable_spec() {
  static const OptionSpec spec = [] {
    OptionSpec found = *std::ranges::find(family_specs, "var", &OptionSpec::name);
    found.sentence =
        "variable of a formula, real:LOW:HIGH; NAME may be an array: x[10]; may be repeated";
    found.use.recorded = true;
    return found;
  }();
  return spec;
}

const OptionSpec& data_spec() {
  static const OptionSpec spec{
      "data",
      0,
      "FILE",
      "data of a posterior or a formula, as JSON or a table; - means standard input",
      {.recorded = true}};
  return spec;
}

const std::vector<OptionSpec>& problem_specs() {
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> specs = file_specs;
    specs.push_back(data_spec());
    specs.insert(specs.end(), sense_specs().begin(), sense_specs().end());
    specs.insert(specs.end(), family_specs.begin(), family_specs.end());
    // They identify the problem; leave to execute a file does not.
    for (OptionSpec& spec : specs) spec.use.recorded = spec.name != "allow-jit";
    return specs;
  }();
  return all;
}

std::vector<OptionSpec> problem_specs_of(const ProblemEntry& entry) {
  std::vector<OptionSpec> specs;
  for (const OptionSpec& spec : family_specs) {
    if (std::ranges::count(entry.settings, spec.name) > 0) specs.push_back(spec);
  }
  // Every problem with one objective has a sense: of such options alone nothing is to be told.
  const bool own =
      std::ranges::any_of(specs, [](const auto& spec) { return spec.name != "sense"; });
  if (!own) specs.clear();
  return specs;
}

std::vector<std::string> changed_problem_options(const Settings& recorded, const Settings& now) {
  std::vector<std::string> changed;
  for (const OptionSpec& spec : problem_specs()) {
    const auto given = now.find(spec.name), before = recorded.find(spec.name);
    if (!spec.use.recorded || given == now.end()) continue;
    if (given->second.origin <= Origin::config) continue;
    const bool known = before != recorded.end();
    if (known && before->second.text == given->second.text) continue;
    const std::string label = label_of(spec.name, given->second), text = given->second.text;
    changed.push_back(fmt::format("{}{}, which {}", label, text.empty() ? "" : "=" + clean(text),
                                  known ? "was " + clean(before->second.text) : "was not given"));
  }
  return changed;
}

ProblemOptions problem_options_of(const Settings& settings) {
  const auto text_of = [&](const char* name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string{} : found->second.text;
  };
  ProblemOptions options;
  options.format = text_of("format");
  options.data = text_of("data");
  options.settings = family_settings_of(settings);
  options.sense = sense_of(settings);
  options.fixed.file = text_of("fix-file");
  if (const auto given = settings.find("fix"); given != settings.end()) {
    options.fixed.texts = texts_of(given->second);
  }
  if (settings.contains("colors")) options.reading.colors = colors_of(settings.at("colors"));
  if (settings.contains("vartype")) options.reading.vartype = vartype_of(settings.at("vartype"));
  return options;
}

}  // namespace kiln::cli
