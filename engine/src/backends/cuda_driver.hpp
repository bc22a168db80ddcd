// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

/// The driver library, libcuda.so.1, opened without linking to it.
///
/// Kiln queries it before the CUDA runtime, because the runtime misleads: without any driver it
/// reports that the driver's version is insufficient.
class CudaDriver {
 public:
  /// @throws NoDevice (device.no_driver) if there is no driver library
  CudaDriver();
  /// @throws NoDevice (device.driver_too_old) if the driver is older than the toolkit's major
  /// version
  void require_version(int toolkit_version) const;
  /// At least 1. @throws NoDevice (device.none and others) with the reason if there is none
  int device_count() const;

 private:
  std::string error_text(int code) const;
  void* library_;
};

/// Turns an error code of CUDA (driver and runtime share these numbers) that prevents opening a
/// device into a NoDevice with a remedy.
///
/// @param device the device to open: "cuda:0", or "the CUDA driver".
/// @param detail CUDA's text.
[[noreturn]] void refuse_cuda(int code, const std::string& device, const std::string& detail);

}  // namespace kiln
