// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench pareto: whole searches for fronts, how good these are and how fast they are found.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "kiln/fronts/indicators.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t warm_up_generations = 4;
constexpr std::int64_t points_for_volume = 100'000;  // the front's volume to five digits
constexpr std::int64_t points_for_distance = 2000;
constexpr std::array<const char*, 3> first_three{"zdt:1", "zdt:2", "zdt:3"};

/// Islands and the members of each.
struct Members {
  std::int64_t islands = 1;
  std::int64_t population = 100;
};

/// What a row is for: how good fronts are for so much work, how fast generations are, or how good
/// fronts are after so much time.
enum class Question : std::uint8_t { quality, speed, fixed_time };

/// A problem, and how its front is searched for.
struct ParetoCase {
  Question question = Question::quality;
  std::string name;  ///< of the row
  std::string instance, strategy;
  std::int64_t generations = 0;  ///< 0: as many as there is time for
  Members members, cpu_members;
  double reference = 1;     ///< of volumes, in units of what the true front spans
  std::string beside = {};  ///< without the constraints; what they cost is told by pairs of runs
};

bool by_time(const ParetoCase& which) { return which.question == Question::fixed_time; }

std::size_t max_runs(const ParetoCase& which) {
  if (by_time(which)) return 1;
  return which.question == Question::quality ? 21 : 5;
}

// 25,000 evaluations of ZDT, as is customary, and 50,000 of DTLZ2.
void add_quality(std::vector<ParetoCase>& cases) {
  const auto add = [&](const std::string& instance, const std::string& strategy,
                       std::int64_t generations, Members members, double reference = 1) {
    cases.push_back({Question::quality, instance + " " + strategy, instance, strategy, generations,
                     members, members, reference});
  };
  for (const char* instance : {"zdt:1", "zdt:2", "zdt:3", "zdt:4", "zdt:6"}) {
    add(instance, "nsga2", 249, {1, 100});
  }
  for (const char* instance : first_three) add(instance, "sms-emoa", 249, {1, 100});
  for (const char* instance : first_three) add(instance, "amosa", 2499, {1, 10});
  add("zdt:1", "moead", 249, {1, 100});
  add("dtlz:2", "nsga3", 543, {1, 92}, 1.1);
}

void add_speed(std::vector<ParetoCase>& cases) {
  const auto add = [&](const std::string& instance, const std::string& what, Members members,
                       Members cpu_members, const std::string& beside = {}) {
    cases.push_back({Question::speed, instance + " nsga2, " + what, instance, "nsga2", 100, members,
                     cpu_members, 1, beside});
  };
  add("zdt:1", "large population", {1, 100'000}, {1, 10'000});
  add("zdt:1", "many islands", {1000, 100}, {100, 100});
  add("cdtlz:c2-dtlz2,2", "beside dtlz:2,2", {1, 100'000}, {1, 10'000}, "dtlz:2,2");
}

// A thousand members: with a hundred a second is enough for all that so few points can cover.
void add_fixed_time(std::vector<ParetoCase>& cases) {
  constexpr Members members{1, 1000};
  for (const std::string instance : first_three) {
    cases.push_back({Question::fixed_time, instance + " sms-emoa, fixed time", instance, "sms-emoa",
                     0, members, members});
  }
}

const std::vector<ParetoCase>& all_cases() {
  static const std::vector<ParetoCase> cases = [] {
    std::vector<ParetoCase> all;
    add_quality(all);
    add_speed(all);
    add_fixed_time(all);
    return all;
  }();
  return cases;
}

Members members_of(const BenchRun& run, const ParetoCase& which) {
  Members members = run.on_cpu() ? which.cpu_members : which.members;
  if (run.options.quick) {
    members.islands = std::min<std::int64_t>(members.islands, 10);
    members.population = std::min<std::int64_t>(members.population, 1000);
  }
  return members;
}

/// What volumes are measured in, where the front is known.
FrontBox box_of(const Problem& problem, double reference) {
  const Objectives& objectives = *problem.objectives;
  return {objectives.ideal, objectives.nadir, std::vector<double>(objectives.count(), reference)};
}

/// The volume of the whole true front of two objectives. Of a surface so many points are too few.
std::optional<double> true_volume(const Problem& problem, const FrontBox& box) {
  const Objectives& objectives = *problem.objectives;
  if (objectives.count() != 2 || !objectives.true_front) return std::nullopt;
  Points points = objectives.true_front(points_for_volume);
  for (std::vector<double>& point : points) point = box.scaled(point);
  return hypervolume(points, box.reference);
}

struct Measured {
  const ParetoCase* which = nullptr;
  std::string backend;
  int threads = 0;  ///< 0 on a GPU
  Members members;
  Result result;                                    ///< of the last run
  std::vector<double> seconds, volumes, distances;  ///< of each run
  std::vector<double> costs;                        ///< of constraints, of each pair: a share
  std::optional<double> whole;                      ///< volume of the true front

  std::int64_t evaluations() const { return result.work.replicas * (result.work.sweeps + 1); }
  Spread generations_per_s() const {
    return rate_of(static_cast<double>(result.work.sweeps), spread_of(seconds));
  }
  std::optional<double> share() const {
    if (!whole) return std::nullopt;
    return spread_of(volumes).median / *whole;
  }
  std::optional<double> distance() const {
    if (distances.empty()) return std::nullopt;
    return spread_of(distances).median;
  }
};

Result run_verified(const BenchRun& bench, const ParetoCase& which, const Problem& problem,
                    const Budget& budget, std::uint64_t seed) {
  static const Registry registry = builtin_registry();
  const Members members = members_of(bench, which);
  const bool anneals = which.strategy == "amosa";
  std::map<std::string, std::string> parameters{
      {anneals ? "chains" : "population", std::to_string(members.population)},
      {"islands", std::to_string(members.islands)},
      {"reference",
       fmt::format("{}", fmt::join(box_of(problem, which.reference).reference_values(), ","))}};
  if (!anneals) parameters["strategy"] = which.strategy;
  const auto schedule = registry.schedule(anneals ? "amosa" : "evolutionary").make(parameters);
  RunOptions options;
  options.device = bench.backend.backend->info().name;
  options.threads = bench.options.threads;
  options.seed = seed;
  Run run(problem, *schedule, budget, options, bench.backend);
  Result result = run.advance();
  require_verified(result);
  return result;
}

Budget budget_of(const BenchRun& run, const ParetoCase& which, double fixed_s) {
  Budget budget;
  if (by_time(which)) budget.time_limit_s = fixed_s;
  if (!by_time(which)) budget.sweeps = which.generations;
  if (run.options.sweeps) budget.sweeps = run.options.sweeps;
  return budget;
}

void add_run(Measured& row, const Points& front) {
  row.seconds.push_back(row.result.time.run_s);
  row.volumes.push_back(row.result.front->hypervolume);
  if (front.empty() || row.result.front->members.empty()) return;
  row.distances.push_back(inverted_generational_distance(row.result.front->points(), front));
}

Measured measure(const BenchRun& run, const ParetoCase& which, const Budget& budget,
                 double limit_s) {
  const DeviceInfo info = run.backend.backend->info();
  const Problem problem = make_instance(which.instance);
  std::optional<Problem> bare;
  if (!which.beside.empty()) bare = make_instance(which.beside);
  Points
      front;  // of so many points as a row of speed has, distances would take longer than the run
  if (which.question != Question::speed)
    front = problem.objectives->true_front(points_for_distance);
  // Loads code and wakes the device.
  run_verified(run, which, problem, {.sweeps = warm_up_generations}, 1);
  if (bare) run_verified(run, which, *bare, {.sweeps = warm_up_generations}, 1);

  Measured row;
  row.which = &which;
  row.backend = run.on_cpu() ? "cpu" : "cuda";
  row.threads = run.on_cpu() ? info.parallel_units : 0;
  row.members = members_of(run, which);
  row.whole = true_volume(problem, box_of(problem, which.reference));
  const auto begin = Clock::now();
  do {
    const std::uint64_t seed = row.seconds.size() + 1;
    row.result = run_verified(run, which, problem, budget, seed);
    add_run(row, front);
    if (!bare) continue;
    const Result without = run_verified(run, which, *bare, budget, seed);
    row.costs.push_back(row.result.time.run_s / without.time.run_s - 1);
  } while (row.seconds.size() < max_runs(which) &&
           std::chrono::duration<double>(Clock::now() - begin).count() < limit_s);
  return row;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const Measured& row) {
  const Spread rate = row.generations_per_s(), volume = spread_of(row.volumes);
  Json cost = nullptr, cost_spread = nullptr;
  if (!row.costs.empty()) {
    const Spread spread = spread_of(row.costs);
    cost = spread.median;
    cost_spread = json_of(spread);
  }
  return {{"case", row.which->name},
          {"instance", row.which->instance},
          {"strategy", row.which->strategy},
          {"backend", row.backend},
          {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
          {"islands", row.members.islands},
          {"population", row.members.population},
          {"generations", row.result.work.sweeps},
          {"evaluations", row.evaluations()},
          {"seeds", row.seconds.size()},
          {"seconds", spread_of(row.seconds).median},
          {"generations_per_s", rate.median},
          {"generations_per_s_spread", json_of(rate)},
          {"reference", row.which->reference},
          {"hypervolume", volume.median},
          {"hypervolume_spread", json_of(volume)},
          {"true_hypervolume", number(row.whole)},
          {"true_share", number(row.share())},
          {"igd", number(row.distance())},
          {"constraint_cost", cost},
          {"constraint_cost_spread", cost_spread}};
}

std::vector<std::string> cells_of(const Measured& row) {
  const std::optional<double> share = row.share(), distance = row.distance();
  return {row.which->name,
          row.threads > 0 ? fmt::format("{} thr", row.threads) : row.backend,
          fmt::format("{} x {}", row.members.islands, row.members.population),
          fmt::format("{}", row.result.work.sweeps),
          fmt::format("{}", row.seconds.size()),
          three_digits(spread_of(row.seconds).median),
          three_digits(row.generations_per_s().median),
          fmt::format("{:.5f}", spread_of(row.volumes).median),
          share ? fmt::format("{:.2f} %", 100 * *share) : "-",
          distance ? fmt::format("{:.5f}", *distance) : "-",
          row.costs.empty() ? "-" : fmt::format("{:+.1f} %", 100 * spread_of(row.costs).median)};
}

/// Deals out the time: rows of a fixed time take theirs, the others share what is left, so that
/// one that needs less leaves more to those behind it.
class TimeTable {
 public:
  TimeTable(double limit_s, const std::vector<const ParetoCase*>& cases)
      : limit_s_(limit_s), fixed_s_(std::min(5.0, limit_s / 9)) {
    for (const ParetoCase* one : cases) ++(by_time(*one) ? fixed_ : others_);
  }

  double fixed_s() const { return fixed_s_; }
  /// For the next row.
  double take(const ParetoCase& which) {
    const double gone = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double left = limit_s_ - gone - fixed_ * fixed_s_;
    const double share = by_time(which) ? fixed_s_ : left / others_;
    --(by_time(which) ? fixed_ : others_);
    return share;
  }

 private:
  Clock::time_point begin_ = Clock::now();
  double limit_s_, fixed_s_;
  int fixed_ = 0, others_ = 0;
};

}  // namespace

BenchReport run_pareto_suite(const BenchRun& run) {
  const auto wanted = wanted_rows(run, all_cases(), [](const ParetoCase& one) { return one.name; });
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole searches for fronts, one for each seed from 1, by the steady clock, "
                   "without set-up; volumes in units of what the true front spans, constraints by "
                   "pairs of runs with and without them"}};
  report.table = {{"case", "device", "islands x members", "generations", "seeds", "s",
                   "generations/s", "hypervolume", "of front", "IGD", "constraints"}};
  TimeTable times(run.options.time_limit_s, wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    run.progress.update(i, wanted.size(), wanted[i]->name, report);
    const Budget budget = budget_of(run, *wanted[i], times.fixed_s());
    const double limit_s = times.take(*wanted[i]);
    report.measure(wanted[i]->name, [&] {
      const Measured row = measure(run, *wanted[i], budget, limit_s);
      report.rows.push_back(json_of(row));
      report.table.push_back(cells_of(row));
    });
  }
  return report;
}

}  // namespace kiln::cli
