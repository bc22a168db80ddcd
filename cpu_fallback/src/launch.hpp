// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cpu_queue.hpp"

namespace kiln::cpu {

/// The CPU twin of a kernel that carries no functor. Each is a specialisation in
/// kernels/<name>.cpp; a missing one is an undefined symbol that names the kernel.
template <class Kernel>
void launch(const Kernel& kernel, Queue& queue);

}  // namespace kiln::cpu
