// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/device_fault.hpp"

namespace kiln {
namespace {

constexpr const char *bug_code = "device.engine_bug", *hardware_code = "device.hardware",
                     *lost_code = "device.lost";
constexpr const char* goes_on = "a run with a folder goes on from its last checkpoint";

}  // namespace

// The numbers of cudaError_t, which never change.
DeviceFault device_fault_of(int error) noexcept {
  switch (error) {
    case 2:  // cudaErrorMemoryAllocation
      return DeviceFault::memory;
    case 46:   // cudaErrorDevicesUnavailable
    case 802:  // cudaErrorSystemNotReady
    case 803:  // cudaErrorSystemDriverMismatch
    case 810:  // cudaErrorMpsMaxConnectionsReached
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
  return error.code() == bug_code || error.code() == hardware_code || error.code() == lost_code;
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

}  // namespace kiln
