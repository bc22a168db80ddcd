// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "kiln/objectives/density_kernels.hpp"
#include "kiln/objectives/vector_function_kernels.hpp"

namespace kiln {

/// Whether a kernel carries a functor. Backends then launch it with launch_functor() and have no
/// separate launcher for it.
template <class Kernel>
inline constexpr bool carries_functor =
    DensityKernelList::has<Kernel> || VectorFunctionKernelList::has<Kernel>;

/// Launches a kernel for the functor that it carries.
/// @throws InvalidArgument if the backend has no kernels for its type (Backend::add_functor).
template <class Kernel>
void launch_functor(const Kernel& kernel, Queue& queue) {
  using Family =
      std::conditional_t<DensityKernelList::has<Kernel>, DensityFamily, VectorFunctionFamily>;
  launch_on_functor<Family>(kernel, queue);
}

}  // namespace kiln
