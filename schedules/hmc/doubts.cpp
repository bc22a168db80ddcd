// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/objectives/gradient_check.hpp"
#include "kiln/statistics/sample_summary.hpp"

namespace kiln::hmc {
namespace {

constexpr double energies_per_coordinate = 20;  // of check_gradient()
constexpr double max_energies = 20000;          // a second of a density that takes 50 us
constexpr std::int64_t places_in_trouble = 3;
// An error that draws can show. Where an energy bends or jumps, differences are off by a little.
constexpr double tolerance = 1e-3;
constexpr double low_acceptance = 0.4;  // the step size is adapted to 0.7 or 0.8

bool all_finite(const EnergyAndGradient& function, std::span<const double> x) {
  std::vector<double> gradient(x.size());
  const auto finite = [](double value) { return std::isfinite(value); };
  return finite(function(x, {})) && finite(function(x, gradient)) &&
         std::ranges::all_of(gradient, finite);
}

bool energies_differ(const GradientCheck& found) {
  const double size = std::max(1.0, std::abs(found.energy));
  return std::abs(found.energy - found.energy_with_gradient) > 1e-9 * size;
}

std::string sentence_of(const GradientCheck& found, std::int64_t chain) {
  if (energies_differ(found)) {
    return fmt::format(
        "At the position of chain {}, the energy of the density is {:.10g} when computed alone and "
        "{:.10g} when computed with the gradient. No draw can be trusted. Make the two energies "
        "equal; check_gradient() shows the details.",
        chain, found.energy, found.energy_with_gradient);
  }
  return fmt::format(
      "At the position of chain {}, the gradient at coordinate {} (counted from 0) is {:.6g}, but "
      "finite differences of the energy give {:.6g}. With a wrong gradient the chains hardly move. "
      "Correct the gradient; check_gradient() shows the details.",
      chain, found.coordinate, found.given, found.measured);
}

}  // namespace

bool shows_trouble(const Sample& sample) {
  const std::size_t n = sample.acceptance.size();
  if (n == 0) return false;
  double accepted = 0;
  for (const double one : sample.acceptance) accepted += one;
  const auto draws = static_cast<double>(n);
  const auto cut = std::ranges::count_if(
      sample.depth, [&](std::int32_t d) { return sample.max_depth > 0 && d >= sample.max_depth; });
  const double transitions = static_cast<double>(sample.all_chains * sample.all_draws);
  return accepted < low_acceptance * draws || sample.step_size < small_step ||
         static_cast<double>(sample.divergences) > 0.1 * transitions ||
         static_cast<double>(cut) > 0.5 * draws;
}

bool shows_trouble(const Work& work) {
  const double transitions = static_cast<double>(work.sweeps * work.replicas);
  return static_cast<double>(work.accepted) < low_acceptance * transitions;
}

std::string doubt_about_gradient(RunContext& run, bool trouble, double made) {
  const EnergyAndGradient function = run.problem().objective->gradient_reference();
  if (!function) return "";
  const auto dimension =
      static_cast<double>(run.problem().objective->space().blocks().front().count);
  const double each = energies_per_coordinate * dimension;
  const double allowed = trouble ? max_energies : std::min(max_energies, made / 100);
  const auto places = std::min(trouble ? places_in_trouble : 1,
                               static_cast<std::int64_t>(std::floor(allowed / each)));
  const std::int64_t chains = run.batch().replicas();
  for (std::int64_t i = 0; i < std::min(places, chains); ++i) {
    const std::int64_t chain = chains - 1 - i;
    const State state = run.batch().read_states({chain}, false).front();
    const auto& x = std::get<std::vector<double>>(state.front());
    if (!all_finite(function, x)) continue;
    const GradientCheck found = check_gradient(function, x);
    const bool wrong = found.resolution <= tolerance && found.error > tolerance;
    if (wrong || energies_differ(found)) return sentence_of(found, chain);
  }
  return "";
}

}  // namespace kiln::hmc
