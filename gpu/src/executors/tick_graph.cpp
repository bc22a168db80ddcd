// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "executors/tick_graph.hpp"

#include <utility>

#include "look_until_done.hpp"

namespace kiln::cuda {
namespace {

// Of waits after which the device has nothing to do: a nap makes them a twentieth longer at most.
constexpr std::chrono::milliseconds long_spin(2);

}  // namespace

CudaTickGraph::CudaTickGraph(std::shared_ptr<const CudaDevice> device,
                             std::shared_ptr<const Stream> stream, cudaGraphExec_t executable,
                             std::size_t nodes, std::chrono::nanoseconds timeout)
    : device_(std::move(device)),
      stream_(std::move(stream)),
      timeout_(timeout),
      executable_(executable),
      nodes_(nodes) {}

CudaTickGraph::~CudaTickGraph() {
  if (device_->is_lost()) return;
  const CurrentDevice current(*device_, std::nothrow);
  // Replays may still be under way; nothing says that destroying would wait for them.
  const cudaError_t status =
      look_until_done(long_spin, timeout_, [this] { return cudaStreamQuery(stream_->get()); });
  if (status == cudaErrorNotReady) {
    device_->lose(timeout_);
    return;
  }
  static_cast<void>(cudaGraphExecDestroy(executable_));
}

}  // namespace kiln::cuda
