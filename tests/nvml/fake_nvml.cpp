// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What Kiln calls of NVML. KILN_FAKE_NVML in the environment says what fails: "no-driver",
// "no-permission", "no-power", "no-energy", "mig". FAKE_OLD: a driver before 535, without an energy
// counter.
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int success = 0, not_supported = 3, no_permission = 4, not_found = 6,
              driver_not_loaded = 9;
bool is(std::string_view what) {
  const char* const text = std::getenv("KILN_FAKE_NVML");
  return text != nullptr && what == text;
}

int device_place = 0;
int opened = 0, powers = 0, clocks = 0, temperatures = 0;
template <class Value, int n>
Value next(const Value (&values)[n], int& at) {
  return values[at++ % n];
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (is("no-driver")) return driver_not_loaded;
  ++opened;
  powers = clocks = temperatures = 0;
  return success;
}
int nvmlShutdown() {
  --opened;
  return success;
}
/// For the test: initialisations that were not shut down.
int fake_nvml_open() { return opened; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  if (is("no-permission")) return no_permission;
  if (std::strcmp(id, "0000:3b:00.0") != 0) return not_found;
  *device = &device_place;
  return success;
}
const char* nvmlErrorString(int status) {
  switch (status) {
    case not_supported:
      return "Not Supported";
    case no_permission:
      return "Insufficient Permissions";
    case not_found:
      return "Not Found";
    case driver_not_loaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (is("no-power") || device != &device_place) return not_supported;
  constexpr unsigned values[] = {300'000, 500'000, 400'000};
  *milliwatts = next(values, powers);
  return success;
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  if (device != &device_place || type != 1) return not_supported;
  constexpr unsigned values[] = {1900, 1980, 1755};
  *mhz = next(values, clocks);
  return success;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  if (device != &device_place || sensor != 0) return not_supported;
  constexpr unsigned values[] = {50, 61, 55};
  *celsius = next(values, temperatures);
  return success;
}
// Idle, power, heat by software and by hardware.
#ifdef FAKE_OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
#else
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  if (is("no-energy") || device != &device_place) return not_supported;
  static unsigned long long total = 7'000'000;  // since long before
  *millijoules = total += 250'000;
  return success;
}
int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* pending) {
  *now = *pending = is("mig") ? 1 : 0;
  return success;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
#endif
  *reasons = 0x01 | 0x04 | 0x20 | 0x40;
  return success;
}

}  // extern "C"
