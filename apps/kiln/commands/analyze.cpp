// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kiln/errors.hpp"

#include "analysis/landscape_command.hpp"
#include "cli/arguments.hpp"
#include "cli/plugin_option.hpp"
#include "cli/problem_options.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"

namespace kiln::cli {

const std::vector<OptionSpec>& analyze_specs() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all = landscape_specs();
    all.insert(all.end(), problem_specs().begin(), problem_specs().end());
    all.insert(all.end(), {{"device", 0, "NAME",
                            "auto, cpu, cuda or cuda:N (default auto: a GPU if there is one)"},
                           {"seed", 0, "N", "random seed of the anneal (default 1)"},
                           plugin_spec(),
                           {"json", 0, "", "print one JSON document"},
                           {"help", 'h', "", "show this help"}});
    return all;
  }();
  return specs;
}

std::string analyze_help() {
  return "usage: kiln analyze PROBLEM --landscape [options]\n\n" +
         paragraph(
             "Evaluates an objective on a grid over two of its real variables, and shows its "
             "basins and the barriers between them.") +
         "\noptions:\n" + describe_options(analyze_specs()) +
         "\nexamples:\n"
         "  kiln analyze function:branin --landscape --picture branin.svg\n"
         "  kiln analyze function:ackley-9 --landscape --axes 'x[2],x[5]' --at out/ackley\n";
}

ExitCode run_analyze(const Words& words) {
  const Arguments arguments = parse_arguments("analyze", words, analyze_specs(), 1,
                                              {"box", "fix", "plugin", "subject-to", "var"});
  if (arguments.has("help")) {
    print_text(analyze_help());
    return ExitCode::ok;
  }
  if (arguments.positional.empty() || !arguments.has("landscape")) {
    throw InvalidArgument("cli.missing", "kiln analyze needs a problem and --landscape", {},
                          "kiln analyze function:branin --landscape");
  }
  load_plugins(arguments);
  return run_landscape(arguments);
}

}  // namespace kiln::cli
