// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/telemetry_options.hpp"

#include "cli/option_values.hpp"

namespace kiln::cli {
namespace {

void require_folder(const CommandOptions& options, const std::string& name) {
  if (options.has("output")) return;
  throw InvalidArgument("cli.telemetry", "--" + name + " needs a run folder",
                        "it writes into the folder of the run", "-o out/run");
}

}  // namespace

ReadOption telemetry_level() {
  return one_of<TelemetryLevel>({{"off", TelemetryLevel::off},
                                 {"summary", TelemetryLevel::summary},
                                 {"groups", TelemetryLevel::groups},
                                 {"replicas", TelemetryLevel::replicas}},
                                "summary");
}

void fill_telemetry(CommandOptions& options) {
  constexpr std::uint64_t detailed_budget = std::uint64_t{256} << 20;
  TelemetryOptions& telemetry = options.run.telemetry;
  const TelemetryLevel usual =
      options.has("output") ? TelemetryLevel::summary : TelemetryLevel::off;
  telemetry.level = options.value<TelemetryLevel>("telemetry").value_or(usual);
  if (telemetry.level > TelemetryLevel::summary) telemetry.budget_bytes = detailed_budget;
  if (const auto budget = options.value<std::int64_t>("telemetry-budget")) {
    telemetry.budget_bytes = static_cast<std::uint64_t>(*budget);
  }
  telemetry.interval =
      static_cast<std::int32_t>(options.value<std::int64_t>("telemetry-interval").value_or(0));
  if (telemetry.interval > 0) require_folder(options, "telemetry-interval");
  if (telemetry.level != TelemetryLevel::off) require_folder(options, "telemetry");
  if (options.has("incumbent-solutions")) require_folder(options, "incumbent-solutions");
}

}  // namespace kiln::cli
