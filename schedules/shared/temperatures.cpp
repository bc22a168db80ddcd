// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "temperatures.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <vector>

#include "kiln/device/exact_math.hpp"
#include "kiln/objectives/ladder_end.hpp"

namespace kiln {
namespace {

// Where nothing is known of the energies in advance, their spread over random states sets the
// scale: hot is where that spread is accepted freely, cold a millionth of that temperature.
Objective::BetaRange range_from_states(RunContext& run) {
  std::vector<double> energies = run.batch().read_energies(false);
  energies.resize(static_cast<std::size_t>(run.batch().replicas()));
  std::erase_if(energies, [](double e) { return !std::isfinite(e); });
  double mean = 0, spread = 0;
  for (const double e : energies) mean += e / static_cast<double>(energies.size());
  for (const double e : energies) spread += (e - mean) * (e - mean);
  if (energies.size() > 1) spread = std::sqrt(spread / static_cast<double>(energies.size() - 1));
  if (!(spread > 0)) spread = 1;
  return {1 / spread, 1e6 / spread};
}

// A density of d coordinates counts as about normal: its energy at beta is gamma distributed with
// the shape d / 2, so that a ladder from beta to 1 has a barrier of sqrt(d / 2 pi) log(1 / beta).
// Rungs carry half of one less than they are. Hotter still there may be no law: tails of densities
// are often heavier.
double hottest_over_density(std::int64_t coordinates, std::int64_t rungs) {
  constexpr double least = 0.01;
  const double carried = 0.5 * static_cast<double>(rungs - 1);
  const double per_factor = static_cast<double>(coordinates) / (2 * std::numbers::pi);
  return std::max(least, exact::exp(-carried / exact::sqrt(per_factor)));
}

// Of few ladders the colder rungs search on where the others have stopped: 4 ladders need twice the
// sweeps for G22 without them.
constexpr std::int64_t many_ladders = 32;

}  // namespace

Objective::BetaRange beta_range_of(RunContext& run) {
  Objective::BetaRange range = run.problem().objective->beta_range();
  if (!(range.cold > 0)) range = range_from_states(run);
  const double per_energy = 1 / run.inverse_scale();  // stored units per unit of energy
  return {range.hot * per_energy, range.cold * per_energy};
}

void settle_ladder_ends(RunContext& run, std::int64_t ladders, std::int64_t rungs, double& beta_min,
                        double& beta_max) {
  Objective::BetaRange range = beta_range_of(run);
  const auto* const ends = run.problem().objective->as<EndsLadders>();
  const bool many = ladders >= many_ladders;
  if (ends != nullptr && many) range.cold = ends->ladder_end() / run.inverse_scale();
  if (run.problem().posterior) {
    const bool known = run.problem().objective->beta_range().cold > 0;
    if (!known) range.hot = hottest_over_density(run.batch().space().variables(), rungs);
    range.cold = 1;
  }
  if (beta_max == 0) beta_max = std::max(range.cold, beta_min);
  if (beta_min == 0) beta_min = std::min(range.hot, beta_max);
}

bool can_descend(const Problem& problem) {
  return problem.objective->execution().pace != Pace::host;
}

void prepare_descent(AllocateContext& run) {
  if (auto* const descends = run.objective().as<Descends>()) descends->prepare_descent(run.queue());
}

void descend_by_gradient(WorkContext& run, const DescentArgs& args) {
  if (auto* const descends = run.objective().as<Descends>()) descends->descend(args, run.queue());
}

void descend_to_minimum(DescendContext& run, View1<const double> cold,
                        std::uint32_t sweeps_per_tick) {
  // On large models even one sweep takes long, and the user waits: then few must do.
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::milliseconds patience{200};
  const std::uint32_t sweeps = std::max(1u, sweeps_per_tick);
  for (std::int64_t done = 0; done < descent_sweeps; done += sweeps) {
    if (std::chrono::steady_clock::now() - begin > patience) return;
    for (std::uint32_t s = 0; s < sweeps; ++s) run.sweep(cold, s, s + 1 == sweeps);
    descend_by_gradient(run, {run.batch(), cold, {}, run.control(), sweeps - 1});
    run.track_best();
    sweeps_per_tick > 0 ? run.end_tick() : run.end_tick_of_no_steps();
  }
}

}  // namespace kiln
