// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/named_functor.hpp"

namespace kiln {

/// Vector functions (kiln/device/vector_function.hpp).
/// kiln/objectives/vector_function_kernels.hpp lists their kernels.
struct VectorFunctionFamily {
  static constexpr const char* name = "vector function";
  /// The member of a kernel that holds its function.
  template <class Kernel>
  static auto& of(Kernel& kernel) {
    return kernel.function;
  }
};

/// A vector function by value, for which backends have launchers.
using VectorFunctionRef = NamedFunctor<VectorFunctionFamily>;

}  // namespace kiln
