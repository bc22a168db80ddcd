// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/errors.hpp"

#include "bench/bayes_cases.hpp"

namespace kiln::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Reals = std::vector<double>;

constexpr std::int64_t asked = 4;  // points of a batch
constexpr int rounds = 2;

/// Evaluations that are hard on a model, in the unit cube.
struct HardData {
  std::string name;
  std::int64_t evaluations = 0, cpu_evaluations = 0, dimension = 2;
  std::int64_t distinct = 0;  ///< points, which come again and again; 0: all
  double (*value)(const Reals& x, std::int64_t i) = nullptr;
};

double bowl(const Reals& x, std::int64_t) {
  double sum = 0;
  for (const double u : x) sum += (u - 0.3) * (u - 0.3);
  return sum;
}

double constant(const Reals&, std::int64_t) { return 3; }
double with_outlier(const Reals& x, std::int64_t i) { return i == 7 ? 1e12 : bowl(x, i); }
double with_failures(const Reals& x, std::int64_t i) {
  return i % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : bowl(x, i);
}

const std::vector<HardData>& all_data() {
  static const std::vector<HardData> all{
      {"hard: duplicated points", 40, 40, 3, 10, bowl},
      {"hard: constant values", 30, 30, 3, 0, constant},
      {"hard: one evaluation", 1, 1, 3, 0, bowl},
      {"hard: an outlier of 1e12", 30, 30, 3, 0, with_outlier},
      {"hard: a third failed", 30, 30, 3, 0, with_failures},
      {"hard: many points", 5000, 1000, 4, 0, bowl},
  };
  return all;
}

bool is_good(const State& state) {
  return std::ranges::all_of(std::get<Reals>(state.front()),
                             [](double u) { return u >= 0 && u <= 1; });
}

void try_to_ask(const BenchRun& run, const HardData& data, BayesRow& row) {
  BayesianOptimizationOptions options = bayes_options(run);
  options.initial = 1;
  options.batch = asked;
  BayesianOptimizer search({Space::reals(data.dimension, 0, 1)}, options, 1, device_of(run));
  for (std::int64_t i = 0; i < row.evaluations; ++i) {
    const std::int64_t place = data.distinct > 0 ? i % data.distinct : i;
    const DrawName name{8, static_cast<std::uint64_t>(place), 0, RngDomain::initial_state, 0};
    Reals x;
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(data.dimension); ++k) {
      x.push_back(open_unit(draw_word(name, k)));
    }
    search.add({x}, data.value(x, i));
  }
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    const std::vector<Suggestion> next = search.ask(asked);
    row.milliseconds.push_back(1e3 * std::chrono::duration<double>(Clock::now() - begin).count());
    for (const Suggestion& one : next) {
      if (!is_good(one.state)) ++row.bad_suggestions;
      const auto& x = std::get<Reals>(one.state.front());
      search.tell(one.id, data.value(x, row.evaluations));
    }
  }
}

BayesRow measure(const BenchRun& run, const HardData& data) {
  BayesRow row;
  row.dimension = data.dimension;
  row.evaluations = run.on_cpu() ? data.cpu_evaluations : data.evaluations;
  row.batch = asked;
  row.bad_suggestions = 0;
  try {
    try_to_ask(run, data, row);
  } catch (const Error& error) {
    row.failure = error.what();
  }
  row.gates = {{"bad suggestions", 0, false, static_cast<double>(row.bad_suggestions)}};
  return row;
}

}  // namespace

std::vector<BayesCase> bayes_hard_cases() {
  std::vector<BayesCase> cases;
  for (const HardData& one : all_data()) {
    cases.push_back({one.name, [&one](const BenchRun& run, double) { return measure(run, one); }});
  }
  return cases;
}

}  // namespace kiln::cli
