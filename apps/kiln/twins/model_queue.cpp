// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "twins/model_queue.hpp"

namespace kiln::cli {
namespace {

struct ModelLaunchers {
  template <class Kernel>
  static void launch(const Kernel& kernel, Queue& queue) {
    auto& models = static_cast<ModelQueue&>(queue);
    if constexpr (ReadsModel<Kernel> || SweepsModel<Kernel>) models.keep(kernel);
    models.device().launch(kernel);
  }
  template <class Kernel>
  static constexpr Launcher<Kernel> launcher = &launch<Kernel>;
};

}  // namespace

ModelQueue::ModelQueue(Queue& cpu)
    : ForwardingQueue(kernel_sets_of<ModelLaunchers>(Components{}), cpu) {}

}  // namespace kiln::cli
