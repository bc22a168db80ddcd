// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kiln/queue.hpp>

namespace threshold_accepting {

struct DemonSweep;

// The same kernel on each kind of device: the same states, bit for bit.
void demon_sweep_on_cpu(const DemonSweep& kernel, kiln::Queue& queue);
#if defined(WITH_CUDA)
void demon_sweep_on_cuda(const DemonSweep& kernel, kiln::Queue& queue);
#endif

}  // namespace threshold_accepting
