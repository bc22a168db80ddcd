// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// What estimates information between series, and forecasts them.
#define KILN_INFORMATION_KERNELS(KERNEL) \
  KERNEL(ArForecast)                     \
  KERNEL(KalmanStep)

namespace kiln {

KILN_COMPONENT(InformationComponent, "information", KILN_INFORMATION_KERNELS)

}  // namespace kiln
