// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernel_set.hpp"

namespace kiln {

/// Adds the CPU's kernels on the densities and vector functions that come with Kiln.
void add_cpu_functors(KernelSets& sets);
/// The same of CUDA; a part of the module.
void add_cuda_functors(KernelSets& sets);

}  // namespace kiln
