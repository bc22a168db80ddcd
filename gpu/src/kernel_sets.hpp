// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernel_set.hpp"

namespace kiln::cuda {

/// The kernels of Kiln's components on this backend, for queues of type CudaQueue only.
KernelSets cuda_kernel_sets();

}  // namespace kiln::cuda
