// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "ladder_options.hpp"

#include "kiln/device/exact_factors.hpp"

namespace kiln::ladder {
namespace {

constexpr std::int64_t shortest_round = 2;  // ticks: both parities of pairs

template <class Place>
std::vector<double> between(double first, double last, std::int64_t n, Place place) {
  std::vector<double> values;
  for (std::int64_t r = 0; r < n; ++r) {
    values.push_back(place(n > 1 ? static_cast<double>(r) / static_cast<double>(n - 1) : 1.0));
  }
  values.back() = last;
  if (n > 1) values.front() = first;
  return values;
}

}  // namespace

PairMode mode_of(const std::string& pairs) {
  if (pairs == "random_adjacent") return PairMode::random_adjacent;
  if (pairs == "sequential") return PairMode::sequential;
  if (pairs == "all_pairs") return PairMode::all_pairs;
  return PairMode::even_odd;
}

CadenceKind kind_of(const std::string& cadence) {
  if (cadence == "adaptive") return CadenceKind::adaptive;
  if (cadence == "stochastic") return CadenceKind::stochastic;
  return CadenceKind::fixed;
}

std::int64_t burn_in_ticks(std::int64_t sweeps, std::int64_t sweeps_per_tick) {
  return sweeps / sweeps_per_tick + (sweeps % sweeps_per_tick != 0 ? 1 : 0);
}

LadderPlan plan_rounds(std::int64_t ticks, std::int64_t max_rounds, bool moves) {
  LadderPlan plan;
  plan.moves = moves ? 1 : 0;
  plan.rounds_left = max_rounds;
  const auto parts = [&] { return (std::int64_t{1} << plan.rounds_left) - 1; };
  while (plan.rounds_left > 0 && ticks < shortest_round * parts()) --plan.rounds_left;
  plan.round_calls = plan.rounds_left > 0 ? ticks / parts() : 1;
  plan.rest = ticks - plan.round_calls * parts();
  if (plan.rounds_left > 0 || plan.rest == 0) return plan;
  plan = {1, plan.rest, 0, 0, 0};  // too short to move anything, and still not to be measured
  return plan;
}

// The barrier between hot and cold grows like the square root of the number of variables, and about
// two rungs per unit of it are wanted. Powers of two fit into the words of 32 replicas.
std::int64_t guess_rungs(std::int64_t variables) {
  return variables <= 64 ? 8 : variables <= 400 ? 16 : 32;
}

std::vector<double> equal_steps(double first, double last, std::int64_t n) {
  return between(first, last, n, [&](double share) { return first + (last - first) * share; });
}

std::vector<double> equal_factors(double first, double last, std::int64_t n) {
  return between(first, last, n, [&](double share) {
    return exact::times_exp(first, exact::log_ratio(last, first) * share);
  });
}

}  // namespace kiln::ladder
