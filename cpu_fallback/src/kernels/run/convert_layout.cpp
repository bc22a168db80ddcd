// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/run/convert_layout.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const ConvertLayout& kernel, Queue& queue) {
  const StateBlock& to = kernel.to;
  pool_of(queue).for_each(to.variables, [&](std::int64_t variable) {
    if (to.layout == Layout::packed32) {
      for (std::int64_t word = 0; word < to.words(); ++word) {
        to.as<std::uint32_t>()[variable * to.words() + word] = kernel.pack(variable, word);
      }
    } else {
      for (std::int64_t slot = 0; slot < to.slots; ++slot) {
        to.set(variable, slot, kernel.from.get(variable, slot));
      }
    }
  });
}

}  // namespace kiln::cpu
