// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "experiments/evaluation_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

// At least 1.
std::int64_t count_in(const std::map<std::string, std::string>& parameters, const char* name) {
  std::int64_t count = 1;
  const auto found = parameters.find(name);
  if (found == parameters.end()) return count;
  const std::string& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return std::max<std::int64_t>(1, count);
}

// Of one study where `evaluations` end it; the last batch may be shorter.
void count_batches(const ScheduleEntry& entry, const std::map<std::string, std::string>& parameters,
                   EvaluationPlan& plan) {
  const std::int64_t evaluations = count_in(parameters, "evaluations");
  plan.batches = (evaluations + plan.batch - 1) / plan.batch;
  if (entry.several_objectives) return;  // batches are whole
  plan.last = evaluations - plan.batch * (*plan.batches - 1);
}

// "20 batches of 2", "4 batches of 4 and one of 1"
std::string batches_text(const EvaluationPlan& plan) {
  const std::int64_t whole = *plan.batches - (plan.last < plan.batch ? 1 : 0);
  const std::string all =
      whole == 0 ? "" : fmt::format("{} batch{} of {}", whole, whole == 1 ? "" : "es", plan.batch);
  if (whole == *plan.batches) return all;
  return fmt::format("{}one{} of {}", whole == 0 ? "" : all + " and ", whole == 0 ? " batch" : "",
                     plan.last);
}

std::string parts_of(const EvaluationPlan& plan) {
  if (plan.points > 0) {
    return plan.studies == 1
               ? fmt::format(" (every {})", plan.point)
               : fmt::format(" ({} studies, every {} each)", plan.studies, plan.point);
  }
  const bool batched = plan.batch > 1;
  const std::int64_t batches = *plan.batches;
  if (plan.studies == 1) return batched ? fmt::format(" ({})", batches_text(plan)) : "";
  if (!batched) return fmt::format(" ({} studies of {})", plan.studies, batches);
  return fmt::format(" ({} studies of {})", plan.studies, batches_text(plan));
}

/// How many points one study can evaluate; 0 where there is no end of them, or a very far one.
std::int64_t points_of(const Problem& problem) {
  if (problem.objectives) return 0;
  if (problem.experiment && problem.experiment->candidates) {
    return static_cast<std::int64_t>(problem.experiment->candidates->size());
  }
  constexpr double most = 1e9;
  double points = 1;
  for (const Block& block : problem.objective->space().blocks()) {
    if (block.kind == BlockKind::real || block.kind == BlockKind::permutation) return 0;
    for (std::int64_t i = 0; i < block.count && points <= most; ++i) {
      const Bounds bounds = block.bounds(i);
      points *= block.kind == BlockKind::spin ? 2 : bounds.upper - bounds.lower + 1;
    }
  }
  return points <= most ? static_cast<std::int64_t>(points) : 0;
}

}  // namespace

std::optional<std::int64_t> EvaluationPlan::total() const {
  if (!batches) return {};
  constexpr double most = 0x1p53;  // more are never made
  const double all =
      static_cast<double>(studies) * static_cast<double>(batch) * static_cast<double>(*batches);
  if (all > most) return static_cast<std::int64_t>(most);
  return studies * (points > 0 ? points : batch * (*batches - 1) + last);
}

namespace {

// As if there were points without end.
std::optional<EvaluationPlan> unbounded_plan(const CommandOptions& options,
                                             const ScheduleEntry& entry,
                                             const std::map<std::string, std::string>& parameters) {
  if (!entry.few_evaluations) return {};
  EvaluationPlan plan;
  plan.studies = count_in(parameters, "studies");
  plan.batch = count_in(parameters, "batch");
  plan.last = plan.batch;
  const Budget& budget = options.budget;
  if (!budget.has_limit() || options.counts_evaluations) {
    count_batches(entry, parameters, plan);
  } else {
    plan.batches = budget.sweeps;
  }
  if (budget.work_limit) {
    const std::int64_t batches =
        *budget.work_limit / std::max<std::int64_t>(1, plan.studies * plan.batch);
    if (batches < plan.batches.value_or(batches + 1)) {
      plan.batches = batches;
      plan.last = plan.batch;
    }
  }
  return plan;
}

}  // namespace

std::optional<EvaluationPlan> evaluation_plan(const CommandOptions& options,
                                              const ScheduleEntry& entry,
                                              const std::map<std::string, std::string>& parameters,
                                              const Problem& problem) {
  std::optional<EvaluationPlan> plan = unbounded_plan(options, entry, parameters);
  if (!plan || !plan->batches) return plan;
  // No point is evaluated twice: the search ends where none is left.
  const std::int64_t points = points_of(problem);
  if (points > 0 && *plan->total() >= plan->studies * points) {
    plan->batches = (points + plan->batch - 1) / plan->batch;
    plan->points = points;
    if (problem.experiment && problem.experiment->candidates) plan->point = "row";
  }
  return plan;
}

std::string stop_rule(const EvaluationPlan& plan, const CommandOptions& options) {
  std::vector<std::string> rules;
  if (plan.batches) {
    const std::int64_t total = *plan.total();
    rules.push_back(
        fmt::format("after {} evaluation{}{}", total, total == 1 ? "" : "s", parts_of(plan)));
  }
  if (options.budget.time_limit_s)
    rules.push_back(fmt::format("after {:g} s", *options.budget.time_limit_s));
  if (options.budget.stop_when) rules.push_back("when " + options.budget.stop_when->text());
  if (options.budget.target) {
    rules.push_back("at target " + human_value(*options.budget.target, false));
  }
  if (rules.empty()) return "at the end of the schedule";
  return fmt::format("{}", fmt::join(rules, " or "));
}

bool end_at_evaluations(CommandOptions& options, const ScheduleEntry& entry,
                        const std::map<std::string, std::string>& parameters) {
  CommandOptions without = options;
  without.budget.sweeps.reset();
  without.counts_evaluations = true;
  const auto batches = unbounded_plan(without, entry, parameters)->batches;
  if (options.budget.sweeps && batches && *options.budget.sweeps < *batches) return false;
  options.budget.sweeps = batches;
  options.counts_evaluations = true;
  return true;
}

std::string first_evaluation_text(const FirstEvaluation& first,
                                  const std::optional<EvaluationPlan>& plan, std::int64_t at_once) {
  std::string sentence = first.sentence + ", after " + human_seconds(first.seconds);
  if (plan && plan->batches) {
    const std::int64_t together = plan->studies * plan->batch;
    at_once = std::clamp<std::int64_t>(at_once, 1, together);
    const std::int64_t rounds = *plan->batches * ((together + at_once - 1) / at_once);
    sentence += fmt::format("; all {} calls, {} at the same time, take about {}", *plan->total(),
                            at_once, human_seconds(static_cast<double>(rounds) * first.seconds));
  }
  std::string text;
  const char* label = "note";
  for (const std::string& line : wrap(clean(sentence), prose_columns())) {
    text += fmt::format("{}{:13}{}", text.empty() ? "" : "\n", std::exchange(label, ""), line);
  }
  return text;
}

}  // namespace kiln::cli
