// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln bench kernels: every kernel of the catalogue, by itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "kiln/kernels/all.hpp"
#include "kiln/kernels/catalog.hpp"

#include "bench/kernel_case.hpp"
#include "bench/suite.hpp"
#include "bench/timing.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

struct NamedCase {
  std::string kernel;
  KernelCase which;
  std::string name() const { return kernel + " " + which.shape; }
};

template <class Kernel>
void add_cases(std::vector<NamedCase>& all, bool quick) {
  std::vector<KernelCase> cases = bench_cases<Kernel>();
  if (quick) cases.erase(cases.begin() + 1, cases.end());
  for (KernelCase& one : cases) all.push_back({Kernel::name, std::move(one)});
}

template <class... Kernels>
std::vector<NamedCase> cases_of(KernelList<Kernels...>, bool quick) {
  std::vector<NamedCase> all;
  (add_cases<Kernels>(all, quick), ...);
  return all;
}

std::vector<NamedCase> selected_cases(const BenchRun& run) {
  std::vector<NamedCase> all = cases_of(KernelCatalog{}, run.options.quick);
  std::vector<std::string> names;
  for (const NamedCase& one : all) names.push_back(one.name());
  std::erase_if(all, [&](const NamedCase& one) { return !run.wants(one.name()); });
  if (all.empty()) refuse_empty_selection(run.options, names);
  return all;
}

/// A row: what was launched, how long it took, and what it is compared with.
struct Measured {
  const NamedCase& one;
  const PreparedKernel& prepared;
  Timing timing;
  double floor_s = 0;

  std::string shape() const {
    if (prepared.replicas == 0) return one.which.shape;
    return fmt::format("{}, {} {}", one.which.shape, prepared.replicas,
                       prepared.replicas == 1 ? "replica" : "replicas");
  }
  double bytes_per_ns() const { return prepared.bytes / (timing.seconds.median * 1e9); }
  double floor_share() const { return floor_s / timing.seconds.median; }
};

Json json_of(const Measured& row) {
  const PreparedKernel& prepared = row.prepared;
  const double seconds = row.timing.seconds.median;
  const auto& gate = row.one.which.gate_us;
  const double attempts_per_ns = prepared.attempts / (seconds * 1e9);
  return {{"kernel", row.one.kernel},
          {"shape", row.one.which.shape},
          {"replicas", prepared.replicas > 0 ? Json(prepared.replicas) : Json(nullptr)},
          {"microseconds", json_of(scaled(row.timing.seconds, 1e6))},
          {"launches_per_batch", row.timing.batch},
          {"bytes", std::llround(prepared.bytes)},
          {"gb_per_s", row.bytes_per_ns()},
          {"floor_microseconds", row.floor_s * 1e6},
          {"floor_share", row.floor_share()},
          {"gate_microseconds", gate ? Json(*gate) : Json(nullptr)},
          {"attempts_per_ns", prepared.attempts > 0 ? Json(attempts_per_ns) : Json(nullptr)},
          {"gradients_per_s",
           prepared.gradients > 0 ? Json(prepared.gradients / seconds) : Json(nullptr)},
          {"points_per_s", prepared.points > 0 ? Json(prepared.points / seconds) : Json(nullptr)}};
}

std::vector<std::string> cells_of(const Measured& row) {
  const Spread us = scaled(row.timing.seconds, 1e6);
  return {row.one.kernel,
          row.shape(),
          three_digits(us.median),
          quartiles_text(us),
          fmt::format("{:.0f}", row.prepared.bytes),
          three_digits(row.bytes_per_ns()),
          fmt::format("{:.0f} %", 100 * row.floor_share())};
}

}  // namespace

BenchReport run_kernels_suite(const BenchRun& run) {
  const std::vector<NamedCase> cases = selected_cases(run);
  const std::unique_ptr<Queue> queue = run.backend.backend->make_queue();
  LaunchTimer timer(*queue);
  BenchContext context(*queue);
  Effort effort;
  effort.limit_s = run.options.time_limit_s / static_cast<double>(cases.size() + 2);

  const LaunchTimer::Floors floors = timer.measure_floors(effort);
  BenchReport report;
  report.first_number = 2;
  report.facts = {{"method", timer.method()},
                  {"method_text", timer.method_text()},
                  {"floors",
                   {{"launch_microseconds", floors.launch_s * 1e6},
                    {"copy_gb_per_s", floors.bytes_per_s * 1e-9}}}};
  report.table = {{"kernel", "shape", "us", "quartiles", "bytes", "GB/s", "floor/time"}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    run.progress.update(i, cases.size(), cases[i].name(), report);
    report.measure(cases[i].name(), [&] {
      const PreparedKernel prepared = cases[i].which.prepare(context);
      const Timing timing = timer.time(prepared.launches, effort);
      const Measured row{cases[i], prepared, timing, floors.of(prepared.bytes)};
      report.rows.push_back(json_of(row));
      report.table.push_back(cells_of(row));
      const auto add_rate = [&](double count, const char* unit) {
        if (count <= 0) return;
        report.notes.push_back(
            fmt::format("{} {}: {} million {} per second", row.one.kernel, row.shape(),
                        three_digits(count / (timing.seconds.median * 1e6)), unit));
      };
      add_rate(prepared.gradients, "gradients");
      add_rate(prepared.points, "points");
    });
  }
  report.notes.push_back(fmt::format("measured as {}; floors: launch {} us, copy {} GB/s",
                                     timer.method_text(), three_digits(floors.launch_s * 1e6),
                                     three_digits(floors.bytes_per_s * 1e-9)));
  return report;
}

}  // namespace kiln::cli
