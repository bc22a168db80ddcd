// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "queue_parts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda_check.hpp"

namespace kiln::cuda {
namespace {

// In the order of the stream.
class PoolMemory final : public MemorySource {
 public:
  PoolMemory(const CudaDevice& device, cudaStream_t stream) : device_(device), stream_(stream) {}
  void* take(std::size_t bytes) override { return device_.allocate(bytes, stream_); }
  void give(void* memory, std::size_t) noexcept override {
    static_cast<void>(cudaFreeAsync(memory, stream_));
  }
  void fill(void* memory, std::size_t bytes, unsigned char value) override {
    cuda_check(cudaMemsetAsync(memory, value, bytes, stream_), "fill device memory");
  }

 private:
  const CudaDevice& device_;
  cudaStream_t stream_;
};

class PinnedMemory final : public MemorySource {
 public:
  void* take(std::size_t bytes) override {
    void* memory = nullptr;
    cuda_check(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped), "allocate pinned host memory");
    return memory;
  }
  void give(void* memory, std::size_t) noexcept override {
    static_cast<void>(cudaFreeHost(memory));
  }
  void fill(void* memory, std::size_t bytes, unsigned char value) override {
    std::memset(memory, value, bytes);
  }
};

}  // namespace

LoopParts::LoopParts(const CudaDevice& device, std::shared_ptr<const Stream> on)
    : stream(std::move(on)),
      state(static_cast<LoopState*>(device.allocate(sizeof(LoopState), stream->get()))) {
  cuda_check(cudaMemsetAsync(state, 0, sizeof(LoopState), stream->get()), "begin to count loops");
}

LoopParts::~LoopParts() { static_cast<void>(cudaFreeAsync(state, stream->get())); }

QueueParts::QueueParts(const CudaDevice& device)
    : stream(std::make_shared<const Stream>()),
      arena(std::make_unique<PoolMemory>(device, stream->get())),
      pinned(std::make_unique<PinnedMemory>()) {}

QueueParts::~QueueParts() = default;

}  // namespace kiln::cuda
