// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// What a failed call into CUDA means for a run.
enum class DeviceFault : std::uint8_t {
  other,
  memory,      ///< there is none left; the device is as before
  busy,        ///< the system or its daemon does not grant the device
  engine_bug,  ///< a kernel of Kiln did something wrong
  hardware,    ///< the device or its links report a defect
  lost,        ///< the display's watchdog ended a kernel
};

/// @param error  number of a cudaError_t
KILN_API DeviceFault device_fault_of(int error) noexcept;

/// Whether no further call into CUDA of this process can succeed.
KILN_API bool ends_device(DeviceFault fault) noexcept;
/// The same of an error that throw_device_fault() or throw_no_answer() has thrown.
KILN_API bool ends_device(const Error& error) noexcept;

/// Throws what a failed call means: OutOfDeviceMemory, NoDevice (`device.busy`), or CudaError
/// (`device.engine_bug`, `device.hardware`, `device.lost`, `device.cuda`).
/// @param error  number of a cudaError_t
/// @param what  the call and the driver's own text
[[noreturn]] KILN_API void throw_device_fault(int error, const std::string& what);

/// Throws CudaError (`device.no_answer`): a wait for the device has lasted for device_timeout().
/// @param doing  what the host waited for
/// @param seconds  how long it has waited
[[noreturn]] KILN_API void throw_no_answer(const std::string& doing, double seconds);

/// Whether a device of this process has not answered: throw_no_answer() or note_silent_device() was
/// called. What the driver does when a process ends by exit() may then wait for the device, too:
/// leave such a process by _exit().
KILN_API bool has_silent_device() noexcept;
/// For destructors, which cannot throw.
KILN_API void note_silent_device() noexcept;

}  // namespace kiln
