// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench sampling: whole sampling runs through the engine, cold, warm-up included.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "kiln/device/normal.hpp"
#include "kiln/engine.hpp"
#include "kiln/problems/continuous.hpp"
#include "kiln/registry.hpp"
#include "kiln/statistics/sample_summary.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int max_repetitions = 5;

/// A posterior or density, and how it is sampled.
struct SamplingCase {
  std::string name;             ///< of the row
  std::string instance;         ///< of the registry, if `make` is empty
  std::int64_t chains = 0;      ///< 0: what suits the device
  std::int64_t cpu_chains = 0;  ///< the same on the CPU
  std::map<std::string, std::string> parameters;
  std::function<Problem()> make = {};
};

// Logistic regression of a table from a fixed seed: standard normal covariates, weights N(0, 1/4).
// Its posterior is nearly normal, so that what is measured is the cost of its gradient.
Problem logistic_problem() {
  constexpr std::int64_t rows = 5000, columns = 20;
  const DrawName covariate{5, 0, 0, RngDomain::initial_state, 0};
  const DrawName weight{5, 0, 1, RngDomain::initial_state, 0};
  const DrawName coin{5, 0, 2, RngDomain::initial_state, 0};
  std::vector<double> odds(rows);
  ModelData data("5000 x 20, seed 5");
  std::uint32_t next = 0;
  for (std::int64_t j = 0; j < columns; ++j) {
    DataArray x{fmt::format("x[{}]", j + 1), {rows}, {}};
    const double w = 0.5 * standard_normal(weight, static_cast<std::uint32_t>(j));
    for (double& z : odds) {
      x.values.push_back(standard_normal(covariate, next++));
      z += w * x.values.back();
    }
    data.add(std::move(x));
  }
  DataArray y{"y", {rows}, {}};
  for (std::uint32_t i = 0; i < odds.size(); ++i) {
    y.values.push_back(open_unit(draw_word(coin, i)) < 1 / (1 + std::exp(-odds[i])) ? 1.0 : 0.0);
  }
  data.add(std::move(y));
  return problems::posterior_by_name("logistic-regression,y", &data);
}

const std::vector<SamplingCase>& all_cases() {
  static const std::vector<SamplingCase> cases{
      {"eight-schools, many chains",
       "posterior:eight-schools",
       65536,
       1024,
       {{"sampler", "chees"}, {"warmup", "400"}, {"draws", "200"}}},
      {"eight-schools, one chain",
       "posterior:eight-schools",
       1,
       1,
       {{"sampler", "nuts"}, {"warmup", "1000"}, {"draws", "10000"}}},
      {"gaussian 10, many chains",
       "density:gaussian-10,1",
       65536,
       1024,
       {{"sampler", "chees"}, {"warmup", "300"}, {"draws", "200"}}},
      {"kilpisjarvi, four chains",
       "posterior:kilpisjarvi",
       4,
       4,
       {{"sampler", "nuts"}, {"warmup", "1000"}, {"draws", "1000"}}},
      {"logistic 5000 x 20, many chains",
       "posterior:logistic-regression,y",
       4096,
       32,
       {{"sampler", "chees"}, {"warmup", "200"}, {"draws", "200"}},
       logistic_problem},
      {"logistic 5000 x 20, four chains",
       "posterior:logistic-regression,y",
       4,
       4,
       {{"sampler", "nuts"}, {"warmup", "300"}, {"draws", "500"}},
       logistic_problem},
  };
  return cases;
}

struct Measured {
  const SamplingCase* which = nullptr;
  std::string backend;
  int threads = 0;  ///< 0 on a GPU
  Result result;    ///< of the last run; all are alike but for their times
  std::vector<double> seconds, sampling_seconds;

  const Sample& sample() const { return *result.sample; }
  // All chains where their means tell, else those that were kept, which are then all as well.
  double effective() const {
    const SampleSummary& summary = *result.sample_summary;
    if (std::isfinite(summary.ess_all_chains)) return summary.ess_all_chains;
    const QuantitySummary* const least = summary.min_bulk();
    return least == nullptr ? 0.0 : least->ess_bulk;
  }
  Spread effective_per_s() const { return rate_of(effective(), spread_of(sampling_seconds)); }
  Spread gradients_per_s() const {
    return rate_of(sample().gradients, spread_of(sampling_seconds));
  }
};

Measured measure(const BenchRun& run, const SamplingCase& which, double limit_s) {
  RunOptions options = run_options(run, run.on_cpu() ? which.cpu_chains : which.chains);
  if (run.options.quick) options.replicas = std::min<std::int64_t>(options.replicas, 64);
  Engine engine(options);
  const Problem problem = which.make ? which.make() : make_instance(which.instance);
  const Registry registry = builtin_registry();
  std::map<std::string, std::string> parameters = which.parameters;
  if (run.options.quick) parameters["warmup"] = parameters["draws"] = "100";

  Measured row{&which, run.on_cpu() ? "cpu" : "cuda", options.threads, {}, {}, {}};
  repeat({1, max_repetitions, limit_s}, [&](std::int64_t) {
    const std::unique_ptr<Schedule> schedule = registry.schedule("hmc").make(parameters);
    row.result = engine.run(problem, *schedule, {});
    require_verified(row.result);
    row.seconds.push_back(row.result.time.run_s);
    row.sampling_seconds.push_back(row.sample().sampling_s);
  });
  return row;
}

Json json_of(const Measured& row) {
  const Sample& sample = row.sample();
  const QuantitySummary* const worst = row.result.sample_summary->worst_r_hat();
  const Spread gradients = row.gradients_per_s(), effective = row.effective_per_s();
  return {{"case", row.which->name},
          {"instance", row.which->instance},
          {"backend", row.backend},
          {"threads", row.threads > 0 ? Json(row.threads) : Json(nullptr)},
          {"chains", sample.all_chains},
          {"warmup", sample.warmup},
          {"draws", sample.all_draws},
          {"seconds", spread_of(row.seconds).median},
          {"sampling_seconds", spread_of(row.sampling_seconds).median},
          {"gradients", sample.gradients},
          {"gradients_per_s", gradients.median},
          {"gradients_per_s_spread", json_of(gradients)},
          {"effective_draws", row.effective()},
          {"effective_draws_per_s", effective.median},
          {"effective_draws_per_s_spread", json_of(effective)},
          {"r_hat_max", worst == nullptr ? Json(nullptr) : Json(worst->r_hat)},
          {"divergences", sample.divergences},
          {"step_size", sample.step_size},
          {"seed", run_seed}};
}

std::vector<std::string> cells_of(const Measured& row) {
  const Sample& sample = row.sample();
  const QuantitySummary* const worst = row.result.sample_summary->worst_r_hat();
  return {row.which->name,
          row.threads > 0 ? fmt::format("{} thr", row.threads) : row.backend,
          fmt::format("{}", sample.all_chains),
          fmt::format("{} + {}", sample.warmup, sample.all_draws),
          three_digits(spread_of(row.seconds).median),
          three_digits(row.gradients_per_s().median),
          three_digits(row.effective()),
          three_digits(row.effective_per_s().median),
          worst == nullptr ? "-" : fmt::format("{:.3f}", worst->r_hat),
          fmt::format("{}", sample.divergences)};
}

}  // namespace

BenchReport run_sampling_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole sampling runs by the steady clock, without set-up; rates are of the time "
                   "after warm-up, effective draws those of the worst coordinate over all chains"}};
  report.table = {{"case", "device", "chains", "warm-up + draws", "s", "gradients/s", "effective",
                   "effective/s", "r_hat", "divergent"}};
  const auto name_of = [](const SamplingCase& one) { return one.name; };
  measure_rows(run, all_cases(), name_of, report, [&](const SamplingCase& one, double limit_s) {
    const Measured row = measure(run, one, limit_s);
    report.rows.push_back(json_of(row));
    report.table.push_back(cells_of(row));
  });
  return report;
}

}  // namespace kiln::cli
