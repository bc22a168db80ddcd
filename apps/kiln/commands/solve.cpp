// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kiln/registry.hpp"

#include "cli/arguments.hpp"
#include "cli/catalogue.hpp"
#include "cli/plugin_option.hpp"
#include "commands/commands.hpp"
#include "commands/run_outputs.hpp"
#include "experiments/evaluation_files.hpp"
#include "front/front_output.hpp"
#include "output/console.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "run/session/session.hpp"
#include "run/supervision/supervisor.hpp"

namespace kiln::cli {
namespace {

void write_solution(const FileWriter& files, const CommandOptions&, const Result& result,
                    const Problem& problem, const Points& reference_front, bool) {
  // First: the smallest file, and what the run was for.
  const bool has_solution = !result.front || !result.front->members.empty();
  if (has_solution && problem.solution.format) {
    files.write("solution.txt", problem.solution.format(spans_of(result.solution)));
  }
  if (!result.front) return;
  files.write("front.csv", front_csv(*result.front, problem));
  if (!result.front->nearest.empty()) {
    files.write("infeasible.csv", infeasible_csv(*result.front, problem));
  }
  files.write("front.svg", front_picture(result, reference_front));
}

std::string solution_text(const CommandOptions& options, const Result& result,
                          const Problem& problem) {
  if (options.has("quiet")) return done_line(result, problem);
  std::string text = done_line(result, problem);
  const bool in_file = options.has("output") && problem.solution.format;
  if (!result.front) text += point_text(result, problem, in_file, result_columns());
  const char* const other =
      options.has("reference-front") ? "the reference front" : "the true front";
  text += result.front ? front_text(result, other) : top_text(result);
  if (result.evaluations) text += model_text(result.evaluations->model);
  return text;
}

std::string schedules_help() {
  std::string names;
  const Registry& registry = known_registry();
  for (const ScheduleEntry* entry : registry.schedules()) names += " " + entry->name;
  std::string text = "\nschedules (`kiln describe NAME` shows their parameters):\n";
  for (const std::string& line : wrap(names, result_columns() - 2))
    text += fmt::format("  {}\n", line);
  return text;
}

}  // namespace

const RunOutput& solve_output() {
  static const RunOutput output{write_solution, solution_text};
  return output;
}

const std::vector<OptionSpec>& solve_specs() { return solve_verb().specs; }

std::string solve_help() {
  return "usage: kiln solve PROBLEM [options]\n\n" +
         paragraph(
             "PROBLEM is a file, - for standard input, or an instance of a family, such as "
             "gset:G22, function:branin, zdt:1 or table:data.csv. `kiln list problems` shows all "
             "families.") +
         "\noptions:\n" + describe_options(solve_verb().specs) + schedules_help() +
         "\nparameters of simulated-annealing, for -p:\n" +
         fields_text(known_registry().schedule("simulated-annealing").fields) + "\n" +
         paragraph(
             "Later sources override earlier ones: defaults, --config, KILN_DEVICE, KILN_SEED, "
             "KILN_THREADS and KILN_REPLICAS, command line.") +
         "\n" +
         paragraph(
             "The exit code is 0, or 10 if a --target was not reached. `kiln --help` lists all "
             "codes.") +
         "\nexamples:\n"
         "  kiln solve gset:G22 --time-limit 30s --target best-known\n"
         "  kiln solve graph.txt --sweeps 10k --seed 7 -o out/graph\n"
         "  kiln solve model.qubo --maximize -p cooling=geometric --json\n"
         "  kiln solve queen8_8.col --colors 9 --target 0\n"
         "  kiln solve gset:G81 --replicas 64k --dry-run\n"
         "  kiln solve zdt:1 -p strategy=sms-emoa -o out/front\n";
}

ExitCode run_solve(const Words& words) {
  const Arguments arguments = parse_arguments("solve", words, solve_verb().specs, 1,
                                              {"fix", "parameter", "plugin", "subject-to", "var"});
  if (arguments.has("help")) {
    print_text(solve_help());
    return ExitCode::ok;
  }
  if (wants_supervisor(arguments)) return supervise(solve_verb(), arguments, words);
  return run_session(prepare_supervised(solve_verb(), arguments), words, solve_output());
}

}  // namespace kiln::cli
