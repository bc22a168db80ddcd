// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/named_functor.hpp"

namespace kiln {

/// Densities (kiln/device/density.hpp). kiln/objectives/density_kernels.hpp lists their kernels.
struct DensityFamily {
  static constexpr const char* name = "density";
  /// The member of a kernel that holds its density.
  template <class Kernel>
  static auto& of(Kernel& kernel) {
    return kernel.density;
  }
};

/// A density by value, for which backends have launchers. Passed in kernels like the views that it
/// holds.
using DensityRef = NamedFunctor<DensityFamily>;

}  // namespace kiln
