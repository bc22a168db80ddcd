// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "cuda_check.hpp"

/// Move-only owners. All belong to the device that is current when they are made. Their destructors
/// ignore errors: an earlier call has reported them.
namespace kiln::cuda {

/// A stream that does not synchronise with the default stream, which other code may be using.
class Stream {
 public:
  Stream() {
    cudaStream_t stream = nullptr;
    cuda_check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream");
    handle_.reset(stream);
  }
  cudaStream_t get() const noexcept { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const noexcept {
      static_cast<void>(cudaStreamDestroy(stream));
    }
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> handle_;
};

/// A mark is only queried for completion; a timed event also carries the device's time.
enum class EventKind { mark, timed };

/// A position in the order of a stream.
class Event {
 public:
  explicit Event(EventKind kind = EventKind::mark) {
    const unsigned flags = kind == EventKind::timed ? cudaEventDefault : cudaEventDisableTiming;
    cudaEvent_t event = nullptr;
    cuda_check(cudaEventCreateWithFlags(&event, flags), "create an event");
    handle_.reset(event);
  }
  cudaEvent_t get() const noexcept { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const noexcept {
      static_cast<void>(cudaEventDestroy(event));
    }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> handle_;
};

/// Page-locked host memory, the only kind that a copy can fill while the host continues.
template <class T>
class PinnedBuffer {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  explicit PinnedBuffer(std::size_t size) {
    void* memory = nullptr;
    cuda_check(cudaHostAlloc(&memory, size * sizeof(T), cudaHostAllocMapped),
               "allocate pinned host memory");
    data_.reset(static_cast<T*>(memory));
  }
  T* data() noexcept { return data_.get(); }
  T& operator[](std::size_t i) noexcept { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const noexcept { static_cast<void>(cudaFreeHost(memory)); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace kiln::cuda
