// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/kernels/component.hpp"

// What describes a function on a grid of two dimensions, seen as an image.
#define KILN_LANDSCAPE_KERNELS(KERNEL) \
  KERNEL(SublevelPersistence)          \
  KERNEL(LocalEntropy)

namespace kiln {

KILN_COMPONENT(LandscapeComponent, "landscape", KILN_LANDSCAPE_KERNELS)

}  // namespace kiln
