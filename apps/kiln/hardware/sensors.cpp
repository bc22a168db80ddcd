// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "hardware/sensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kiln::cli {
namespace {

constexpr double between_readings_s = 1;

}  // namespace

void Sensors::Range::add(const std::optional<double>& value) {
  if (!value) return;
  values.min = count == 0 ? *value : std::min(values.min, *value);
  values.max = count == 0 ? *value : std::max(values.max, *value);
  ++count;
  values.mean += (*value - values.mean) / count;
}

std::optional<ReadingRange> Sensors::Range::get() const {
  return count > 0 ? std::optional(values) : std::nullopt;
}

Sensors::Sensors(const std::string& pci_bus_id, const std::string& library) {
  if (!pci_bus_id.empty()) nvml_ = Nvml::open(pci_bus_id, complaint_, library);
}

void Sensors::update(double time_s) {
  if (time_s - last_s_ >= between_readings_s) read(time_s);
}

void Sensors::read(double time_s) {
  if (!nvml_) return;
  const SensorReading now = nvml_->read();
  if (!first_energy_j_) first_energy_j_ = now.energy_j;
  if (now.energy_j) last_energy_j_ = now.energy_j;
  if (now.power_w && last_power_w_) {
    integral_j_ += (time_s - last_s_) * (*now.power_w + *last_power_w_) / 2;
  }
  last_power_w_ = now.power_w;
  last_s_ = time_s;
  power_w_.add(now.power_w);
  sm_clock_mhz_.add(now.sm_clock_mhz);
  temperature_c_.add(now.temperature_c);
  last_reasons_ = now.clock_reasons.value_or(0);
  reasons_ |= last_reasons_;
}

std::shared_ptr<const HardwareReadings> Sensors::finish(double time_s) {
  if (!nvml_) return nullptr;
  read(time_s);
  auto all = std::make_shared<HardwareReadings>();
  all->power_w = power_w_.get();
  all->sm_clock_mhz = sm_clock_mhz_.get();
  all->temperature_c = temperature_c_.get();
  if (first_energy_j_) {
    all->energy_j = *last_energy_j_ - *first_energy_j_;
  } else if (all->power_w) {
    all->energy_j = integral_j_;
  }
  all->throttled = Nvml::slowdowns(reasons_);
  all->notes = nvml_->notes();
  return all;
}

std::string hardware_text(const HardwareReadings& readings) {
  std::vector<std::string> parts;
  if (readings.energy_j) parts.push_back(fmt::format("{:.4g} J", *readings.energy_j));
  if (const auto& power = readings.power_w) {
    parts.push_back(fmt::format("power {:.0f} W, at most {:.0f} W", power->mean, power->max));
  }
  if (const auto& clock = readings.sm_clock_mhz) {
    parts.push_back(fmt::format("SM clock {:.0f} .. {:.0f} MHz", clock->min, clock->max));
  }
  if (const auto& heat = readings.temperature_c) {
    parts.push_back(fmt::format("at most {:.0f} C", heat->max));
  }
  if (!readings.throttled.empty()) {
    parts.push_back(fmt::format("slowed down by {}", fmt::join(readings.throttled, ", ")));
  }
  for (const std::string& note : readings.notes) parts.push_back(note);
  return fmt::format("hardware     {}\n", fmt::join(parts, "   "));
}

}  // namespace kiln::cli
