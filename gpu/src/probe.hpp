// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace kiln::cuda {

/// Runs an empty kernel on the current device: shows whether this build has code for it.
/// cudaErrorLaunchTimeout if the device does not answer within device_timeout().
cudaError_t run_empty_kernel();

/// The architectures that the module was compiled for: "sm_80, sm_90".
std::string built_architectures();

}  // namespace kiln::cuda
