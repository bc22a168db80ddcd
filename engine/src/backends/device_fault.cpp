// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/device_fault.hpp"

#include <atomic>
#include <cmath>

namespace kiln {
namespace {

constexpr const char *bug_code = "device.engine_bug", *hardware_code = "device.hardware",
                     *lost_code = "device.lost", *silent_code = "device.no_answer";
constexpr const char* goes_on = "a run with a folder goes on from its last checkpoint";

std::atomic<bool> is_silent{false};

// "600 s", "2.5 s"
std::string seconds_text(double seconds) {
  const auto tenths = std::llround(seconds * 10);
  const std::string rest = tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10);
  return std::to_string(tenths / 10) + rest + " s";
}

}  // namespace

// The numbers of cudaError_t, which never change.
DeviceFault device_fault_of(int error) noexcept {
  switch (error) {
    case 2:  // cudaErrorMemoryAllocation
      return DeviceFault::memory;
    case 46:   // cudaErrorDevicesUnavailable
    case 802:  // cudaErrorSystemNotReady
    case 803:  // cudaErrorSystemDriverMismatch
    case 805:  // cudaErrorMpsConnectionFailed
    case 806:  // cudaErrorMpsRpcFailure
    case 807:  // cudaErrorMpsServerNotReady
    case 808:  // cudaErrorMpsMaxClientsReached
    case 809:  // cudaErrorMpsMaxConnectionsReached
    case 810:  // cudaErrorMpsClientTerminated
      return DeviceFault::busy;
    case 700:  // cudaErrorIllegalAddress
    case 710:  // cudaErrorAssert
    case 714:  // cudaErrorHardwareStackError
    case 715:  // cudaErrorIllegalInstruction
    case 716:  // cudaErrorMisalignedAddress
    case 717:  // cudaErrorInvalidAddressSpace
    case 718:  // cudaErrorInvalidPc
    case 719:  // cudaErrorLaunchFailure
      return DeviceFault::engine_bug;
    case 214:  // cudaErrorECCUncorrectable
    case 220:  // cudaErrorNvlinkUncorrectable
    case 226:  // cudaErrorContained
      return DeviceFault::hardware;
    case 702:  // cudaErrorLaunchTimeout
      return DeviceFault::lost;
    default:
      return DeviceFault::other;
  }
}

bool ends_device(DeviceFault fault) noexcept {
  return fault == DeviceFault::engine_bug || fault == DeviceFault::hardware ||
         fault == DeviceFault::lost;
}

bool ends_device(const Error& error) noexcept {
  return error.code() == bug_code || error.code() == hardware_code || error.code() == lost_code ||
         error.code() == silent_code;
}

void throw_device_fault(int error, const std::string& what) {
  switch (device_fault_of(error)) {
    case DeviceFault::memory:
      throw OutOfDeviceMemory(what, 0, 0, Fix::fewer_replicas());
    case DeviceFault::busy:
      throw NoDevice("device.busy", what, "a device that the system grants to this process",
                     Fix::use_another_gpu());
    case DeviceFault::engine_bug:
      throw CudaError(bug_code, "engine bug: " + what, goes_on,
                      "report this text with the command and the problem");
    case DeviceFault::hardware:
      throw CudaError(hardware_code, "the device reports a defect of its hardware: " + what,
                      goes_on, Fix::use_another_gpu());
    case DeviceFault::lost:
      throw CudaError(lost_code, "the display's watchdog ended a kernel: " + what, goes_on,
                      Fix::use_another_gpu());
    case DeviceFault::other:
      break;
  }
  throw CudaError("device.cuda", what);
}

void throw_no_answer(const std::string& doing, double seconds) {
  note_silent_device();
  throw CudaError(silent_code,
                  "the device has not answered for " + seconds_text(seconds) + ": " + doing,
                  goes_on,
                  Fix("give a device that is only slow more time by KILN_DEVICE_TIMEOUT=1h")
                      .or_else(Fix::use_another_gpu()));
}

bool has_silent_device() noexcept { return is_silent; }
void note_silent_device() noexcept { is_silent = true; }

}  // namespace kiln
