// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_exchange.hpp"

#include <algorithm>
#include <bit>

#include "kiln/telemetry/options.hpp"
#include "kiln/telemetry/record.hpp"

#include "output/text.hpp"

namespace kiln::cli {

Exchange exchange_of(const RunFiles& files) {
  Exchange exchange;
  const auto parameter = [&](const char* name) {
    return text_at(files.run, {"schedule", "parameters", name}).value_or("");
  };
  exchange.is_off = parameter("cadence") == "stochastic" &&
                    number_in(parameter("swap_probability")).value_or(1) == 0;
  const nlohmann::json& gaps = member_at(files.result, {"series", "acceptance"});
  for (const nlohmann::json& gap : gaps) {
    if (!gap.is_number()) continue;
    const double acceptance = gap.get<double>();
    exchange.min_acceptance = std::min(acceptance, exchange.min_acceptance.value_or(1));
  }
  exchange.round_trips = number_at(files.result, {"diagnostics", "round_trips"}).value_or(0);
  return exchange;
}

Recording recording_of(const TelemetryHeader& header, const ReplicaSeries& series,
                       std::int64_t burn_in, std::int64_t epochs) {
  Recording recording;
  recording.sweeps_per_tick = static_cast<std::int64_t>(header.sweeps_per_tick);
  recording.min_apart = series.min_apart;
  // A third of the first epochs is left out, and half of the budget is for them.
  const std::int64_t apart = std::max<std::int64_t>(1, series.min_apart);
  const std::int64_t needed = std::max(burn_in / apart + epochs, epochs + epochs / 2);
  recording.enough_bytes =
      static_cast<std::int64_t>(2 * std::bit_ceil(static_cast<std::uint64_t>(needed)) *
                                    header.records_per_epoch * sizeof(TelemetryRecord) +
                                sizeof(TelemetryHeader));
  return recording;
}

}  // namespace kiln::cli
