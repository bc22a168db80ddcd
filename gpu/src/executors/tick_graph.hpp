// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kiln/queue.hpp"

#include "cuda_device.hpp"
#include "stream.hpp"

namespace kiln::cuda {

/// An instantiated graph. Its destructor waits for replays that are under way.
class CudaTickGraph : public TickGraph {
 public:
  /// @param timeout  after which the device counts as lost
  CudaTickGraph(std::shared_ptr<const CudaDevice> device, std::shared_ptr<const Stream> stream,
                cudaGraphExec_t executable, std::size_t nodes, std::chrono::nanoseconds timeout);
  ~CudaTickGraph() override;

  cudaGraphExec_t executable() const noexcept { return executable_; }
  std::int64_t nodes() const noexcept override { return static_cast<std::int64_t>(nodes_); }

 private:
  std::shared_ptr<const CudaDevice> device_;
  std::shared_ptr<const Stream> stream_;
  std::chrono::nanoseconds timeout_;
  cudaGraphExec_t executable_ = nullptr;
  std::size_t nodes_ = 0;
};

}  // namespace kiln::cuda
