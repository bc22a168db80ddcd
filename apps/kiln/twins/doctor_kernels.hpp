// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "errors.hpp"

namespace kiln::cli {

/// What `kiln doctor --kernels` was told.
struct KernelDoctor {
  std::string device = "auto";
  std::string only = {};  ///< kernels whose name contains this
  double limit_s = 300;   ///< no kernel begins after this
  bool json = false;
};

/// Compares every kernel with its twin on the CPU, and prints a row for each; on the CPU itself,
/// all threads with one. @throws NoDevice, NotCompiled, ...; InvalidArgument if no kernel is named
ExitCode run_kernel_doctor(const KernelDoctor& options);

}  // namespace kiln::cli
