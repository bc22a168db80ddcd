// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kiln/queue.hpp"

#include "bench/kernel_case.hpp"
#include "twins/twin_queue.hpp"

namespace kiln::cli {

/// What came of the comparison of a kernel on two devices.
enum class TwinVerdict : std::uint8_t {
  equal,     ///< the same bits
  close,     ///< within what the class of the kernel allows
  differs,   ///< beyond that
  failed,    ///< a launch ended with an error
  no_result  ///< the kernel was not launched here, or wrote nothing
};

/// The word of the table and of JSON documents: "equal", "close", "DIFFERS", "FAILED", "no result".
const char* to_string(TwinVerdict verdict) noexcept;

struct KernelCheck {
  std::string kernel, accuracy, shape;
  TwinVerdict verdict = TwinVerdict::no_result;
  std::uint64_t written = 0;   ///< words of 8 bytes that the device changed
  Difference difference = {};  ///< over all launches
  std::string complaint = {};  ///< of the error, where it failed
};

/// A kernel of the catalogue, and how to launch it: by the cases of its benchmark.
struct CheckedKernel {
  std::string name, accuracy;
  std::vector<KernelCase> (*cases)();
};

/// All kernels whose name contains a text, in the order of the catalogue.
std::vector<CheckedKernel> kernels_to_check(const std::string& only);

/// Whether a difference is within the class of a kernel.
TwinVerdict judge(const std::string& accuracy, std::uint64_t written, const Difference& difference);

/// The check of a kernel whose launch ended with an error.
KernelCheck failed_check(const CheckedKernel& kernel, const std::string& complaint);

/// Launches a kernel on both devices and compares all memory that it can reach.
/// @param which  one of its cases; in the other form the first
/// @param device, cpu  outlive the call
/// @throws CudaError if the device is lost for this process
KernelCheck check_kernel(const CheckedKernel& kernel, const KernelCase& which, Queue& device,
                         Queue& cpu);
KernelCheck check_kernel(const CheckedKernel& kernel, Queue& device, Queue& cpu);

}  // namespace kiln::cli
