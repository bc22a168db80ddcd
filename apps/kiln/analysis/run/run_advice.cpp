// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/run/run_analysis.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t most_named = 4;

/// "1, 2 and 3", or with many "1, 2, 3, 4 and 7 more".
template <class Items>
std::string list_of(const Items& items) {
  std::string list;
  const std::size_t named = items.size() > most_named + 1 ? most_named : items.size();
  for (std::size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == items.size() && i > 0;
    list += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", items[i]);
  }
  if (named < items.size()) list += fmt::format(" and {} more", items.size() - named);
  return list;
}

double longest_memory(const LadderAnalysis& ladder) {
  double longest = 0;
  for (const RungMemory& rung : ladder.memory) longest = std::max(longest, rung.sweeps);
  return longest;
}

void advise_on_flow(const LadderAnalysis& ladder, std::vector<std::string>& advice) {
  constexpr double level = 0.05;
  if (ladder.significant_links() == 0 && ladder.p_value <= level) return;
  if (ladder.significant_links() == 0) {
    const double memory = longest_memory(ladder);
    // Uncorrelated energies have an autocorrelation time of one epoch.
    const bool forgets = memory < 1.5 * static_cast<double>(ladder.sweeps_apart);
    if (forgets && ladder.sweeps_apart > 1) {
      advice.push_back(fmt::format(
          "No flow between rungs shows: energies forget their past from one epoch to the next, {} "
          "sweeps later. Record more often, with --telemetry-interval {}.",
          ladder.sweeps_apart, std::max<std::int64_t>(1, ladder.sweeps_apart / 16)));
    } else {
      advice.emplace_back(
          "No information flows between neighbouring rungs: replicas are not exchanged, or too "
          "rarely. Put the rungs closer together (-p rungs=N), or exchange more often (-p "
          "sweeps_per_swap=N).");
    }
    return;
  }
  std::vector<std::string> cut;
  for (std::size_t gap = 0; gap < ladder.up.size(); ++gap) {
    if (ladder.up[gap].significant || ladder.down[gap].significant) continue;
    cut.push_back(fmt::format("{} - {}", gap, gap + 1));
  }
  // A few gaps among many that carry information; where most carry none, the series are too short.
  if (!cut.empty() && 2 * cut.size() <= ladder.up.size()) {
    advice.push_back(fmt::format(
        "No information passes the {} {} of the ladder: put more rungs there (-p ladder=adaptive, "
        "or -p rungs=N).",
        cut.size() == 1 ? "gap" : "gaps", list_of(cut)));
  }
}

void advise_on_memory(const LadderAnalysis& ladder, std::vector<std::string>& advice) {
  constexpr double enough = 50;
  const auto slowest = std::ranges::max_element(ladder.memory, {}, [](const RungMemory& rung) {
    return std::isfinite(rung.sweeps) ? rung.sweeps : 0.0;
  });
  const double sweeps = static_cast<double>(ladder.epochs * ladder.sweeps_apart);
  const double values = static_cast<double>(ladder.ladders) * sweeps / slowest->sweeps;
  if (!(values < enough)) return;
  advice.push_back(fmt::format(
      "Rung {} remembers its energy for {:.0f} sweeps, so that {:.0f} sweeps of {} {} have {:.0f} "
      "independent energies of it: run longer.",
      slowest - ladder.memory.begin(), slowest->sweeps, sweeps, ladder.ladders,
      ladder.ladders == 1 ? "ladder" : "ladders", std::max(1.0, values)));
}

void advise_on_inputs(const InputRanking& inputs, std::vector<std::string>& advice) {
  if (inputs.used < least_rows || inputs.inputs < 2 || inputs.value_is_constant) return;
  std::vector<std::string> names;
  for (const RankedInput& input : inputs.matter) names.push_back(input.name);
  if (names.empty()) {
    advice.push_back(
        fmt::format("No input says anything of the value in {} evaluations: evaluate more points.",
                    inputs.used));
  } else if (2 * names.size() <= static_cast<std::size_t>(inputs.inputs)) {
    advice.push_back(fmt::format(
        "Of {} inputs {} {}; the others say nothing more in {} evaluations. A search without them "
        "needs fewer evaluations.",
        inputs.inputs, list_of(names), names.size() == 1 ? "matters" : "matter", inputs.used));
  }
}

}  // namespace

std::vector<std::string> advice_of(const RunAnalysis& run) {
  std::vector<std::string> advice;
  if (run.ladder) {
    advise_on_flow(*run.ladder, advice);
    advise_on_memory(*run.ladder, advice);
  }
  for (const Clones& clones : run.clones.value_or(std::vector<Clones>{})) {
    advice.push_back(fmt::format(
        "Replicas {} are clones from sweep {} on: they have equal energies at all {} epochs since, "
        "and search as one replica does.",
        list_of(clones.replicas), clones.since_sweep, clones.epochs));
  }
  if (run.inputs) advise_on_inputs(*run.inputs, advice);
  return advice;
}

}  // namespace kiln::cli
