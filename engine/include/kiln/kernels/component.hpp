// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace kiln {

/// Names of kernels, which need not be defined.
template <class... Kernels>
struct KernelList {
  template <class Kernel>
  static constexpr bool has = (std::is_same_v<Kernel, Kernels> || ...);
};

namespace detail {

template <class First, class... Kernels>
struct AfterFirst {
  using type = KernelList<Kernels...>;
};

template <class... Lists>
struct JoinedKernels;
template <class... Kernels>
struct JoinedKernels<KernelList<Kernels...>> {
  using type = KernelList<Kernels...>;
};
template <class... First, class... Second, class... Rest>
struct JoinedKernels<KernelList<First...>, KernelList<Second...>, Rest...>
    : JoinedKernels<KernelList<First..., Second...>, Rest...> {};

}  // namespace detail

/// Components side by side, with all their kernels.
template <class... Components>
struct ComponentList {
  using Kernels = typename detail::JoinedKernels<typename Components::Kernels...>::type;
};

/// Whether a component lists a kernel.
template <class Kernel>
concept HasComponent = requires {
  component_of(static_cast<const Kernel*>(nullptr));
};

/// The component that lists a kernel.
template <class Kernel>
using ComponentOf = decltype(component_of(static_cast<const Kernel*>(nullptr)));

}  // namespace kiln

/// Declares a component and its kernels, as in kiln/kernels/sweeps/kernels.hpp. KERNELS is a macro
/// that applies its argument to the name of each kernel, one per line. TEXT is the component's
/// name, unique in a process; for Kiln's components it is also the folder of their kernels in
/// kiln/kernels/, both backends, tests, benches and docs. Kernels and component become types of the
/// surrounding namespace.
#define KILN_COMPONENT(TYPE, TEXT, KERNELS)                                           \
  KERNELS(KILN_DECLARE_KERNEL)                                                        \
  struct TYPE {                                                                       \
    static constexpr const char* name = TEXT;                                         \
    using Kernels = ::kiln::detail::AfterFirst<void KERNELS(KILN_NEXT_KERNEL)>::type; \
  };                                                                                  \
  template <class Kernel>                                                             \
  requires(TYPE::Kernels::template has<Kernel>) TYPE component_of(const Kernel*);
#define KILN_DECLARE_KERNEL(KERNEL) struct KERNEL;
#define KILN_NEXT_KERNEL(KERNEL) , KERNEL
