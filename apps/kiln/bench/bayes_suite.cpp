// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench bayes: Bayesian optimisation, how good what it finds is, how long an iteration takes,
// and data that make models fail.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "kiln/errors.hpp"

#include "bench/bayes_cases.hpp"

namespace kiln::cli {

bool BayesRow::met() const {
  return failure.empty() && std::ranges::all_of(gates, [](const BayesGate& g) { return g.met(); });
}

std::string device_of(const BenchRun& run) {
  // "auto" may have fallen back, "cuda:1" says which.
  return run.on_cpu() ? "cpu" : run.options.device == "auto" ? "cuda" : run.options.device;
}

BayesianOptimizationOptions bayes_options(const BenchRun& run) {
  return BayesianOptimizationOptions::table().parse(run.options.parameters,
                                                    "schedule 'bayesian-optimization'");
}

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

std::vector<BayesCase> all_cases() {
  std::vector<BayesCase> all = bayes_quality_cases();
  for (auto* more : {bayes_speed_cases, bayes_hard_cases}) {
    for (BayesCase& one : more()) all.push_back(std::move(one));
  }
  return all;
}

Json spread_json(const std::vector<double>& values) {
  return values.empty() ? Json(nullptr) : json_of(spread_of(values));
}

Json median_json(const std::vector<double>& values) {
  return values.empty() ? Json(nullptr) : Json(spread_of(values).median);
}

Json json_of_row(const BenchRun& run, const std::string& name, const BayesRow& row) {
  Json gates = Json::array();
  for (const BayesGate& gate : row.gates) {
    gates.push_back({{"what", gate.what},
                     {"value", gate.value},
                     {"limit", gate.limit},
                     {"at_least", gate.at_least},
                     {"met", gate.met()}});
  }
  const bool cpu = run.on_cpu();
  return {{"case", name},
          {"instance", row.instance.empty() ? Json(nullptr) : Json(row.instance)},
          {"backend", cpu ? "cpu" : "cuda"},
          {"threads", cpu ? Json(run.backend.backend->info().parallel_units) : Json(nullptr)},
          {"dimension", row.dimension},
          {"evaluations", row.evaluations},
          {"batch", row.batch},
          {"studies", row.studies},
          {"milliseconds", median_json(row.milliseconds)},
          {"milliseconds_spread", spread_json(row.milliseconds)},
          {"value", median_json(row.values)},
          {"value_spread", spread_json(row.values)},
          {"bad_suggestions", row.bad_suggestions < 0 ? Json(nullptr) : Json(row.bad_suggestions)},
          {"failure", row.failure.empty() ? Json(nullptr) : Json(row.failure)},
          {"gates", gates},
          {"met", row.gates.empty() ? Json(nullptr) : Json(row.met())}};
}

std::string gates_text(const BayesRow& row) {
  if (!row.failure.empty()) return row.failure;
  std::vector<std::string> texts;
  for (const BayesGate& gate : row.gates) {
    texts.push_back(fmt::format("{} {:.4g} {} {:g}", gate.what, gate.value,
                                gate.at_least ? ">=" : "<=", gate.limit));
  }
  return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> cells_of(const std::string& name, const BayesRow& row) {
  const auto value = [&](double Spread::*which) {
    return row.values.empty() ? "-" : fmt::format("{:.5g}", spread_of(row.values).*which);
  };
  return {name,
          fmt::format("{}", row.dimension),
          fmt::format("{}", row.evaluations),
          fmt::format("{}", row.batch),
          fmt::format("{}", row.studies),
          row.milliseconds.empty() ? "-" : three_digits(spread_of(row.milliseconds).median),
          value(&Spread::min),
          value(&Spread::median),
          value(&Spread::max),
          gates_text(row),
          row.gates.empty() ? "-"
          : row.met()       ? "yes"
                            : "no"};
}

/// Rows that are wanted. What has no data is left out with a sentence.
std::vector<BayesCase> wanted_cases(const BenchRun& run, BenchReport& report) {
  std::vector<BayesCase> wanted;
  std::vector<std::string> names, without_data;
  for (BayesCase& one : all_cases()) {
    names.push_back(one.name);
    if (!run.wants(one.name)) continue;
    if (one.needs_data && run.options.data.empty()) {
      without_data.push_back(one.name);
    } else {
      wanted.push_back(std::move(one));
    }
  }
  if (wanted.empty() && without_data.empty()) refuse_empty_selection(run.options, names);
  if (wanted.empty()) {
    throw InvalidArgument("cli.missing", without_data.front() + " needs its table",
                          "a file with a column 'yield'", "give it with --data FILE");
  }
  for (const std::string& name : without_data) {
    report.notes.push_back(name + " was left out: it needs its table, --data FILE.");
  }
  if (run.options.quick) wanted.erase(wanted.begin() + 1, wanted.end());
  return wanted;
}

}  // namespace

BenchReport run_bayes_suite(const BenchRun& run) {
  BenchReport report;
  const std::vector<BayesCase> wanted = wanted_cases(run, report);
  report.facts = {{"method", "run"},
                  {"method_text",
                   "whole searches of several seeds as studies of one run, their time by iteration "
                   "and study without set-up; single batches of points by the steady clock, after "
                   "one to warm up, models fitted anew"}};
  report.table = {
      {"case", "d", "n", "q", "studies", "ms", "least", "median", "greatest", "gates", "met"}};
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    run.progress.update(i, wanted.size(), wanted[i].name, report);
    const double gone = std::chrono::duration<double>(Clock::now() - begin).count();
    const double share = (run.options.time_limit_s - gone) / static_cast<double>(wanted.size() - i);
    report.measure(wanted[i].name, [&] {
      const BayesRow row = wanted[i].measure(run, share);
      report.rows.push_back(json_of_row(run, wanted[i].name, row));
      report.table.push_back(cells_of(wanted[i].name, row));
    });
  }
  return report;
}

}  // namespace kiln::cli
