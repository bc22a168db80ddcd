// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run of population annealing tells about itself: the free energy with its error, and
// whether its populations were large enough for it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kiln/result.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/population_annealing.hpp"

#include "shared/ended_by_value.hpp"
#include "shared/uniform_distribution.hpp"

namespace kiln {
namespace {

// Families must be many: published work asks for rho_t below a hundredth of the replicas.
constexpr double trusted_share = 0.01;
// From here on the scatter of independent estimates tells their error.
constexpr std::size_t enough_estimates = 8;

// Families that tell less than this share of what weights do have hardly been made unequal.
constexpr double min_share = 0.5;

// What populations found at one temperature, energies in the user's units.
struct Findings {
  double beta = 0;
  std::vector<double> log_z;       // of each, less that at beta_min over states of finite energy
  std::vector<double> log_finite;  // of each, the share of these states
  double mean = 0, steps = 0, families = 0;
  double rho = 0;       // R times the sum of the squares of the families' shares
  double entropy = 0;   // of the families' shares
  double rounding = 0;  // what of rho is from rounding copies to whole numbers
  double spread = 0;    // sum over steps of the relative variance of the weights
};

// log mean exp, since each population gives an unbiased estimate of Z; `left_out`: not counted.
double log_mean(const std::vector<double>& logs, std::size_t left_out) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (i != left_out) most = std::max(most, logs[i]);
  }
  if (!std::isfinite(most)) return most;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (i != left_out) sum += std::exp(logs[i] - most);
  }
  return most + std::log(sum / static_cast<double>(logs.size() - (left_out < logs.size() ? 1 : 0)));
}

// The variance of log Z that a population tells by itself, times R. Families are of R different
// sizes only because weights differ, which is what Z fluctuates by, and because copies are whole
// numbers, which it does not. At the start, where Z is known, rho_t is 1. Where hardly a replica
// is copied, families tell nothing: the weights of the steps do, as if replicas forgot between.
// Source: Lee, Whiteley, Biometrika 105 (2018) 609, whose multinomial copies have a variance of 1.
double told_by_population(const Findings& found) {
  const double from_families = found.rho - 1 - found.rounding;
  return from_families < min_share * found.spread ? found.spread : from_families;
}

// The standard error of a mean over the mean, for estimates most of which are 0.
double relative_error(const std::vector<double>& logs) {
  const double most = log_mean(logs, logs.size()), n = static_cast<double>(logs.size());
  double squares = 0;
  for (const double log : logs) squares += (std::exp(log - most) - 1) * (std::exp(log - most) - 1);
  return std::sqrt(squares / (n * (n - 1)));
}

// The jackknife over populations; of a single one, what it tells by itself.
double error_of_log_z(const Findings& found, double replicas) {
  const std::size_t n = found.log_z.size();
  const double told = std::sqrt(told_by_population(found) / (replicas * static_cast<double>(n)));
  if (n < 2) return told;
  std::vector<double> without;
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    without.push_back(log_mean(found.log_z, i));
    mean += without.back() / static_cast<double>(n);
  }
  for (const double x : without) squares += (x - mean) * (x - mean);
  double jackknife = std::sqrt(squares * static_cast<double>(n - 1) / static_cast<double>(n));
  if (!std::isfinite(jackknife)) jackknife = relative_error(found.log_z);
  // Few estimates may agree by chance: two do so to a tenth of their error in one run of fifteen.
  return n < enough_estimates ? std::max(jackknife, told) : jackknife;
}

void add(Findings& all, const PopulationEnd& end, double replicas, const Affine& energy) {
  all.log_z.push_back(end.log_z);
  all.log_finite.push_back(end.log_finite);
  all.mean += energy(end.mean);
  all.steps += static_cast<double>(end.steps);
  all.families += static_cast<double>(end.totals.families);
  all.rho += static_cast<double>(end.totals.family_squares) / replicas;
  all.rounding += static_cast<double>(end.totals.rounding) * 0x1p-20 / replicas;
  all.spread += static_cast<double>(end.totals.spread) * 0x1p-26 / replicas;
  const double logs = static_cast<double>(end.totals.family_logs) * 0x1p-20;
  all.entropy += std::log(replicas) - logs / replicas;
}

void average(Findings& all) {
  const double n = static_cast<double>(all.log_z.size());
  for (double* sum :
       {&all.mean, &all.steps, &all.families, &all.rho, &all.entropy, &all.rounding, &all.spread}) {
    *sum /= n;
  }
}

Findings of_complete_rounds(const std::vector<Population>& populations,
                            const std::vector<PopulationEnd>& ends, double beta, double replicas,
                            const Affine& energy) {
  Findings all;
  all.beta = beta;
  for (std::size_t g = 0; g < populations.size(); ++g) {
    const std::int64_t kept = std::min(populations[g].rounds, PopulationStep::kept_ends);
    for (std::int64_t i = 0; i < kept; ++i) {
      const auto first = static_cast<std::int64_t>(g) * PopulationStep::kept_ends;
      add(all, ends[static_cast<std::size_t>(first + i)], replicas, energy);
    }
  }
  if (!all.log_z.empty()) average(all);
  return all;
}

// Where no round is complete: how far the first population has got.
Findings of_first(const Population& p, const ResampleTotals& totals, double replicas,
                  const Affine& energy) {
  Findings one;
  one.beta = p.beta;
  add(one, {p.log_z, p.log_finite, p.mean, p.lowest, p.steps, totals}, replicas, energy);
  return one;
}

void advise(Result& result, const Findings& found, bool complete, double replicas,
            const PopulationAnnealingOptions& options) {
  if (!complete) {
    result.advice.push_back(
        fmt::format("The run ended at beta {:.4g}, before beta_max = {:.4g}: give the run more "
                    "sweeps or more time, or use fewer sweeps_per_step.",
                    found.beta, options.beta_max));
  }
  if (found.steps > 0 && found.rho > trusted_share * replicas) {
    result.advice.push_back(fmt::format(
        "There are too few families for reliable averages and log Z: rho_t is {:.3g}, "
        "and should be below 1 % of the {:.0f} replicas. Use {:.0f} replicas or more{}.",
        found.rho, replicas, std::ceil(found.rho / trusted_share),
        trusted_share * replicas > 1 ? ", or more sweeps_per_step" : ""));
  }
}

// Steps that follow the replicas bias log Z by about half of 1 / replicas, whatever the number of
// rounds, which all share it.
void advise_on_steps(Result& result, const Findings& found, double all_replicas, double error) {
  if (found.steps < 1 || found.log_z.size() < 2 || 1 / all_replicas < error) return;
  result.advice.push_back(fmt::format(
      "log Z can have a bias of {:.2g}, which its error does not include: only {:.0f} replicas "
      "determined the temperature steps. More rounds do not correct the bias. Use more replicas.",
      0.5 / all_replicas, all_replicas));
}

void leave_out_blind_rounds(std::vector<double>& log_z) {
  const auto is_known = [](double x) { return std::isfinite(x); };
  if (std::ranges::any_of(log_z, is_known)) std::erase_if(log_z, std::not_fn(is_known));
}

// Where the run was to tell Z and could not begin with the uniform law.
void advise_on_difference(Result& result, bool given) {
  result.advice.push_back(fmt::format(
      "{}: log Z is the difference from log Z at beta_min. The difference is correct only if the "
      "sweeps equilibrated the replicas at beta_min.",
      given ? "The run began in given initial states"
            : "No state drawn at the start has a finite energy"));
}

}  // namespace

void PopulationAnnealing::report(ReportContext& run, Result& result) {
  const Affine energy = run.problem().units.energy_of_stored;
  const double replicas = static_cast<double>(run.batch().group_size());
  const std::vector<Population> populations = run.read(populations_);
  Findings found =
      of_complete_rounds(populations, run.read(ends_), resolved_.beta_max, replicas, energy);
  const bool complete = !found.log_z.empty();
  if (!complete) {
    found = of_first(populations.front(), run.read(totals_).front(), replicas, energy);
  }
  // Z itself is known from the uniform law on. The device leaves the offset of the energies out.
  const bool any_finite = std::any_of(found.log_finite.begin(), found.log_finite.end(),
                                      [](double x) { return std::isfinite(x); });
  const bool from_zero = resolved_.beta_min == 0;
  const bool absolute = from_zero && run.given_states() == 0 && any_finite;
  for (std::size_t i = 0; absolute && i < found.log_z.size(); ++i) {
    found.log_z[i] += found.log_finite[i];
  }
  // A round that saw no state of finite energy tells nothing of a difference over these.
  if (!absolute) leave_out_blind_rounds(found.log_z);
  const double known = absolute ? log_of_states(run.batch().space()) : 0;
  const auto log_z_at = [&](double log_z, double beta) {
    return known + log_z - (beta - resolved_.beta_min) * energy(0);
  };
  const double log_z = log_z_at(log_mean(found.log_z, found.log_z.size()), found.beta);

  auto& numbers = result.diagnostics;
  double rounds = 0;
  for (const Population& p : populations) rounds += static_cast<double>(p.rounds);
  numbers["populations"] = static_cast<double>(populations.size());
  numbers["rounds"] = rounds;
  numbers["steps"] = found.steps;
  numbers["beta"] = found.beta;
  numbers["mean_energy"] = found.mean;
  numbers["families"] = found.families;
  numbers["family_entropy"] = found.entropy;
  numbers["rho_t"] = found.rho;
  numbers[absolute ? "log_z" : "log_z_difference"] = log_z;
  numbers["log_z_error"] = error_of_log_z(found, replicas);
  if (absolute && found.beta > 0) numbers["free_energy"] = -log_z / found.beta;

  // The records are of the last round of the first population, and so is its share.
  const double finite = absolute ? populations.front().log_finite : 0;
  const std::vector<PopulationRecord> records = run.read(records_);
  const std::int64_t n = run.read(history_).front().size;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const PopulationRecord& record = records[i];
    result.series["beta"].push_back(record.beta);
    result.series["energy"].push_back(energy(record.mean));
    result.series["log_z"].push_back(log_z_at(record.log_z + finite, record.beta));
    result.series["families"].push_back(static_cast<double>(record.families));
    result.series["rho_t"].push_back(static_cast<double>(record.family_squares) / replicas);
  }
  if (ended_by_value(run.problem(), result)) return;
  advise(result, found, complete, replicas, resolved_);
  advise_on_steps(result, found, replicas * static_cast<double>(populations.size()),
                  numbers["log_z_error"]);
  if (from_zero && !absolute) advise_on_difference(result, run.given_states() > 0);
}

}  // namespace kiln
