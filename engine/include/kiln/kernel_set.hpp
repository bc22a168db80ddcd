// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/kernels/component.hpp"
#include "kiln/named_functor.hpp"

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

/// The launchers of one backend for the kernels of a component (KILN_COMPONENT), in the component's
/// order. No entry can be omitted: a kernel without a launcher does not compile or does not link.
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

/// The kernels of a family of functors: `KernelList<...> kernels_of(Family)` lists them.
template <class Family>
using KernelsOf = decltype(kernels_of(Family{}));

namespace detail {
template <class List>
struct FunctorLaunchersOf;
template <class... Kernels>
struct FunctorLaunchersOf<KernelList<Kernels...>> {
  using type = std::tuple<void (*)(const Kernels&, const void*, Queue&)...>;
  template <class Launchers>
  static constexpr type from() {
    return type(&Launchers::template launch<Kernels>...);
  }
};
}  // namespace detail

/// The kernels of a family for one functor type and one backend. None can be omitted.
template <class Family>
class FunctorKernels {
  using Entries = detail::FunctorLaunchersOf<KernelsOf<Family>>;

 public:
  /// @tparam Launchers  has `template <class Kernel> static void launch(const Kernel&, const void*
  ///                    functor, Queue&)`, for each kernel of the family
  template <class Launchers>
  static constexpr FunctorKernels from() {
    return FunctorKernels(Entries::template from<Launchers>());
  }

  /// Enqueues a kernel. It uses `functor` instead of the functor in the kernel.
  template <class Kernel>
  void launch(const Kernel& kernel, const void* functor, Queue& queue) const {
    std::get<void (*)(const Kernel&, const void*, Queue&)>(launchers_)(kernel, functor, queue);
  }

 private:
  explicit constexpr FunctorKernels(const typename Entries::type& launchers)
      : launchers_(launchers) {}
  typename Entries::type launchers_;
};

/// The number of a component within this process, assigned to its name at the first call. Shared
/// libraries that name the same component get the same number. Thread-safe.
KILN_API std::size_t component_number(std::string_view name);

/// The kernels that one backend can launch: the sets of Kiln's components, the kernels of its
/// functors, and those of plug-ins.
class KILN_API KernelSets {
 public:
  /// @throws InvalidArgument if the component's kernels were already added.
  template <class Component>
  void add(const KernelSet<Component>& set) {
    add(component_number(Component::name), Component::name,
        std::make_shared<const KernelSet<Component>>(set));
  }

  /// @throws InvalidArgument if the backend has no kernels of the component that lists `Kernel`.
  template <class Kernel>
  Launcher<Kernel> launcher() const {
    using Component = ComponentOf<Kernel>;
    static const std::size_t number = component_number(Component::name);
    const void* const set = number < sets_.size() ? sets_[number].get() : nullptr;
    if (set == nullptr) refuse(Component::name);
    return static_cast<const KernelSet<Component>*>(set)->template launcher<Kernel>();
  }

  /// Whether there are kernels of the component of this name.
  bool has(std::string_view component) const;

  /// Adds the kernels of a functor type, `Functor::name` within its family.
  /// @throws InvalidArgument if they were already added.
  template <class Functor, class Family>
  void add_functor(const FunctorKernels<Family>& kernels) {
    add(NamedFunctor<Family>::template number_of<Functor>(), Functor::name,
        std::make_shared<const FunctorKernels<Family>>(kernels));
  }

  /// @throws InvalidArgument if the backend has no kernels for the type of the functor.
  template <class Family>
  const FunctorKernels<Family>& kernels_on(const NamedFunctor<Family>& functor) const {
    const std::size_t number = functor.number();
    const void* const set = number < sets_.size() ? sets_[number].get() : nullptr;
    if (set == nullptr) refuse_functor(Family::name, functor.number());
    return *static_cast<const FunctorKernels<Family>*>(set);
  }

 private:
  void add(std::size_t number, const char* name, std::shared_ptr<const void> set);
  [[noreturn]] static void refuse(const char* component);
  [[noreturn]] static void refuse_functor(const char* family, std::uint32_t number);

  // Indexed by component_number() and functor_number(), which never assign the same number.
  std::vector<std::shared_ptr<const void>> sets_;
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
