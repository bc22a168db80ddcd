// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/run/run_analysis.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t screen_columns = 80;

std::string number(double value, const char* absent = "-") {
  if (std::isnan(value)) return absent;
  return std::isinf(value) ? "infinite" : fmt::format("{:.4f}", value + 0.0);
}

std::string p_text(double p) { return std::isnan(p) ? "-" : fmt::format("{:.2g}", p); }

std::string flow_text(const InformationLink& link) {
  if (link.estimate.status == InformationStatus::constant) return "constant";
  return number(link.estimate.effective) + (link.significant ? " *" : "  ");
}

std::string ladder_text(const LadderAnalysis& ladder, const RunAnalysis& run) {
  std::string text = fmt::format(
      "\nflow between rungs, nats: {} {} of {} epochs, {} {} apart, {}\n", ladder.ladders,
      ladder.ladders == 1 ? "ladder" : "ladders", ladder.epochs, ladder.sweeps_apart,
      ladder.sweeps_apart == 1 ? "sweep" : "sweeps",
      ladder.is_early ? fmt::format("sweeps {} to {}", ladder.first_sweep, ladder.last_sweep())
                      : fmt::format("from sweep {} on", ladder.first_sweep));
  Rows rows{{"gap", "up  ", "p", "down  ", "p"}};
  for (std::size_t gap = 0; gap < ladder.up.size(); ++gap) {
    rows.push_back({fmt::format("{} - {}", gap, gap + 1), flow_text(ladder.up[gap]),
                    p_text(ladder.up[gap].estimate.p_value), flow_text(ladder.down[gap]),
                    p_text(ladder.down[gap].estimate.p_value)});
  }
  text += table_text(rows, 1);
  text += fmt::format("all links together: p = {}{}\n", p_text(ladder.p_value),
                      ladder.p_value <= run.significance ? ", information flows" : "");
  text +=
      fitted(fmt::format("{} of {} links stand out (*) at {:.0f} % false discoveries, against {} "
                         "rotations of each series; values have the mean of these taken off\n",
                         ladder.significant_links(), 2 * ladder.up.size(), 100 * run.significance,
                         run.surrogates),
             screen_columns);
  text += "\nmemory of rungs\n";
  rows = {{"rung", "autocorrelation time, sweeps", "stored, nats", "p"}};
  for (std::size_t r = 0; r < ladder.memory.size(); ++r) {
    const RungMemory& rung = ladder.memory[r];
    rows.push_back({fmt::format("{}", r),
                    std::isfinite(rung.sweeps) ? human_count(rung.sweeps) : "-",
                    number(rung.storage.effective), p_text(rung.storage.p_value)});
  }
  return text + table_text(rows, 1);
}

std::string clones_text(const std::vector<Clones>& clones, std::int64_t replicas) {
  if (clones.empty()) return fmt::format("\nclones       none of {} replicas\n", replicas);
  std::string text = "\nclones       replicas with equal energies at every epoch\n";
  Rows rows{{"replicas", "from sweep", "epochs", "changes"}};
  for (const Clones& set : clones) {
    std::string list;
    for (const std::int64_t replica : set.replicas) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", replica);
      if (list.size() <= 30 || replica == set.replicas.back()) continue;
      list += fmt::format(", ... ({})", set.replicas.size());
      break;
    }
    rows.push_back({list, fmt::format("{}", set.since_sweep), fmt::format("{}", set.epochs),
                    fmt::format("{}", set.changes)});
  }
  return text + table_text(rows, 1);
}

std::string inputs_text(const InputRanking& inputs) {
  std::string text =
      fmt::format("\ninputs that matter, by {} of {} evaluations", inputs.used, inputs.rows);
  if (inputs.failed > 0) text += fmt::format(", {} without a value", inputs.failed);
  text += "\n";
  if (inputs.used < min_rows)
    return text + fmt::format("none: {} evaluations are needed\n", min_rows);
  if (inputs.value_is_constant) return text + "no information: the value is constant\n";
  if (inputs.inputs == 0) return text + "none: no input changes\n";
  Rows rows{{"input", "nats", "p"}};
  for (const RankedInput& input : inputs.matter)
    rows.push_back({input.name, number(input.information), p_text(input.p_value)});
  if (!inputs.next.name.empty())
    rows.push_back({inputs.next.name + " (not significant)", number(inputs.next.information),
                    p_text(inputs.next.p_value)});
  text += table_text(rows, 1);
  return text + fitted(
                    "each value is beyond the inputs above it; p is that of the best of all "
                    "inputs that are left\n",
                    screen_columns);
}

}  // namespace

std::string run_analysis_text(const RunAnalysis& run) {
  // A formula can be longer than a screen is wide.
  constexpr std::size_t longest = 40;
  const bool is_long = run.problem.size() > longest;
  std::string text =
      fmt::format("{} on {}", run.schedule,
                  is_long ? clean(run.problem.substr(0, longest - 3)) + "..." : run.problem);
  if (run.sweeps > 0) text += fmt::format(", after {} sweeps", run.sweeps);
  text += run.under_way ? ", in progress\n" : "\n";
  if (run.ladder) text += ladder_text(*run.ladder, run);
  if (run.clones) text += clones_text(*run.clones, run.replicas);
  if (run.inputs) text += inputs_text(*run.inputs);
  for (const std::string& note : run.notes)
    text += "\n" + fitted("note: " + note + "\n", screen_columns);
  return text + advice_text(run.advice);
}

}  // namespace kiln::cli
