// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "kiln/options.hpp"
#include "kiln/problems/best_known.hpp"
#include "kiln/registry.hpp"

#include "cli/arguments.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "cli/sense.hpp"
#include "commands/commands.hpp"
#include "errors.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "run/interruption.hpp"
#include "run/problem_check.hpp"
#include "run/problem_source.hpp"
#include "run/waiting.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const std::vector<OptionSpec>& check_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all = problem_specs();
    all.insert(all.end(), {{"starts", 0, "N",
                            "number of random starts of the gradient check, 1 .. 1000 (default 3)"},
                           {"seed", 0, "N", "random seed of the starts (default 1)"},
                           plugin_spec(),
                           {"json", 0, "", "print one JSON document"},
                           {"help", 'h', "", "show this help"}});
    return all;
  }();
  return specs;
}

namespace {

struct Findings {
  std::string kind;
  std::string value_name;
  Sense sense = Sense::minimize;
  std::string aim;  ///< "minimise value; --maximize reverses it"
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::string weights;
  std::string fingerprint;
  std::string known_as;  ///< "gset:G1", "" if it is none that is known
  std::optional<double> known_best;
};

std::string text_of(const std::optional<std::pair<double, double>>& range) {
  if (!range) return "none";
  const auto text = [&](double value) { return human_value(value, false); };
  return fmt::format("{} .. {}", text(range->first), text(range->second));
}

/// How `kiln solve` calls a published instance, if it can generate it.
std::string spec_of(std::string_view name) {
  if (name.starts_with('G')) return fmt::format("gset:{}", name);
  if (name.starts_with('p')) return fmt::format("palubeckis:{}", name);
  return std::string(name);
}

void note_known(const std::optional<NamedBest>& known, Findings& found) {
  if (!known) return;
  found.known_as = spec_of(known->name);
  found.known_best = known->value;
}

Findings examine(const Model& model) {
  Findings found;
  found.kind = model.kind_name();
  found.value_name = model.value_name();
  ModelOutline outline = model.outline();
  found.sizes = std::move(outline.sizes);
  found.weights = text_of(outline.coefficients);
  found.fingerprint = model.fingerprint();
  note_known(model.best_known(found.fingerprint), found);
  return found;
}

// The numbers of colours stand behind those of vertices and edges.
void add_colors(const Problem& problem, Findings& found) {
  found.value_name = problem.units.value_name;
  for (const auto& [name, size] : problem.identity.sizes) {
    if (name != "n" && name != "m") found.sizes.emplace_back(name, std::stoll(size));
  }
}

// What kiln solve would do with it.
Findings findings_of(const LoadedFile& file, const ProblemOptions& options) {
  Findings found = examine(file.content);
  found.sense = options.sense.value_or(file.content.natural_sense());
  const bool fewest = options.reading.colors == Coloring::fewest;
  if (options.reading.colors != 0) {
    add_colors(make_problem(file.content, found.sense, file.name), found);
  }
  found.aim = fmt::format("{} {}", verb_of(found.sense), found.value_name);
  if (!options.sense && !fewest) {
    found.aim +=
        fmt::format("; --{} reverses it", found.sense == Sense::maximize ? "minimize" : "maximize");
  }
  // Greatest values are on record.
  if (options.sense == Sense::minimize) found.known_best.reset();
  if (!options.fixed.empty()) {
    const Format format = problems::format_by_name(file.format).value();
    const Problem left = fixed_problem(options.fixed, file.content, format, found.sense, file.name);
    found.sizes.emplace_back("fixed", file.outline.variables - left.objective->space().variables());
    found.fingerprint = left.identity.fingerprint;
    found.known_as.clear();
    found.known_best.reset();
  }
  return found;
}

std::string text_of(const LoadedFile& file, const Findings& found) {
  std::string text = fmt::format("{}: ok\n", file.name);
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", name, value);
  };
  line("format", file.format);
  line("kind", found.kind);
  line("aim", found.aim);
  for (const auto& [name, size] : found.sizes) line(name, fmt::format("{}", size));
  line("coefficients", found.weights);
  line("fingerprint", found.fingerprint);
  std::string known = found.known_as;
  if (found.known_best) known += ", best known " + human_value(*found.known_best, false);
  if (!known.empty()) line("same as", known);
  for (const std::string& note : file.report.notes) line("note", clean(note));
  return text;
}

std::string check_json(const LoadedFile& file, const Findings& found) {
  Json json = {{"file", file.name}, {"ok", true}, {"format", file.format}, {"kind", found.kind}};
  for (const auto& [name, size] : found.sizes) json["sizes"][name] = size;
  json["objective"] = {{"name", found.value_name}, {"sense", option_of(found.sense)}};
  json["fingerprint"] = found.fingerprint;
  json["same_as"] = found.known_as.empty() ? Json(nullptr) : Json(found.known_as);
  json["best_known"] = found.known_best ? Json(*found.known_best) : Json(nullptr);
  json["duplicates_merged"] = file.report.duplicates_merged;
  json["notes"] = file.report.notes;
  return json.dump() + "\n";
}

// A number of an option that must be in low .. high.
std::int64_t number_of(const Arguments& arguments, const std::string& name, std::int64_t low,
                       std::int64_t high, std::int64_t otherwise) {
  if (!arguments.has(name)) return otherwise;
  const std::string text = clean(arguments.text(name));
  const std::int64_t value = with_fix(fmt::format("--{} {}", name, otherwise),
                                      [&] { return parse_count(text, "--" + name); });
  if (value >= low && value <= high) return value;
  throw InvalidArgument("cli.range",
                        fmt::format("--{}={} is outside {} .. {}", name, text, low, high), {},
                        fmt::format("for example --{} {}", name, otherwise));
}

ExitCode check_family(const std::string& name, const Arguments& arguments,
                      const Registry& registry) {
  const ProblemOptions options = problem_options_of(settings_of(arguments));
  if (arguments.has("format")) {
    throw InvalidArgument("cli.conflict",
                          fmt::format("--format is for files, and {} is not a file", clean(name)),
                          {}, "remove --format");
  }
  const auto starts = static_cast<int>(number_of(arguments, "starts", 1, 1000, 3));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto seed = static_cast<std::uint64_t>(number_of(arguments, "seed", 0, most, 1));
  const LoadedProblem loaded = load_problem(name, options, registry);
  ProblemFindings findings;
  {
    const Waiting waiting(fmt::format("checking the gradient at {} random starts", starts));
    findings = examine_problem(loaded.problem, starts, seed);
  }
  findings.fingerprint = loaded.fingerprint;
  if (arguments.has("json")) print_result(json_of(findings).dump() + "\n");
  refuse_unless_ok(findings);
  if (!arguments.has("json")) print_text(text_of(findings));
  return ExitCode::ok;
}

std::string check_json(const ParseError& error) {
  Json issues = Json::array();
  for (const ParseIssue& issue : error.issues()) {
    issues.push_back({{"line", issue.line},
                      {"column", issue.column},
                      {"message", clean(issue.message)},
                      {"expected", clean(issue.expected)}});
  }
  const Json json = {
      {"file", clean(error.file())}, {"ok", false}, {"issues", issues}, {"total", error.total()}};
  return json.dump() + "\n";
}

ExitCode check_file(const std::string& path, const Arguments& arguments, const Registry& registry) {
  const ProblemOptions options = problem_options_of(settings_of(arguments));
  check_file_options(path, options, registry);
  for (const char* name : {"starts", "seed"}) {
    if (!arguments.has(name)) continue;
    throw InvalidArgument(
        "cli.conflict",
        fmt::format("--{} is for problems given by name, and Kiln reads {} as a file", name,
                    clean(path)),
        "for example posterior:eight-schools", fmt::format("remove --{}", name));
  }
  const bool json = arguments.has("json");
  try {
    const LoadedFile file = load_file(path, options.format, options.reading);
    check_colors(file, options);
    const Findings found = findings_of(file, options);
    if (json) {
      print_result(check_json(file, found));
    } else {
      print_text(text_of(file, found));
    }
  } catch (const ParseError& error) {
    if (json) print_result(check_json(error));
    throw;
  }
  return ExitCode::ok;
}

}  // namespace

std::string check_help() {
  return "usage: kiln check FILE|PROBLEM [options]\n\n" +
         paragraph(
             "Reads a file, or - for standard input, and reports its content. If something is "
             "wrong, it lists up to five errors with line and column, and the exit code is 3.") +
         "\n" +
         paragraph(
             "For a problem by name, it checks the gradient, if there is one, against differences "
             "of the energy at random starts. If the gradient is wrong, the exit code is 8.") +
         "\noptions:\n" + describe_options(check_specs()) +
         "\nexamples:\n"
         "  kiln check graph.txt\n"
         "  kiln check graph.col --colors min\n"
         "  kiln generate gset:G1 | kiln check -\n"
         "  kiln check posterior:linear-regression,yield --data table.csv\n";
}

ExitCode run_check(const Words& words) {
  Arguments arguments =
      parse_arguments("check", words, check_specs(), 1, {"fix", "plugin", "subject-to", "var"});
  if (arguments.has("help")) {
    print_text(check_help());
    return ExitCode::ok;
  }
  const bool is_source = arguments.positional.empty() && arguments.has("objective");
  if (arguments.positional.empty() && !is_source) {
    throw InvalidArgument("cli.missing", "kiln check needs a file or a problem", {},
                          "kiln check graph.txt");
  }
  load_plugins(arguments);
  const std::string what =
      is_source ? "source:" + arguments.text("objective") : arguments.positional.front();
  if (is_source) arguments.options.erase("objective");  // it is the problem
  const Registry& registry = known_registry();
  const EndBySignal interruptible("checking " + (what == "-" ? "standard input" : clean(what)));
  if (names_a_family(what, registry)) return check_family(what, arguments, registry);
  return check_file(what, arguments, registry);
}

}  // namespace kiln::cli
