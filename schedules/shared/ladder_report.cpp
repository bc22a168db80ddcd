// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run with ladders tells about itself: how freely its replicas travel, what the rungs hold,
// and what would make it better.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/objectives/term_offset.hpp"

#include "ended_by_value.hpp"
#include "ladder.hpp"
#include "stepping_stones.hpp"

namespace kiln::ladder {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double closed_gap = 0.7;  // rejection at which a gap holds up the whole ladder

// Round trips of a replica below which the error of log Z is not to be trusted. Measured on tori
// of 4 x 4 to 10 x 10, 60 to 100 seeds: errors are off by a factor of 1.3 to 6 below (2.5 trips on
// 10 x 10: 1.35), and by at most 1.2 above.
constexpr double fewest_trips = 3;

double ratio(double a, double b) { return b > 0 ? a / b : unknown; }

// Over temperatures energies are weighed, over a parameter the term of the family, at the
// temperature of the rungs.
Stones stones_of(RunContext& run, const Result& result, Coordinate coordinate) {
  const bool temperatures = coordinate == Coordinate::temperature;
  const std::vector<double>&beta = result.series.at("beta"),
        &at = temperatures ? beta : result.series.at("parameter");
  const Affine energy = run.problem().units.energy_of_stored;
  Stones stones{{}, energy(0), energy.slope()};
  if (!temperatures) {
    const auto* const family = run.problem().objective->as<TermOffset>();
    stones.offset = family != nullptr ? family->term_offset() : 0;
  }
  for (std::size_t r = 0; r + 1 < at.size(); ++r) {
    stones.width.push_back((at[r + 1] - at[r]) * (temperatures ? 1 : beta[r]));
  }
  return stones;
}

// For each ladder, at which rung or walker its best state was met.
std::vector<double> best_shares(const std::vector<double>& best_energy,
                                const std::vector<std::uint64_t>& best_step,
                                const std::vector<std::int32_t>& best_rung,
                                const LadderPlaces& places) {
  const std::int64_t ladders = places.ladders(), size = places.group_size();
  std::vector<double> share(static_cast<std::size_t>(size), 0.0);
  for (std::int64_t ladder = 0; ladder < ladders; ++ladder) {
    auto best = static_cast<std::size_t>(places.home_of(ladder, 0));
    for (std::int64_t place = 1; place < size; ++place) {
      const auto slot = static_cast<std::size_t>(places.home_of(ladder, place));
      const bool earlier =
          best_energy[slot] == best_energy[best] && best_step[slot] < best_step[best];
      if (best_energy[slot] < best_energy[best] || earlier) best = slot;
    }
    share[static_cast<std::size_t>(best_rung[best])] += 1.0 / static_cast<double>(ladders);
  }
  return share;
}

struct Travel {
  double barrier = 0;
  double phases = 0;  // of one ladder
  double trips = 0;   // of one ladder
  double odds = 0;    // sum of r / (1 - r) over the gaps

  /// Round trips per phase of even-odd swapping if replicas forgot everything between phases: of
  /// this ladder, and of a ladder with the same barrier and ever more rungs.
  double of_ladder() const { return 1 / (2 + 2 * odds); }
  double of_barrier() const { return 1 / (2 + 2 * barrier); }
};

void advise_on_gaps(Result& result, const char* coordinate) {
  const std::vector<double>&at = result.series[coordinate], &rejection = result.series["rejection"];
  for (std::size_t r = 0; r < rejection.size(); ++r) {
    if (!(rejection[r] > closed_gap)) continue;
    result.advice.push_back(fmt::format(
        "Rungs {} and {} ({} {:.4g} and {:.4g}) accept only {:.0f} % of the attempts to "
        "exchange replicas: give the ladder more rungs.",
        r, r + 1, coordinate, at[r], at[r + 1], 100 * (1 - rejection[r])));
    return;  // one such sentence is enough
  }
}

void advise_on_travel(Result& result, const Travel& travel, std::size_t rungs, bool even_odd) {
  const double wanted = std::ceil(2 * travel.barrier + 1);
  if (travel.phases > 0 && travel.trips == 0) {
    result.advice.push_back(fmt::format(
        "No replica went from the hottest rung to the coldest and back in {:.0f} swap "
        "phases: run longer, or raise beta_min (parameter_min for a ladder of parameters).",
        travel.phases));
  } else if (travel.phases > 0 && travel.trips < fewest_trips * static_cast<double>(rungs) &&
             result.diagnostics.contains("log_z_difference")) {
    result.advice.push_back(fmt::format(
        "A replica made {:.2g} round trips on average: log Z can be off by more than its "
        "error. For log Z and averages, run longer.",
        travel.trips / static_cast<double>(rungs)));
  } else if (even_odd && travel.trips * 2 < travel.of_ladder() * travel.phases &&
             travel.phases * travel.of_ladder() > 4) {
    result.advice.push_back(fmt::format(
        "Replicas made {:.0f} % of the round trips that the exchange rates allow: replicas "
        "decorrelate slowly. For sampling, use more sweeps_per_swap or a longer run.",
        100 * travel.trips / (travel.of_ladder() * travel.phases)));
  }
  if (travel.phases > 0 && 1.5 * wanted < static_cast<double>(rungs) && rungs > 4) {
    result.advice.push_back(
        fmt::format("The barrier is {:.3g}, and {:.0f} rungs suffice. Fewer rungs leave replicas "
                    "for more ladders.",
                    travel.barrier, wanted));
  }
}

// Exchange rates of the gaps, as series and added up.
Travel add_gaps(Result& result, const std::vector<std::uint64_t>& attempts,
                const std::vector<std::uint64_t>& chance) {
  Travel travel;
  std::vector<double>&acceptance = result.series["acceptance"],
  &rejection = result.series["rejection"];
  for (std::size_t gap = 0; gap < attempts.size(); ++gap) {
    const double tried = static_cast<double>(attempts[gap]);
    const double rate =
        ratio(std::ldexp(static_cast<double>(chance[gap]), -ReplicaSwap::chance_bits), tried);
    acceptance.push_back(rate);
    rejection.push_back(1 - rate);
    if (!(tried > 0)) continue;
    travel.barrier += 1 - rate;
    travel.odds += (1 - rate) / rate;
  }
  return travel;
}

void add_energies(Result& result, const std::vector<RungSums>& sums, const Affine& energy) {
  auto& series = result.series;
  for (const RungSums& s : sums) {
    const double n = static_cast<double>(s.count), mean = ratio(s.sum, n);
    const double variance = ratio(s.squares, n) - mean * mean;
    series["mean_energy"].push_back(energy(s.reference + mean));
    series["energy_deviation"].push_back(energy.slope() * std::sqrt(variance < 0 ? 0 : variance));
    series["best_energy"].push_back(energy(s.best));
  }
}

// Whether the weights exp(-beta E) of uniform draws say enough: their effective share,
// Z(beta)^2 / (Z(0) Z(2 beta)), is exp(-beta^2 Var E) to second order. The first rung tells the
// variance, whatever the draws have missed. Where it holds a few states only, beta times the fall
// of the mean energy, about as large else, is far larger.
bool links_to_uniform(const Result& result, const UniformLink& link) {
  constexpr double most = 0.6931471805599453;  // a share of a half
  const double beta = result.series.at("beta").front();
  const double spread = beta * result.series.at("energy_deviation").front();
  const double fall = beta * (link.mean - result.series.at("mean_energy").front());
  return link.known != 0 && !(spread * spread > most) && !(fall > 2 * most);
}

// log Z relative to the first rung and, where the first states tell it of that rung, log Z itself.
void add_log_z(Result& result, const Stones& stones, const std::vector<RungSums>& sums,
               const std::vector<RungCell>& cells, bool cells_of_calls, const UniformLink& link) {
  auto& numbers = result.diagnostics;
  const std::vector<double> levels = log_z(stones, sums);
  const double difference = levels.back();
  if (!std::isfinite(difference) && sums.front().calls > 0) {
    result.advice.push_back(
        "The result has no log Z: replicas of a rung stayed at infinite energies, and neighbouring "
        "rungs have no states in common. Start from states of finite energy (--initial).");
    return;
  }
  result.series["log_z"] = levels;
  numbers["log_z_difference"] = difference;
  const bool linked = links_to_uniform(result, link);
  if (linked) numbers["log_z"] = link.log_z + difference;
  const double error = sums.size() > 1 ? log_z_error(stones, sums, cells, cells_of_calls) : 0;
  const double variance = linked ? link.variance : 0;
  if (std::isfinite(error)) numbers["log_z_error"] = std::sqrt(error * error + variance);
}

void add_travel(Result& result, const Travel& travel, double ladders, bool even_odd) {
  auto& numbers = result.diagnostics;
  numbers["swap_phases"] = travel.phases;
  numbers["barrier"] = travel.barrier;
  numbers["round_trips"] = travel.trips * ladders;
  if (travel.phases > 0) {
    numbers["round_trip_rate"] = travel.trips / travel.phases;
    numbers["round_trip_rate_per_sweep"] = travel.trips / travel.phases / numbers["swap_interval"];
  }
  if (!even_odd) return;
  numbers["round_trip_rate_predicted"] = travel.of_barrier();
  numbers["round_trip_rate_of_ladder"] = travel.of_ladder();
  if (travel.phases > 0) {
    numbers["round_trip_efficiency"] = travel.trips / (travel.phases * travel.of_barrier());
  }
}

}  // namespace

void Ladders::report(ReportContext& run, Result& result) const {
  const auto n = static_cast<std::size_t>(rungs());
  const double ladders = static_cast<double>(places_.ladders());
  run.queue().launch(LadderFlush{statistics(run), record_});
  result.series["beta"] = run.read(View1<double>{beta.data, rungs()});
  if (parameter) {
    result.series["parameter"] = run.read(View1<double>{parameter.data, rungs()});
  }
  Travel travel = add_gaps(result, run.read(counts_.attempts), run.read(counts_.chance));
  const std::vector<RungSums> sums = run.read(sums_);
  add_energies(result, sums, run.problem().units.energy_of_stored);
  if (setting_.coordinate != Coordinate::both) {  // the sums weigh one of the two
    add_log_z(result, stones_of(run, result, setting_.coordinate), sums, run.read(cells_),
              ladders < LadderStatistics::cells_of_rung, run.read(link_).front());
  }
  result.series["best_share"] =
      best_shares(run.best_energies(), run.by_replica(run.batch().read_best_steps()),
                  run.by_replica(run.read(best_rung)), places_);

  const auto totals = run.read(counts_.totals);
  travel.phases = static_cast<double>(totals[0]) / ladders;
  travel.trips = static_cast<double>(totals[1]) / ladders;
  double looks = 0;  // between two phases
  for (const SwapLadder& ladder : run.read(ladders_)) looks += ladder.interval / ladders;
  if (setting_.cadence.kind == CadenceKind::stochastic) {
    looks = ratio(1, setting_.cadence.probability);
  }
  const bool adapted = run.read(plan_).front().rounds_left == 0;
  const bool even_odd = setting_.mode == PairMode::even_odd && n > 1;
  result.diagnostics["rungs"] = static_cast<double>(n);
  result.diagnostics["ladders"] = ladders;
  result.diagnostics["adapted"] = adapted ? 1 : 0;
  result.diagnostics["swap_interval"] = looks * static_cast<double>(setting_.sweeps_per_tick);
  add_travel(result, travel, ladders, even_odd);
  if (!adapted && ended_by_value(run.problem(), result)) return;
  if (!adapted) {  // its gaps are where the adaptation has just put them
    result.advice.push_back(
        "The run ended within its burn-in: its ladder statistics describe an unfinished "
        "adaptation. Give the run more time, or a shorter burn_in.");
    return;
  }
  advise_on_gaps(result, setting_.coordinate == Coordinate::parameter ? "parameter" : "beta");
  if (n > 1) advise_on_travel(result, travel, n, even_odd);
}

}  // namespace kiln::ladder
