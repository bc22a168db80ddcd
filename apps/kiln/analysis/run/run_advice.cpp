// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/run/run_analysis.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t max_named = 4;

/// "1, 2 and 3", or with many "1, 2, 3, 4 and 7 more".
template <class Items>
std::string list_of(const Items& items) {
  std::string list;
  const std::size_t named = items.size() > max_named + 1 ? max_named : items.size();
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

/// Why energies that were recorded too rarely show nothing, and what would.
std::string rare_records(const LadderAnalysis& ladder, const Recording& recording) {
  const std::string why = fmt::format(
      "No flow between rungs shows: energies forget their past from one epoch to the next, {} "
      "sweeps later",
      ladder.sweeps_apart);
  if (ladder.is_thinned) return fmt::format("{}; {}.", why, budget_advice(recording));
  if (ladder.sweeps_apart <= recording.sweeps_per_tick) {
    return why + ", which is one tick. Exchange more often (-p sweeps_per_swap=N).";
  }
  return fmt::format("{}. Record more often, with --telemetry-interval {}.", why,
                     std::max(recording.sweeps_per_tick, ladder.sweeps_apart / 16));
}

/// Epochs with which weak flows through all gaps would have a normal score of 4: of as many epochs
/// as there are the score is the sum of flow / deviation over the square root of the links.
std::int64_t epochs_for_flow(const LadderAnalysis& ladder) {
  constexpr double weak_flow = 0.002, score = 4;  // nats
  double sum = 0, links = 0;
  for (const auto* const direction : {&ladder.up, &ladder.down}) {
    for (const InformationLink& link : *direction) {
      const double deviation = link.estimate.surrogate_deviation;
      if (!(deviation > 0)) continue;
      sum += weak_flow / deviation;
      ++links;
    }
  }
  // At least twice as many: these were too few.
  const double longer = links == 0 ? 2 : std::max(2.0, score * score * links / (sum * sum));
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(ladder.epochs) * longer));
}

/// A test that is not significant proves nothing: swaps tell whether replicas are exchanged.
std::string no_flow(const LadderAnalysis& ladder, const Exchange& exchange) {
  const std::string start = fmt::format("No flow between rungs shows in {} epochs", ladder.epochs);
  if (exchange.works()) {
    const std::int64_t epochs = epochs_for_flow(ladder);
    return fmt::format(
        "{}, which are too few: replicas are exchanged, with a swap acceptance of {:.2f} or more "
        "at each gap and {:.0f} round trips. Flow of 0.002 nats at every gap takes about {} "
        "epochs after the burn-in, and kiln analyze --rows {}.",
        start, *exchange.min_acceptance, exchange.round_trips, epochs, epochs * ladder.ladders);
  }
  if (!exchange.min_acceptance) {
    return start +
           ". The acceptance of swaps, which the result of the run will have, tells "
           "whether replicas are exchanged.";
  }
  return fmt::format(
      "{}, and replicas are exchanged too rarely, with a swap acceptance of {:.2g} at the worst "
      "gap and {:.0f} round trips. Put the rungs closer together (-p rungs=N), or exchange more "
      "often (-p sweeps_per_swap=N).",
      start, *exchange.min_acceptance, exchange.round_trips);
}

void advise_on_flow(const RunAnalysis& run, std::vector<std::string>& advice) {
  constexpr double level = 0.05;
  const LadderAnalysis& ladder = *run.ladder;
  if (run.exchange.is_off) {
    advice.emplace_back(
        "Exchange is off (cadence=stochastic with swap_probability=0): no information can flow "
        "between rungs. Without these parameters replicas are exchanged.");
    return;
  }
  if (ladder.significant_links() == 0) {
    if (ladder.p_value <= level) return;
    // Uncorrelated energies have an autocorrelation time of one epoch.
    const bool forgets = longest_memory(ladder) < 1.5 * static_cast<double>(ladder.sweeps_apart);
    advice.push_back(forgets && ladder.sweeps_apart > 1 ? rare_records(ladder, run.recording)
                                                        : no_flow(ladder, run.exchange));
    return;
  }
  // Swaps that are accepted pass a gap, whether or not flow stands out there.
  if (run.exchange.works()) return;
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
  // Epochs at the start of a run do not tell how long the run is.
  if (ladder.is_early) return;
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
  if (inputs.used < min_rows || inputs.inputs < 2 || inputs.value_is_constant) return;
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

std::string budget_advice(const Recording& recording) {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  return fmt::format(
      "later epochs are thinned to fit --telemetry-budget: record with --telemetry-budget {}Mi, or "
      "with fewer replicas",
      (recording.enough_bytes + mebibyte - 1) / mebibyte);
}

std::vector<std::string> advice_of(const RunAnalysis& run) {
  std::vector<std::string> advice;
  if (run.ladder) {
    advise_on_flow(run, advice);
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
