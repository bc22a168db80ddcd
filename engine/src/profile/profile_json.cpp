// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_json.hpp"

#include <optional>

namespace kiln {
namespace {

nlohmann::ordered_json value_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

nlohmann::ordered_json profile_json(const Profile& profile) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const KernelTime& kernel : profile.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"launches", kernel.launches},
                       {"time_s", kernel.time_s},
                       {"share", kernel.share},
                       {"bytes", value_or_null(kernel.bytes)},
                       {"floor_s", value_or_null(kernel.floor_s)}});
  }
  return {{"ticks", profile.ticks},
          {"of_ticks", profile.of_ticks},
          {"device_s", profile.device_s},
          {"busy_share", profile.busy_share},
          {"gaps_s", profile.gaps_s},
          {"host_s", profile.host_s},
          {"replayed_ticks", profile.replayed_ticks},
          {"replayed_s", profile.replayed_s},
          {"copy_bytes_per_s", profile.copy_bytes_per_s},
          {"kernels", std::move(kernels)}};
}

nlohmann::ordered_json hardware_json(const HardwareReadings& readings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (readings.energy_j) json["energy_j"] = *readings.energy_j;
  if (const auto& power = readings.power_w) {
    json["power_w"] = {{"mean", power->mean}, {"max", power->max}};
  }
  if (const auto& clock = readings.sm_clock_mhz) {
    json["sm_clock_mhz"] = {{"min", clock->min}, {"mean", clock->mean}, {"max", clock->max}};
  }
  if (readings.temperature_c) json["temperature_c"] = {{"max", readings.temperature_c->max}};
  json["throttled"] = readings.throttled;
  json["notes"] = readings.notes;
  return json;
}

}  // namespace kiln
