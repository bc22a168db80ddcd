// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench information: estimates by nearest neighbours, from series to value.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <random>

#include "kiln/device/math.hpp"
#include "kiln/information.hpp"

#include "bench/information/pipeline.hpp"
#include "bench/suite.hpp"
#include "bench/timing.hpp"
#include "errors.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One row: columns that drive each other, and what is estimated between them.
struct InformationCase {
  const char* name;
  InformationMeasure measure;
  std::int64_t points;
  std::int32_t columns = 2;
  std::int64_t surrogates = 0;
  std::int64_t max_runs = 100;
  bool whole_map = false;
};

constexpr auto flow = InformationMeasure::transfer_entropy;
constexpr auto mutual = InformationMeasure::mutual_information;

const std::vector<InformationCase>& cases() {
  static const std::vector<InformationCase> all{
      {"te, 10,000 points", flow, 10'000},
      {"te, 100,000 points", flow, 100'000},
      {"te, 1,000,000 points", flow, 1'000'000, 2, 0, 10},
      {"te, 10,000 points, 200 surrogates", flow, 10'000, 2, 200, 20},
      {"mi, 10,000 points", mutual, 10'000},
      {"mi, 100,000 points", mutual, 100'000},
      {"te map of 64 columns, 2,000 points, 200 surrogates", flow, 2'000, 64, 200, 3, true},
  };
  return all;
}

// x' = 0.5 x + e, y' = 0.4 y + 0.5 x + f, next to each other in a ring of columns.
std::vector<Series> coupled_columns(std::int64_t rows, std::int32_t columns) {
  std::mt19937_64 words(7);
  const auto unit = [&] { return (static_cast<double>(words() >> 11) + 0.5) * 0x1p-53; };
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(unit())) * std::cos(2 * std::numbers::pi * unit());
  };
  std::vector<Series> all;
  for (std::int32_t c = 0; c < columns; ++c) {
    Series series{fmt::format("column {}", c + 1), {}};
    double own = 0;
    for (std::int64_t t = 0; t < rows; ++t) {
      const bool driven = c % 2 == 1 && t > 0;
      own = (driven ? 0.4 : 0.5) * own + normal() +
            (driven ? 0.5 * all.back().values[static_cast<std::size_t>(t - 1)] : 0.0);
      series.values.push_back(own);
    }
    all.push_back(std::move(series));
  }
  return all;
}

struct MeasuredCase {
  std::optional<Timing> device;  ///< of all launches of one estimate, series in device memory
  Spread whole_s;                ///< of whole calls, columns in host memory
  double value = 0;
  std::int64_t runs = 0, links = 0;
};

// The launches alone. The value is compared with that of the call, so that the same work is timed.
Timing time_device(const BenchRun& run, const InformationCase& one,
                   const std::vector<Series>& columns, double expected, double limit_s) {
  const std::unique_ptr<Queue> queue = run.backend.backend->make_queue();
  const auto pipeline =
      std::make_shared<InformationPipeline>(*queue, columns, one.measure == flow, one.surrogates);
  LaunchTimer timer(*queue);
  Launches launches{[pipeline](std::uint32_t) { pipeline->launch(); }, {}, 100};
  Effort effort;
  effort.limit_s = limit_s;
  const Timing timing = timer.time(launches, effort);
  const auto n = static_cast<double>(one.points);
  double value = math::digamma(4) + pipeline->sum_of_values() / n;
  if (one.measure == mutual) value += math::digamma(n);
  if (!(std::abs(value - expected) < 1e-9)) {
    throw SelfCheckError("bench.value",
                         fmt::format("launches give {} and the call gives {}", value, expected));
  }
  return timing;
}

MeasuredCase measure(const BenchRun& run, const InformationCase& one, double limit_s) {
  // One row more: the first has no past. Mutual information leaves it out, too.
  std::vector<Series> columns = coupled_columns(one.points + 1, one.columns);
  if (one.measure == mutual) {
    for (Series& column : columns) column.values.front() = InformationEstimate::none;
  }
  InformationOptions options;
  options.measure = one.measure;
  options.surrogates = one.surrogates;
  options.standardize = false;
  InformationColumns which;
  if (!one.whole_map) which = {{0}, {1}, {}};
  MeasuredCase measured;
  std::vector<double> seconds;
  repeat({2, one.max_runs + 1, limit_s / 2}, [&](std::int64_t number) {
    const Stopwatch whole;
    const InformationMap map = estimate_information(columns, which, options, *run.backend.backend);
    const double whole_s = whole.seconds();
    measured.value = map.links.front().estimate.value;
    measured.links = std::ssize(map.links);
    if (number > 0) seconds.push_back(whole_s);  // the first loads code and wakes the device
  });
  measured.runs = std::ssize(seconds);
  measured.whole_s = spread_of(seconds);
  if (!one.whole_map) {
    if (one.measure == mutual) {
      for (Series& column : columns) column.values.front() = 0;
    }
    measured.device = time_device(run, one, columns, measured.value, limit_s / 2);
  }
  return measured;
}

Json json_of(const BenchRun& run, const InformationCase& one, const MeasuredCase& row) {
  const DeviceInfo info = run.backend.backend->info();
  return {{"case", one.name},
          {"device", info.name},
          {"threads", run.on_cpu() ? Json(info.parallel_units) : Json(nullptr)},
          {"measure", name_of(one.measure)},
          {"points", one.points},
          {"columns", one.columns},
          {"links", row.links},
          {"surrogates", one.surrogates},
          {"k", 4},
          {"value", row.value},
          {"device_seconds", row.device ? json_of(row.device->seconds) : Json(nullptr)},
          {"seconds", json_of(row.whole_s)},
          {"runs", row.runs}};
}

std::vector<std::string> cells_of(const InformationCase& one, const MeasuredCase& row) {
  return {one.name, row.device ? three_digits(row.device->seconds.median * 1e3) : "",
          three_digits(row.whole_s.median * 1e3), fmt::format("{}", row.runs)};
}

}  // namespace

BenchReport run_information_suite(const BenchRun& run) {
  BenchReport report;
  report.facts = {{"method", "launches and calls"},
                  {"method_text",
                   "device ms: all launches of an estimate, series in device memory; call ms: "
                   "estimate_information() by the steady clock, with a second number of neighbours "
                   "that tells biased estimates; the first call is not counted"}};
  report.table = {{"case", "device ms", "call ms", "calls"}};
  const auto name_of_case = [](const InformationCase& one) { return one.name; };
  measure_rows(run, cases(), name_of_case, report, [&](const InformationCase& one, double limit_s) {
    const MeasuredCase row = measure(run, one, limit_s);
    report.rows.push_back(json_of(run, one, row));
    report.table.push_back(cells_of(one, row));
  });
  return report;
}

}  // namespace kiln::cli
