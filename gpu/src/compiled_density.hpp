// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernel_set.hpp"

namespace kiln::cuda {

/// Adds the kernels of CompiledDensity, which are loaded when the first of them is launched.
void add_compiled_density(KernelSets& sets);

}  // namespace kiln::cuda
