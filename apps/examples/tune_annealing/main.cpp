// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Kiln tunes Kiln: Bayesian optimisation of the temperatures of simulated annealing, so that short
// anneals of a Max-Cut give large cuts.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <kiln/kiln.hpp>
#include <span>
#include <vector>

namespace {

/// The mean cut of some short anneals, one replica each.
double mean_cut(const kiln::Problem& problem, const kiln::SimulatedAnnealingOptions& options,
                std::uint64_t first_seed, int anneals) {
  double sum = 0;
  for (int i = 0; i < anneals; ++i) {
    kiln::SimulatedAnnealing annealing(options);
    kiln::Engine engine({.device = "cpu",
                         .threads = 1,
                         .replicas = 1,
                         .seed = first_seed + static_cast<std::uint64_t>(i)});
    sum += engine.run(problem, annealing, {.sweeps = 60}).objective;
  }
  return sum / anneals;
}

// The hottest and the coldest temperature, as inverse ones in powers of ten, and how they are
// passed through.
kiln::SimulatedAnnealingOptions options_of(int cooling, double cold, double hot) {
  kiln::SimulatedAnnealingOptions options;
  if (cooling == 0) {
    options.cooling = kiln::LinearCooling{};
  } else {
    options.cooling = kiln::GeometricCooling{};
  }
  options.beta_max = std::pow(10.0, cold);
  options.beta_min = std::pow(10.0, cold + hot);
  options.polish_sweeps = 0;  // no descent at the end: the temperatures alone decide
  return options;
}

kiln::Problem tuning_problem(const kiln::Problem& cut) {
  const kiln::Space space({{kiln::BlockKind::category, 1, 0, 1},
                           {kiln::BlockKind::real, 1, -1.5, 1.5},
                           {kiln::BlockKind::real, 1, -3, -0.1}});
  kiln::Problem problem = kiln::make_problem(
      kiln::make_host_objective("temperatures", space, [&cut](kiln::StateSpan state) {
        const auto cooling = std::get<std::span<const std::int32_t>>(state[0])[0];
        const double cold = std::get<std::span<const double>>(state[1])[0];
        const double hot = std::get<std::span<const double>>(state[2])[0];
        return -mean_cut(cut, options_of(cooling, cold, hot), 1, 4);
      }));
  problem.coordinates = {{"cooling", true, {}}, {"coldest", false, {}}, {"hottest", false, {}}};
  return problem;
}

}  // namespace

int main() {
  try {
    const kiln::Problem cut = kiln::make_maxcut(kiln::problems::torus_pm1(20, 20, 1), "torus");
    const kiln::Problem problem = tuning_problem(cut);
    kiln::BayesianOptimizationOptions options;
    options.evaluations = 30;
    kiln::BayesianOptimization search(options);
    kiln::Engine engine({.device = "cpu", .seed = 1});
    const kiln::Result result = engine.run(problem, search, {});

    const auto cooling = std::get<std::vector<std::int32_t>>(result.solution[0])[0];
    const double cold = std::get<std::vector<double>>(result.solution[1])[0];
    const double hot = std::get<std::vector<double>>(result.solution[2])[0];
    // Fresh seeds: what was tuned must hold for others, too.
    const double tuned = mean_cut(cut, options_of(cooling, cold, hot), 1001, 20);
    const double guessed = mean_cut(cut, options_of(0, -0.5, -1), 1001, 20);
    std::printf("settings tried                  %zu\n", result.evaluations->all.size());
    std::printf("the best one, checked           %s\n", result.verified ? "yes" : "no");
    std::printf("coldest inverse temperature     %s\n", cold > 0 ? "above 1" : "below 1");
    std::printf("better than a guess             %s\n", tuned > guessed + 10 ? "yes" : "no");
    return result.verified ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
