// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// NVML by its symbols alone: a build needs no header of it. Names, signatures and numbers are those
// of the NVML API Reference Guide (NVIDIA, vR580): nvmlReturn_t, nvmlClockType_t,
// nvmlTemperatureSensors_t, and the bits of "clocks event reasons".
#include "hardware/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr int success = 0, function_not_found = 13;  // nvmlReturn_t
constexpr int clock_sm = 1;                          // NVML_CLOCK_SM
constexpr int temperature_gpu = 0;                   // NVML_TEMPERATURE_GPU

// Others tell of a choice (of clocks, or idling) and not of a slowdown.
constexpr std::array<std::pair<std::uint64_t, const char*>, 6> slowdown_bits{{
    {0x04, "power"},              // SwPowerCap
    {0x08, "hardware slowdown"},  // HwSlowdown
    {0x10, "sync boost"},         // SyncBoost
    {0x20, "heat"},               // SwThermalSlowdown
    {0x40, "heat"},               // HwThermalSlowdown
    {0x80, "power brake"},        // HwPowerBrakeSlowdown
}};

using Device = void*;

}  // namespace

struct Nvml::Api {
  void* library = nullptr;
  Device device = nullptr;
  bool initialized = false;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handle_by_pci_bus_id)(const char*, Device*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*total_energy)(Device, unsigned long long*) = nullptr;
  int (*power_usage)(Device, unsigned*) = nullptr;
  int (*clock_info)(Device, int, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*clock_reasons)(Device, unsigned long long*) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;

  Api() = default;
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  ~Api() {
    if (initialized && shutdown != nullptr) static_cast<void>(shutdown());
    if (library != nullptr) dlclose(library);
  }

  template <class Function>
  void look_up(Function& function, const char* name) {
    if (function == nullptr) function = reinterpret_cast<Function>(dlsym(library, name));
  }
  void look_up_all() {
    look_up(init, "nvmlInit_v2");
    look_up(shutdown, "nvmlShutdown");
    look_up(handle_by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
    look_up(error_string, "nvmlErrorString");
    look_up(total_energy, "nvmlDeviceGetTotalEnergyConsumption");
    look_up(power_usage, "nvmlDeviceGetPowerUsage");
    look_up(clock_info, "nvmlDeviceGetClockInfo");
    look_up(temperature, "nvmlDeviceGetTemperature");
    look_up(clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    look_up(clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");  // before driver 535
    look_up(mig_mode, "nvmlDeviceGetMigMode");
  }
  std::string words_of(int status) const {
    if (status == function_not_found) return "the driver has no such function";
    const char* const text = error_string != nullptr ? error_string(status) : nullptr;
    return text != nullptr ? clean(text) : fmt::format("error {}", status);
  }
};

Nvml::Nvml(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id, std::string& complaint,
                                 const std::string& library) {
  auto api = std::make_unique<Api>();
  api->library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (api->library == nullptr) {
    complaint = fmt::format("{} was not found", clean(library));
    return nullptr;
  }
  api->look_up_all();
  if (api->init == nullptr || api->handle_by_pci_bus_id == nullptr) {
    complaint = fmt::format("{} is no NVML of today", clean(library));
    return nullptr;
  }
  int status = api->init();
  api->initialized = status == success;
  if (api->initialized) status = api->handle_by_pci_bus_id(pci_bus_id.c_str(), &api->device);
  if (status != success) {
    complaint = fmt::format("NVML refused GPU {}: {}", clean(pci_bus_id), api->words_of(status));
    return nullptr;
  }
  std::unique_ptr<Nvml> nvml(new Nvml(std::move(api)));
  nvml->note_partition();
  return nvml;
}

void Nvml::note_partition() {
  unsigned now = 0, pending = 0;
  if (api_->mig_mode == nullptr || api_->mig_mode(api_->device, &now, &pending) != success) return;
  if (now == 0) return;
  notes_.emplace_back(
      "the GPU is divided (MIG): energy, power and temperature are of the whole GPU");
}

void Nvml::note(const std::string& quantity, int status) {
  if (!noted_.insert(quantity).second) return;
  notes_.push_back(fmt::format("no {}: {}", quantity, api_->words_of(status)));
}

template <class Value, class Function, class... Arguments>
std::optional<double> Nvml::ask(const char* quantity, Function function, double unit,
                                Arguments... arguments) {
  Value value = 0;
  const int status =
      function == nullptr ? function_not_found : function(api_->device, arguments..., &value);
  if (status == success) return static_cast<double>(value) * unit;
  note(quantity, status);
  return std::nullopt;
}

SensorReading Nvml::read() {
  SensorReading reading;
  reading.energy_j = ask<unsigned long long>("energy counter", api_->total_energy, 1e-3);
  reading.power_w = ask<unsigned>("power", api_->power_usage, 1e-3);
  reading.sm_clock_mhz = ask<unsigned>("clock", api_->clock_info, 1.0, clock_sm);
  reading.temperature_c = ask<unsigned>("temperature", api_->temperature, 1.0, temperature_gpu);
  unsigned long long reasons = 0;
  const int status = api_->clock_reasons == nullptr ? function_not_found
                                                    : api_->clock_reasons(api_->device, &reasons);
  if (status == success) {
    reading.clock_reasons = reasons;
  } else {
    note("reasons of the clock", status);
  }
  return reading;
}

std::vector<std::string> Nvml::slowdowns(std::uint64_t clock_reasons) {
  std::vector<std::string> words;
  for (const auto& [bit, word] : slowdown_bits) {
    const bool known = !words.empty() && words.back() == word;
    if ((clock_reasons & bit) != 0 && !known) words.emplace_back(word);
  }
  return words;
}

}  // namespace kiln::cli
