// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/component.hpp"

namespace kiln {

class Queue;

/// Enqueues a kernel on a queue of one backend.
template <class Kernel>
using Launcher = void (*)(const Kernel&, Queue&);

namespace detail {
template <class List>
struct LaunchersOf;
template <class... Kernels>
struct LaunchersOf<KernelList<Kernels...>> {
  using type = std::tuple<Launcher<Kernels>...>;
};
}  // namespace detail

/// The launchers of one backend for the kernels of a component (KILN_COMPONENT), in their order.
/// No entry can be left out: a kernel without a launcher does not compile, or does not link.
template <class Component>
class KernelSet {
 public:
  using Launchers = typename detail::LaunchersOf<typename Component::Kernels>::type;

  /// A launcher for each kernel, in the component's order.
  template <class... L>
  requires std::is_constructible_v<Launchers, L...>
  explicit constexpr KernelSet(L... launchers) : launchers_(launchers...) {}

  template <class Kernel>
  constexpr Launcher<Kernel> launcher() const {
    return std::get<Launcher<Kernel>>(launchers_);
  }

 private:
  Launchers launchers_;
};

/// The number of a component within this process, given to its name at the first call. Shared
/// libraries that name the same component get the same number. Safe to call from any thread.
KILN_API std::size_t component_number(std::string_view name);

/// The kernel sets of one backend: those of Kiln's components, and those that plug-ins add.
class KILN_API KernelSets {
 public:
  /// @throws InvalidArgument if the component's kernels are there already.
  template <class Component>
  void add(const KernelSet<Component>& set) {
    add(Component::name, std::make_shared<const KernelSet<Component>>(set));
  }

  /// @throws InvalidArgument if there are no kernels of the component that lists `Kernel`.
  template <class Kernel>
  Launcher<Kernel> launcher() const {
    using Component = ComponentOf<Kernel>;
    static const std::size_t number = component_number(Component::name);
    const void* const set = number < sets_.size() ? sets_[number].get() : nullptr;
    if (set == nullptr) refuse(Component::name);
    return static_cast<const KernelSet<Component>*>(set)->template launcher<Kernel>();
  }

 private:
  void add(const char* component, std::shared_ptr<const void> set);
  [[noreturn]] static void refuse(const char* component);

  std::vector<std::shared_ptr<const void>> sets_;  // by component_number()
};

namespace detail {
template <class Backend, class Component, class... Kernels>
void add_kernels_of(KernelSets& sets, KernelList<Kernels...>) {
  sets.add(KernelSet<Component>(Backend::template launcher<Kernels>...));
}
}  // namespace detail

/// The kernel sets of components on one backend.
/// @tparam Backend  has `launcher<Kernel>`, a static constant, for each kernel
template <class Backend, class... Components>
KernelSets kernel_sets_of(ComponentList<Components...>) {
  KernelSets sets;
  (detail::add_kernels_of<Backend, Components>(sets, typename Components::Kernels{}), ...);
  return sets;
}

}  // namespace kiln
