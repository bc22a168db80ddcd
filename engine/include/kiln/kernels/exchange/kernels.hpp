// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// Ladders of temperatures whose replicas exchange.
#define KILN_EXCHANGE_KERNELS(KERNEL) \
  KERNEL(ReplicaSwap)                 \
  KERNEL(LadderStatistics)            \
  KERNEL(LadderUpdate)                \
  KERNEL(LadderPhase)                 \
  KERNEL(LadderFlush)                 \
  KERNEL(WalkerSwap)                  \
  KERNEL(StateSwap)                   \
  KERNEL(WordSwap)                    \
  KERNEL(LadderTick)

namespace kiln {

KILN_COMPONENT(ExchangeComponent, "exchange", KILN_EXCHANGE_KERNELS)

}  // namespace kiln
