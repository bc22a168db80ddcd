// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/forecast/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>

#include "kiln/run.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace {

constexpr std::int64_t replicas = 4, epochs = 64;
constexpr std::array<std::int64_t, 3> budgets{384, 448, 512};

// Draws that are the same with every standard library.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : words_(seed) {}
  /// A whole number from `low` to `high`.
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(words_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(words_() >> 11) * 0x1p-53;
  }

 private:
  std::mt19937_64 words_;
};

std::string max_cut_instance(Draws& draws, std::uint64_t seed) {
  switch (draws.whole(0, 2)) {
    case 0: {
      const std::int64_t n = draws.whole(200, 800), degree = draws.whole(4, 20);
      return fmt::format("random:{},{:.3f},{}", n,
                         100.0 * static_cast<double>(degree) / static_cast<double>(n), seed);
    }
    case 1:
      return fmt::format("random:{},{},{}", draws.whole(100, 300), draws.whole(30, 90), seed);
    default:
      return fmt::format("torus:{}x{},{}", draws.whole(14, 34), draws.whole(14, 34), seed);
  }
}

std::string qubo_instance(Draws& draws, std::uint64_t seed) {
  return fmt::format("palubeckis:{},{},{}", draws.whole(120, 360), draws.whole(5, 50), seed + 1);
}

std::string potts_instance(Draws& draws, std::uint64_t seed) {
  return fmt::format("potts:{}x{},{},{}", draws.whole(8, 20), draws.whole(8, 20), draws.whole(3, 8),
                     seed);
}

std::string function_instance(Draws& draws, std::uint64_t) {
  constexpr std::array<const char*, 7> names{
      "ackley", "griewank", "levy", "rastrigin", "rosenbrock", "sphere", "styblinski-tang"};
  const char* const name = names[static_cast<std::size_t>(draws.whole(0, 6))];
  const std::int64_t dimension = draws.whole(3, 20);
  return fmt::format("function:{}-{},{:.3f},{:.3f}", name, dimension, draws.real(-10, -4),
                     draws.real(4, 10));
}

// The record of each epoch of an annealing run with a short budget.
template <std::string (*Instance)(Draws&, std::uint64_t)>
RunCurve anneal(const BenchRun& run, std::uint64_t seed) {
  Draws draws(seed);
  const Problem problem = make_instance(Instance(draws, seed));
  const std::int64_t drawn = budgets[static_cast<std::size_t>(draws.whole(0, 2))];
  const std::int64_t sweeps = run.options.sweeps.value_or(drawn);
  RunCurve curve;
  RunOptions options = run_options(run, replicas);
  options.seed = seed;
  options.telemetry.level = TelemetryLevel::summary;
  options.telemetry.interval =
      static_cast<std::int32_t>(std::max<std::int64_t>(1, sweeps / epochs));
  options.telemetry.take = [&](std::span<const TelemetryRecord> records) {
    for (const TelemetryRecord& record : records) curve.add(point_of(record));
  };
  SimulatedAnnealing schedule;
  Run one(problem, schedule, {.sweeps = sweeps}, options, run.backend);
  require_verified(one.advance());
  return curve;
}

RunCurve train(const BenchRun&, std::uint64_t seed) { return learning_curve(seed); }

}  // namespace

const std::vector<ForecastFamily>& forecast_families() {
  static const std::vector<ForecastFamily> all{{"maxcut", anneal<max_cut_instance>},
                                               {"qubo", anneal<qubo_instance>},
                                               {"potts", anneal<potts_instance>},
                                               {"functions", anneal<function_instance>},
                                               {"learning curves", train}};
  return all;
}

}  // namespace kiln::cli
