// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// What columns of numbers say of each other, and what they will be.
#define KILN_INFORMATION_KERNELS(KERNEL) \
  KERNEL(SortedOrders)                   \
  KERNEL(Surrogates)                     \
  KERNEL(DelayEmbedding)                 \
  KERNEL(KsgNeighbors)                   \
  KERNEL(KsgCounts)                      \
  KERNEL(JointHistogram)                 \
  KERNEL(ArForecast)                     \
  KERNEL(KalmanStep)

namespace kiln {

KILN_COMPONENT(InformationComponent, "information", KILN_INFORMATION_KERNELS)

}  // namespace kiln
