// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernel_table.hpp"

namespace kiln::cuda {

/// The launchers of this backend, for queues of type CudaQueue only.
const KernelTable& cuda_kernel_table();

}  // namespace kiln::cuda
