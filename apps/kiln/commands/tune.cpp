// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <any>

#include "kiln/errors.hpp"

#include "cli/arguments.hpp"
#include "cli/option_values.hpp"
#include "commands/commands.hpp"
#include "output/console.hpp"
#include "tune/tune_run.hpp"

namespace kiln::cli {

const std::vector<OptionSpec>& tune_specs() {
  static const std::vector<OptionSpec> specs{
      {"device", 0, "NAME", "auto, cpu, cuda or cuda:N (default auto)"},
      {"time-limit", 0, "TIME", "begin no trial after this time (default 30m)"},
      {"retry", 0, "", "measure again what earlier calls have measured"},
      {"report", 0, "", "print the results of all devices that were tuned, and measure nothing"},
      {"json", 0, "", "print one JSON document"},
      {"help", 'h', "", "show this help"}};
  return specs;
}

std::string tune_help() {
  return "usage: kiln tune [KERNEL...] [options]\n\n" +
         paragraph(
             "Measures launch shapes of kernels on this device and keeps the fastest ones in the "
             "cache of the user, where all later runs find them. All shapes of a kernel give the "
             "same bits: each is compared with the default before its time is taken. A shape is "
             "chosen if it beats the default beyond the 95 % intervals of both, twice. What was "
             "tried is never tried again, also after the program was killed.") +
         "\noptions:\n" + describe_options(tune_specs()) +
         "\nexamples:\n"
         "  kiln tune\n"
         "  kiln tune metropolis_sweep --device cuda --time-limit 5m\n"
         "  kiln tune --report\n";
}

ExitCode run_tune(const Words& words) {
  const Arguments arguments = parse_arguments("tune", words, tune_specs(), 1000);
  if (arguments.has("help")) {
    print_text(tune_help());
    return ExitCode::ok;
  }
  if (arguments.has("report")) {
    for (const char* name : {"device", "time-limit", "retry"}) {
      if (!arguments.has(name)) continue;
      throw InvalidArgument("cli.conflict",
                            std::string("--report measures nothing, so it takes no --") + name, {},
                            "kiln tune --report");
    }
    if (!arguments.positional.empty()) {
      throw InvalidArgument("cli.conflict", "--report shows all kernels, so it takes no KERNEL", {},
                            "kiln tune --report");
    }
    return print_tune_reports(arguments.has("json"));
  }
  TuneOptions options;
  options.kernels = arguments.positional;
  if (arguments.has("device")) options.device = arguments.text("device");
  options.retry = arguments.has("retry");
  options.json = arguments.has("json");
  if (arguments.has("time-limit")) {
    const std::any limit =
        duration("5m")("time-limit", {arguments.text("time-limit"), Origin::command_line});
    options.limit_s = std::any_cast<double>(limit);
  }
  return run_tuning(options);
}

}  // namespace kiln::cli
