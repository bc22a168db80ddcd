// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"
#include "kiln/version.hpp"

#include "cli/arguments.hpp"
#include "cli/plugin_option.hpp"
#include "commands/commands.hpp"
#include "output/atomic_file.hpp"
#include "output/console.hpp"
#include "output/text.hpp"
#include "run/problem_source.hpp"

namespace kiln::cli {
namespace {

/// "rudy for graphs, qubo or coo for QUBOs, ..."
std::string formats_by_kind() {
  std::string text;
  for (const problems::WrittenKind& kind : problems::written_kinds()) {
    std::string names;
    for (const Format format : kind.formats) {
      names += fmt::format("{}{}", names.empty() ? "" : " or ", format.name);
    }
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", names, kind.models);
  }
  return text;
}

}  // namespace

const std::vector<OptionSpec>& generate_specs() {
  static const std::vector<OptionSpec> specs{
      {"output", 'o', "FILE", "write to this file, which must not exist yet"},
      {"format", 0, "NAME",
       formats_by_kind() + " (default: the first format listed for the kind of problem)"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

namespace {

problems::GeneratedProblem generate(const std::string& spec) {
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  const std::string family = spec.substr(0, colon);
  known_registry().problem(family);  // knows all families, and the nearest to a wrong one
  return problems::generate(family, spec.substr(std::min(colon + 1, spec.size())));
}

std::string write(const problems::GeneratedProblem& made, const std::string& format) {
  const std::vector<std::string> comments{
      fmt::format("kiln {} generate {}", version(), made.spec),
      fmt::format("to be {}", made.sense == Sense::maximize ? "maximised" : "minimised")};
  std::ostringstream text;
  problems::write_model(text, made.model,
                        format.empty() ? problems::native_format(made.model)
                                       : problems::format_by_name(format).value(),
                        comments);
  return std::move(text).str();
}

}  // namespace

std::string generate_help() {
  return "usage: kiln generate SPEC [options]\n\n" +
         paragraph(
             "Writes an instance of a problem family; `kiln list problems` shows the families.") +
         "\noptions:\n" + describe_options(generate_specs()) +
         "\nexamples:\n"
         "  kiln generate gset:G1 -o G1.txt\n"
         "  kiln generate torus:50x40,1 | kiln solve -\n"
         "  kiln generate palubeckis:p3000.1 | kiln solve - --maximize\n";
}

ExitCode run_generate(const Words& words) {
  const Arguments arguments = parse_arguments("generate", words, generate_specs(), 1);
  if (arguments.has("help")) {
    print_text(generate_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln generate needs the name of an instance", {},
                          "kiln generate gset:G1");
  }
  const std::string format = arguments.text("format");
  check_format_name(format);
  const std::string text = write(generate(clean(arguments.positional.front())), format);
  if (arguments.has("output")) {
    write_file(arguments.text("output"), text, Existing::refuse);
  } else {
    print_result(text);
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
