// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/queue.hpp"

namespace kiln::test {

struct CountTicks;

/// Whether this process is the first of all with this KILN_FAULT_MARK; makes the file.
bool is_first();

/// On a GPU it fails by a kernel that never ends, whatever KILN_FAULT says.
void count_on_cuda(const CountTicks& kernel, Queue& queue);

}  // namespace kiln::test
