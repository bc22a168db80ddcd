// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/named_functor.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// A functor made for one device, with its memory and the launchers of its family's kernels there.
template <class Family>
class BoundFunctor {
 public:
  virtual ~BoundFunctor() = default;
  BoundFunctor(const BoundFunctor&) = delete;
  BoundFunctor& operator=(const BoundFunctor&) = delete;

  /// Enqueues a kernel of the family. It uses this functor instead of the one in the kernel.
  template <class Kernel>
  void run(const Kernel& kernel, Queue& queue) const {
    kernels_.launch(kernel, functor_, queue);
  }

 protected:
  /// @param kernels  launchers for the type of the functor
  /// @param functor  argument of the launches of `kernels`; lives as long as this object
  BoundFunctor(const FunctorKernels<Family>& kernels, const void* functor)
      : kernels_(kernels), functor_(functor) {}

 private:
  FunctorKernels<Family> kernels_;
  const void* functor_;
};

/// A functor of a type that the backend has: its kernels go through Queue::launch().
template <class Family>
class BoundNamedFunctor : public BoundFunctor<Family> {
 public:
  explicit BoundNamedFunctor(const NamedFunctor<Family>& functor)
      : BoundFunctor<Family>(FunctorKernels<Family>::template from<ThroughQueue>(), &functor_),
        functor_(functor) {}

 private:
  struct ThroughQueue {
    template <class Kernel>
    static void launch(const Kernel& kernel, const void* functor, Queue& queue) {
      Kernel filled = kernel;
      Family::of(filled) = *static_cast<const NamedFunctor<Family>*>(functor);
      queue.launch(filled);
    }
  };
  NamedFunctor<Family> functor_;
};

/// Launchers that bypass Queue::launch(), and count their launches.
template <class Launchers>
struct Counted {
  template <class Kernel>
  static void launch(const Kernel& kernel, const void* functor, Queue& queue) {
    queue.count_launch();
    Launchers::template launch<Kernel>(kernel, functor, queue);
  }
};

/// The launcher of a kernel that carries a functor: the launcher of the functor's type.
template <class Family, class Kernel>
void launch_on_functor(const Kernel& kernel, Queue& queue) {
  const NamedFunctor<Family>& functor = Family::of(kernel);
  queue.kernels()->kernels_on(functor).launch(kernel, functor.functor(), queue);
}

}  // namespace kiln
