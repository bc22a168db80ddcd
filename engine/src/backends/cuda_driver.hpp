// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

/// The driver library, libcuda.so.1, opened without linking to it.
///
/// It is asked before the CUDA runtime is, because the runtime misleads: without any driver it
/// reports that the driver's version is insufficient.
class CudaDriver {
 public:
  /// @throws NoDevice (device.no_driver) if there is no driver library
  CudaDriver();
  /// @throws NoDevice (device.driver_too_old) if the driver is older than the toolkit's major
  /// version
  void require_version(int toolkit_version) const;
  /// At least 1. @throws NoDevice (device.none and others) saying why no device is there
  int device_count() const;

 private:
  std::string error_text(int code) const;
  void* library_;
};

/// Turns an error code of CUDA (driver and runtime share these numbers) that keeps a device from
/// being opened into a NoDevice that says what to do.
///
/// @param device what was to be opened: "cuda:0", or "the CUDA driver".
/// @param detail what CUDA says, as text.
[[noreturn]] void refuse_cuda(int code, const std::string& device, const std::string& detail);

}  // namespace kiln
