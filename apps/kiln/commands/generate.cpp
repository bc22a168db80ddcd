// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <sstream>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/readers.hpp"
#include "kiln/registry.hpp"

#include "arguments.hpp"
#include "atomic_file.hpp"
#include "commands/commands.hpp"
#include "console.hpp"
#include "problem_source.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

const std::vector<OptionSpec>& generate_specs() {
  static const std::vector<OptionSpec> specs{
      {"output", 'o', "FILE", "write to a file, which must not exist yet"},
      {"format", 0, "NAME", "how to write it; only rudy so far (default)"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

Graph generate_graph(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  const std::string family = spec.substr(0, colon);
  const std::string parameters = colon == std::string::npos ? "" : spec.substr(colon + 1);
  const Registry registry = builtin_registry();
  // Making the problem checks the parameters, in the words that `kiln solve` uses.
  registry.problem(family).make(parameters);
  if (family == "gset") return problems::gset(parameters);
  std::int32_t a = 0, b = 0;
  long long seed = 0;
  if (family == "torus" && std::sscanf(parameters.c_str(), "%dx%d,%lld", &a, &b, &seed) == 3) {
    return problems::torus_pm1(a, b, seed);
  }
  throw InvalidArgument("problem.unknown",
                        fmt::format("the family '{}' cannot be written to a file", family));
}

void check_format(const std::string& format) {
  if (format.empty() || format == "rudy") return;
  throw InvalidArgument("cli.unknown",
                        fmt::format("graphs cannot be written in the format '{}'", clean(format)),
                        {}, "--format rudy");
}

}  // namespace

std::string generate_help() {
  return "usage: kiln generate SPEC [options]\n\n"
         "Writes an instance of a problem family; `kiln list problems` shows the families.\n\n"
         "options:\n" +
         describe_options(generate_specs()) +
         "\nexamples:\n"
         "  kiln generate gset:G1 -o G1.txt\n"
         "  kiln generate torus:50x40,1 | kiln solve -\n";
}

ExitCode run_generate(const Words& words) {
  const Arguments arguments = parse_arguments("generate", words, generate_specs(), 1);
  if (arguments.has("help")) {
    print_result(generate_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty()) {
    throw InvalidArgument("cli.missing", "kiln generate needs the name of an instance", {},
                          "kiln generate gset:G1");
  }
  check_format(arguments.text("format"));
  std::ostringstream text;
  problems::write_rudy(text, generate_graph(clean(arguments.positional.front())));
  if (arguments.has("output")) {
    write_file(arguments.text("output"), text.view(), Existing::refuse);
  } else {
    print_result(text.view());
  }
  return ExitCode::ok;
}

}  // namespace kiln::cli
