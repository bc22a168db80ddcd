// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the diagnostics of a sampling run mean, in words.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "kiln/statistics/sample_summary.hpp"

#include "statistics/nested_choice.hpp"

namespace kiln {
namespace {

std::string share_of(std::int64_t part, double whole) {
  const double percent = whole > 0 ? 100 * static_cast<double>(part) / whole : 0;
  return percent < 0.1 ? "less than 0.1 %" : fmt::format("{:.1f} %", percent);
}

double transitions_of(const Sample& sample) {
  return static_cast<double>(sample.all_chains) * static_cast<double>(sample.all_draws);
}

// R-hat compares chains with each other: what all of them miss alike it cannot see.
bool misses_parts(const Sample& sample, const SampleSummary& summary) {
  const double most = divergence_limit * transitions_of(sample);
  return summary.e_bfmi < e_bfmi_of_missing_parts ||
         (sample.divergences > 0 && static_cast<double>(sample.divergences) >= most);
}

std::int64_t count_if(const SampleSummary& summary,
                      const std::function<bool(const QuantitySummary&)>& holds) {
  std::int64_t count = holds(summary.log_density) ? 1 : 0;
  for (const QuantitySummary& q : summary.quantities) count += holds(q) ? 1 : 0;
  return count;
}

std::string of_quantities(std::int64_t count, const SampleSummary& summary) {
  return fmt::format("{} of {} quantities", count, summary.quantities.size() + 1);
}

void on_values(const SampleSummary& summary, std::vector<std::string>& advice) {
  const std::int64_t broken =
      count_if(summary, [](const QuantitySummary& q) { return q.not_finite > 0; });
  if (broken == 0) return;
  advice.push_back(
      fmt::format("{} have NaN or infinite values, and the other advice does not cover these "
                  "quantities. Check how the problem computes the quantities.",
                  of_quantities(broken, summary)));
}

void on_divergences(const Sample& sample, std::vector<std::string>& advice) {
  if (sample.divergences == 0) return;
  const double all = transitions_of(sample);
  advice.push_back(fmt::format(
      "{} of {:.0f} transitions after warm-up diverged ({}). The steps are too long in "
      "regions where the density curves sharply, and the draws miss these regions. Raise "
      "the target acceptance; if divergences remain, reparameterise the model.",
      sample.divergences, all, share_of(sample.divergences, all)));
}

void on_r_hat(const Sample& sample, const SampleSummary& summary,
              std::vector<std::string>& advice) {
  const QuantitySummary* const worst = summary.worst_r_hat();
  if (worst == nullptr || !(worst->r_hat > r_hat_limit)) return;
  if (std::isinf(worst->r_hat)) {
    advice.push_back(
        fmt::format("R-hat of {} is infinite: the chains do not move. The step is too long, or the "
                    "chains started in a region where the density is numerically flat.",
                    worst->name));
    return;
  }
  const std::int64_t many =
      count_if(summary, [](const QuantitySummary& q) { return q.r_hat > r_hat_limit; });
  std::string text =
      fmt::format("R-hat is above {} for {}, and largest for {} ({:.3f}", r_hat_limit,
                  of_quantities(many, summary), worst->name, worst->r_hat);
  // Even chains in equilibrium have sqrt(1 + 1 / (effective draws of half a chain)).
  const double of_chain = worst->ess_bulk / static_cast<double>(sample.chains);
  const bool short_chains = of_chain < 100;
  const QuantitySummary* const nested = summary.worst_nested_r_hat();
  const bool groups_agree = nested != nullptr && nested->nested_r_hat <= r_hat_limit;
  if (short_chains && groups_agree) {
    text += fmt::format("): a single chain has only about {:.1f} effective draws of this quantity.",
                        of_chain);
  } else if (short_chains) {
    text += fmt::format(
        "): the chains do not agree yet. A chain has about {:.1f} effective draws of this "
        "quantity; R-hat needs about 100 to fall below the limit. Draw more from each chain.",
        of_chain);
  } else {
    text +=
        "): the chains do not agree yet. Make the warm-up and the chains longer, and check for "
        "several modes.";
  }
  if (groups_agree) {
    text += fmt::format(" Nested R-hat is at most {:.3f}, {}.", nested->nested_r_hat,
                        misses_parts(sample, summary)
                            ? "but it cannot show regions that all chains miss"
                            : "and means over all chains are reliable");
  }
  advice.push_back(std::move(text));
}

void on_nested_r_hat(const Sample& sample, const SampleSummary& summary,
                     std::vector<std::string>& advice) {
  const QuantitySummary* const worst = summary.worst_nested_r_hat();
  if (worst == nullptr || !(worst->nested_r_hat > r_hat_limit)) return;
  const std::int64_t many =
      count_if(summary, [](const QuantitySummary& q) { return q.nested_r_hat > r_hat_limit; });
  // Even in equilibrium it is sqrt(1 + 1 / (effective draws of a group)).
  advice.push_back(fmt::format(
      "Nested R-hat is above {} for {}, and largest for {} ({:.3f}). The super-chains "
      "of {} chains still depend on their starting points, or each super-chain has fewer "
      "than 50 effective draws. Make the warm-up longer, draw more, and check for "
      "several modes.",
      r_hat_limit, of_quantities(many, summary), worst->name, worst->nested_r_hat,
      sample.chains / sample.super_chains));
}

void on_kept_chains(const Sample& sample, std::vector<std::string>& advice) {
  const std::int64_t groups = sample.super_chains;
  if (groups < 2 || has_nested(groups, sample.chains)) return;
  advice.push_back(
      fmt::format("Only {} of the {} chains are kept, and one of each of the {} super-chains is "
                  "needed for nested R-hat: R-hat alone compares the chains. Keep {} chains or "
                  "more.",
                  sample.chains, sample.all_chains, groups, groups));
}

void on_effective_draws(const Sample& sample, const SampleSummary& summary,
                        std::vector<std::string>& advice) {
  const double least = min_effective_draws(sample.chains);
  const QuantitySummary* const bulk = summary.min_bulk();
  const QuantitySummary* const tail = summary.min_tail();
  const bool bulk_low = bulk != nullptr && bulk->ess_bulk < least;
  const bool tail_low = tail != nullptr && tail->ess_tail < least;
  if (!bulk_low && !tail_low) return;
  const QuantitySummary& worst = bulk_low ? *bulk : *tail;
  const double ess = bulk_low ? worst.ess_bulk : worst.ess_tail;
  std::string text = fmt::format(
      "Only {:.0f} of the {} kept draws of {} are effective {}. Error estimates are unreliable "
      "below {:.0f} effective draws. Increase the number of draws by a factor of {:.0f}",
      ess, sample.chains * sample.draws, worst.name, bulk_low ? "for its mean" : "in its tails",
      least, std::ceil(least / ess));
  if (sample.chains < sample.all_chains) text += ", or keep more chains";
  advice.push_back(text + ".");
}

void on_energies(const Sample& sample, const SampleSummary& summary,
                 std::vector<std::string>& advice) {
  // Of short chains the worst is low by chance.
  const bool long_chains = sample.draws >= 100;
  const bool low = summary.e_bfmi < e_bfmi_limit || (long_chains && summary.e_bfmi_low > 0);
  if (!low) return;
  advice.push_back(fmt::format(
      "E-BFMI is {:.2f} over all chains and {:.2f} in the worst chain. E-BFMI is below {} in {} of "
      "{} chains: the energy changes slowly, and the chains rarely reach the tails. Reparameterise "
      "the model, above all the scales of hierarchies, or draw more.",
      summary.e_bfmi, summary.e_bfmi_min, e_bfmi_limit, summary.e_bfmi_low, sample.chains));
}

void on_missing_parts(const Sample& sample, const SampleSummary& summary,
                      std::vector<std::string>& advice) {
  if (!misses_parts(sample, summary)) return;
  advice.push_back(fmt::format(
      "The draws miss parts of the density: {} of the transitions diverged, and E-BFMI "
      "is {:.2f}. All chains miss the same parts, and R-hat cannot show this. Means may be wrong "
      "by more than their errors. Reparameterise the model, or use a tempering ladder with more "
      "rungs.",
      sample.divergences == 0 ? "none" : share_of(sample.divergences, transitions_of(sample)),
      summary.e_bfmi));
}

void on_trajectories(const Sample& sample, const SampleSummary& summary,
                     std::vector<std::string>& advice) {
  const double kept = static_cast<double>(sample.chains * sample.draws);
  if (summary.depth_hits > 0) {
    advice.push_back(
        fmt::format("{} of {:.0f} kept transitions ({}), in {} of {} chains, reached the maximum "
                    "tree depth {}. Kiln cut these trajectories off, and the chains move slowly. "
                    "Raise the maximum depth, or warm up longer for a better metric.",
                    summary.depth_hits, kept, share_of(summary.depth_hits, kept),
                    summary.depth_hit_chains, sample.chains, sample.max_depth));
  }
  if (sample.step_size > 0 && sample.step_size < small_step) {
    advice.push_back(
        fmt::format("The step size is {:.2g} in units of the metric: in some direction the density "
                    "is much narrower than in the metric. Warm up longer, use a dense metric, or "
                    "reparameterise the model.",
                    sample.step_size));
  }
}

}  // namespace

std::vector<std::string> advice_on(const Sample& sample, const SampleSummary& summary) {
  std::vector<std::string> advice;
  if (sample.chains * sample.draws == 0) {
    advice.push_back(
        "The run kept no draws: it ended during its warm-up. Give the run more time, or a shorter "
        "warm-up.");
    return advice;
  }
  on_values(summary, advice);
  on_divergences(sample, advice);
  on_r_hat(sample, summary, advice);
  on_nested_r_hat(sample, summary, advice);
  on_kept_chains(sample, advice);
  on_effective_draws(sample, summary, advice);
  on_energies(sample, summary, advice);
  on_missing_parts(sample, summary, advice);
  on_trajectories(sample, summary, advice);
  if (sample.all_chains == 1) {
    advice.push_back(
        "A single chain cannot show that it missed parts of the density: R-hat compares only its "
        "two halves. Run four or more chains.");
  }
  return advice;
}

}  // namespace kiln
