// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "kiln/kernels/all.hpp"
#include "kiln/kernels/catalog.hpp"

#include "twins/forwarding_queue.hpp"

namespace kiln::cli {

/// Kernels that read a model, which has tables for the CPU alone and tables for a GPU alone.
template <class Kernel>
concept ReadsModel = requires(Kernel kernel) {
  kernel.model;
};
/// The same of a kernel that has the arguments of a sweep.
template <class Kernel>
concept SweepsModel = requires(Kernel kernel) {
  kernel.sweep.model;
};

/// A queue of the CPU that keeps the arguments of the last launch of each kernel with a model.
class ModelQueue final : public ForwardingQueue {
 public:
  /// @param cpu  outlives this
  explicit ModelQueue(Queue& cpu);

  /// Gives arguments the model of a launch here, whose arrays must still be there. False: there was
  /// none.
  template <class Kernel>
  bool give_model(Kernel& kernel) const {
    const auto kept = arguments_.find(Kernel::name);
    if (kept == arguments_.end()) return false;
    Kernel of = kernel;
    std::memcpy(static_cast<void*>(&of), kept->second.data(), sizeof of);
    if constexpr (ReadsModel<Kernel>) kernel.model = of.model;
    if constexpr (SweepsModel<Kernel>) kernel.sweep.model = of.sweep.model;
    return true;
  }
  template <class Kernel>
  void keep(const Kernel& kernel) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&kernel);
    arguments_[Kernel::name].assign(bytes, bytes + sizeof kernel);
  }

 private:
  std::map<std::string_view, std::vector<std::byte>> arguments_;
};

}  // namespace kiln::cli
