// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kiln/registry.hpp"

#include "cli/arguments.hpp"
#include "cli/catalogue.hpp"
#include "cli/plugin_option.hpp"
#include "commands/commands.hpp"
#include "commands/run_outputs.hpp"
#include "output/console.hpp"
#include "output/sample_files.hpp"
#include "output/sample_text.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "run/session/session.hpp"
#include "run/supervision/supervisor.hpp"

namespace kiln::cli {
namespace {

void write_draws(const FileWriter& files, const CommandOptions& options, const Result& result,
                 const Problem&, const Points&, bool in_a_hurry) {
  if (!result.sample) return;
  if (result.sample_summary) files.write("summary.csv", summary_csv(*result.sample_summary));
  const std::string head = draws_npy_head(*result.sample);
  files.write("draws.npy", Pieces{head, draws_npy_data(*result.sample)}, "draws.npy");
  if (in_a_hurry) return;
  const std::int64_t chains =
      std::min(options.value<std::int64_t>("csv").value_or(0), result.sample->chains);
  const std::string all =
      chains > 1 ? fmt::format("chain_1.csv .. chain_{}.csv", chains) : std::string("chain_1.csv");
  for (std::int64_t c = 0; c < chains; ++c) {
    const std::string table = chain_csv(result, c);
    files.write(fmt::format("chain_{}.csv", c + 1), Pieces{table}, all);
  }
}

std::string draws_text_of(const CommandOptions& options, const Result& result, const Problem&) {
  const nlohmann::json json = nlohmann::json::parse(result_json(result));
  if (!json.contains("sample")) {
    return fmt::format("done   {}, {}\n", stop_text(result),
                       result.sample ? "draws without a summary" : "no draws");
  }
  const bool complete = result.stop == Stop::converged && result.until.empty();
  const std::string end_of_run =
      complete && options.budget.time_limit_s
          ? fmt::format("all draws made after {:.1f} s", result.time.run_s)
          : stop_text(result);
  const std::string line =
      fmt::format("done   {}   {}\n", end_of_run, draws_text(json.at("sample")));
  const bool says_why = !options.has("quiet") || result.misses_until();
  const std::string end = (says_why ? until_text(result.until) : "") + line;
  return options.has("quiet") ? end
                              : sample_text(json, options.has("verbose"), result_columns()) + end;
}

std::string schedule_help() {
  const Registry& registry = known_registry();
  std::string text;
  for (const ScheduleEntry* entry : registry.schedules()) {
    if (!entry->samples) continue;
    text += fmt::format("\nparameters of {}, for -p:\n{}", entry->name, fields_text(entry->fields));
  }
  return text;
}

}  // namespace

const RunOutput& sample_output() {
  static const RunOutput output{write_draws, draws_text_of};
  return output;
}

const std::vector<OptionSpec>& sample_specs() { return sample_verb().specs; }

std::string sample_help() {
  return "usage: kiln sample PROBLEM [options]\n\n" +
         paragraph(
             "Draws from a posterior. PROBLEM is an instance of a family of densities, such as "
             "posterior:eight-schools, or a formula, expr:FORMULA, for the density exp(-FORMULA); "
             "`kiln list problems` shows all families.") +
         "\noptions:\n" + describe_options(sample_verb().specs) + schedule_help() + "\n" +
         paragraph(
             "Later sources override earlier ones: defaults, --config, KILN_DEVICE, KILN_SEED, "
             "KILN_THREADS and KILN_CHAINS, command line.") +
         "\nexamples:\n"
         "  kiln sample posterior:eight-schools\n"
         "  kiln sample posterior:eight-schools --chains 4 --draws 2000 -o out/schools\n"
         "  kiln sample posterior:eight-schools --json | jq .summary\n"
         "  kiln sample 'expr:(x-3)^2/2' --var x=real:-10:10\n";
}

ExitCode run_sample(const Words& words) {
  const Arguments arguments =
      parse_arguments("sample", words, sample_verb().specs, 1, {"parameter", "plugin", "var"});
  if (arguments.has("help")) {
    print_text(sample_help());
    return ExitCode::ok;
  }
  if (wants_supervisor(arguments)) return supervise(sample_verb(), arguments, words);
  return run_session(prepare_supervised(sample_verb(), arguments), words, sample_output());
}

}  // namespace kiln::cli
