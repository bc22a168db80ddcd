// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>

#include "kiln/bayesian_optimizer.hpp"
#include "kiln/device/normal.hpp"
#include "kiln/device/rng_domains.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "bench/bayes_cases.hpp"
#include "bench/kernel_case.hpp"

namespace kiln::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int max_asks = 9;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The next points of one study that has seen `evaluations` random ones.
struct Ask {
  std::string name, instance;
  std::int64_t evaluations = 0, batch = 1;
  double gate_ms = 0;                                ///< on a GPU
  std::optional<double> cpu_gate_ms = std::nullopt;  ///< on two cores
};

const std::vector<Ask>& all_asks() {
  static const std::vector<Ask> all{
      {"ask after 50 evaluations, 6 variables", "function:hartmann6", 50, 1, 10, 200},
      {"ask after 1000 evaluations, 10 variables", "function:ackley-10", 1000, 1, 250},
      {"ask for 4 points after 60 evaluations, 6 variables", "function:hartmann6", 60, 4, 30},
  };
  return all;
}

void judge(const BenchRun& run, double gate_ms, const std::optional<double>& cpu_gate_ms,
           BayesRow& row) {
  const std::optional<double> limit = run.on_cpu() ? cpu_gate_ms : gate_ms;
  if (limit) row.gates = {{"ms", *limit, false, spread_of(row.milliseconds).median}};
}

/// A point of the box of a space of one block of reals, by its number.
State random_state(const Space& space, std::uint32_t index) {
  const Block& block = space.blocks().front();
  const DrawName name{7, index, 0, RngDomain::initial_state, 0};
  std::vector<double> x;
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(block.count); ++k) {
    const Bounds bounds = block.bounds(k);
    x.push_back(bounds.lower + open_unit(draw_word(name, k)) * (bounds.upper - bounds.lower));
  }
  return {x};
}

BayesRow measure_asks(const BenchRun& run, const Ask& which, double limit_s) {
  const Problem problem = make_instance(which.instance);
  const Space& space = problem.objective->space();
  BayesRow row;
  row.instance = which.instance;
  row.dimension = space.variables();
  row.evaluations = which.evaluations;
  row.batch = which.batch;
  BayesianOptimizationOptions options = bayes_options(run);
  options.batch = which.batch;
  BayesianOptimizer search({space}, options, 1, device_of(run));
  // The first batch warms up: it loads code and makes room.
  for (std::int64_t i = 0; i < which.evaluations - which.batch; ++i) {
    const State state = random_state(space, static_cast<std::uint32_t>(i));
    search.add(state, problem.solution.verify(spans_of(state)));
  }
  const auto ask = [&] {
    const auto begin = Clock::now();
    const std::vector<Suggestion> next = search.ask(which.batch);
    const double seconds = seconds_since(begin);
    for (const Suggestion& one : next)
      search.tell(one.id, problem.solution.verify(spans_of(one.state)));
    return seconds;
  };
  ask();
  const auto begin = Clock::now();
  do {
    row.milliseconds.push_back(1e3 * ask());
  } while (static_cast<int>(row.milliseconds.size()) < max_asks && seconds_since(begin) < limit_s);
  judge(run, which.gate_ms, which.cpu_gate_ms, row);
  return row;
}

/// A thousand studies in one run: windows of ten iterations, until there are 60 evaluations of each
/// or no more time.
BayesRow measure_studies(const BenchRun& bench, double limit_s) {
  static const Registry registry = builtin_registry();
  constexpr std::int64_t window = 10, last = 60;
  const Problem problem = make_instance("function:hartmann6");
  const std::int64_t studies = bench.options.quick ? 2 : bench.on_cpu() ? 20 : 1000;
  std::map<std::string, std::string> texts = bench.options.parameters;
  texts["studies"] = std::to_string(studies);
  texts["initial"] = std::to_string(window);
  texts["evaluations"] = std::to_string(last);
  const auto schedule = registry.schedule("bayesian-optimization").make(texts);
  RunOptions options;
  options.device = bench.backend.backend->info().name;
  options.threads = bench.options.threads;
  Run run(problem, *schedule, {.sweeps = last}, options, bench.backend);
  BayesRow row;
  row.instance = problem.identity.name;
  row.dimension = problem.objective->space().variables();
  row.studies = studies;
  // The initial points, and one iteration that warms up.
  double before = run.advance_to({.sweeps = window + 1}).time.run_s;
  const auto begin = Clock::now();
  std::int64_t done = window + 1;
  do {
    const std::int64_t next = std::min(done + window, last);
    const Result result = run.advance_to({.sweeps = next});
    require_verified(result);
    const auto iterations = static_cast<double>(studies * (next - done));
    row.milliseconds.push_back(1e3 * (result.time.run_s - before) / iterations);
    before = result.time.run_s;
    done = next;
  } while (done < last && seconds_since(begin) < limit_s);
  row.evaluations = done;
  judge(bench, 1, {}, row);
  return row;
}

}  // namespace

std::vector<BayesCase> bayes_speed_cases() {
  std::vector<BayesCase> cases;
  for (const Ask& one : all_asks()) {
    cases.push_back({one.name, [&one](const BenchRun& run, double limit_s) {
                       return measure_asks(run, one, limit_s);
                     }});
  }
  cases.push_back({"hartmann6, many studies", measure_studies});
  return cases;
}

}  // namespace kiln::cli
