// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/ladder_update.hpp"

#include "launch.hpp"

namespace kiln::cpu {

template <>
void launch(const LadderUpdate& kernel, Queue&) {
  if (!kernel.due()) return;
  const bool moves = kernel.prepare();
  for (std::int64_t rung = 0; rung < kernel.rungs(); ++rung) kernel.place(rung, moves);
  for (std::int64_t i = 0; i < kernel.beta.size; ++i) kernel.spread(i);
  for (std::int64_t rung = 0; rung < kernel.rungs(); ++rung) kernel.reset(rung);
}

}  // namespace kiln::cpu
