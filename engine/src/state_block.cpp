// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/state_block.hpp"

#include <string>

#include "kiln/errors.hpp"

namespace kiln {

void StateBlock::require_single_values(const char* kernel) const {
  if (layout != Layout::packed32) return;
  throw InvalidArgument("kernel.packed",
                        std::string("kernel ") + kernel +
                            " writes single values, but a block of kind " + to_string(kind) +
                            " has the layout packed32: 32 replicas share a word",
                        "a layout that stores every value separately",
                        "set Needs::unpacked in the schedule's needs()");
}

}  // namespace kiln
