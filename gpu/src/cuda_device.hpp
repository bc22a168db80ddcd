// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "kiln/device_shape.hpp"
#include "kiln/memory/idle_list.hpp"
#include "kiln/tuning/tuned_shapes.hpp"

#include "device_limits.hpp"

namespace kiln::cuda {

struct QueueParts;

/// One device of the process: its primary context and a separate memory pool.
///
/// The pool is not the device's default one, because freed memory must be kept for the next run,
/// and that setting would otherwise change the behaviour of the program around Kiln. The pool
/// returns its memory to the system with the last owner of the device.
class CudaDevice {
 public:
  /// @throws CudaError
  explicit CudaDevice(int ordinal);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  int ordinal() const noexcept { return ordinal_; }
  std::string name() const { return "cuda:" + std::to_string(ordinal_); }
  CUcontext context() const noexcept { return context_; }

  const DeviceLimits& limits() const noexcept { return limits_; }
  const TunedShapes& tuned_shapes() const noexcept { return *shapes_; }
  /// The properties that choices depend on.
  DeviceShape shape() const noexcept;

  /// See kiln::cuda::reserve_shared(). The reservations are lost with the device: the last owner
  /// closes its context, and another context does not have them.
  void reserve_shared(const void* function, std::size_t bytes, const char* kernel) const;

  struct Memory {
    std::uint64_t total = 0;
    std::uint64_t free = 0;  ///< including unused memory of the pool and what queues left
  };
  Memory memory() const;

  /// Allocates memory aligned to 256 bytes at least, as CUDA guarantees for every allocation; work
  /// that is enqueued on `stream` afterwards can use it. @throws OutOfDeviceMemory
  void* allocate(std::size_t bytes, cudaStream_t stream) const;

  /// What queues leave for later ones.
  IdleList<QueueParts>& idle() const noexcept { return *idle_; }
  std::uint64_t idle_bytes() const;
  bool has_idle(std::uint64_t piece, std::uint64_t all) const;
  /// Gives it back to the device, and what the pool does not use.
  void trim() const noexcept;

  /// Marks the device as one that does not answer, for ever: any further call into CUDA could wait
  /// without an end. What it holds is left as it is.
  void lose(std::chrono::nanoseconds waited) const noexcept;
  bool is_lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// @throws CudaError (`device.no_answer`) after lose()
  void require_answers(const char* doing = "a call after that") const {
    if (is_lost()) [[unlikely]]
      refuse_lost(doing);
  }

 private:
  [[noreturn]] void refuse_lost(const char* doing) const;

  int ordinal_;
  CUcontext context_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
  DeviceLimits limits_;
  std::shared_ptr<const TunedShapes> shapes_;
  std::unique_ptr<IdleList<QueueParts>> idle_;
  mutable std::atomic<bool> lost_{false};
  mutable std::atomic<double> silent_s_{0};  // when it was lost
  mutable std::mutex reserving_;
  mutable std::unordered_map<const void*, std::size_t> reserved_;  // by kernel
};

/// Makes a device current for the calling thread as long as it lives.
///
/// Pushes the primary context instead of calling cudaSetDevice twice: setting the thread's former
/// device again would create a context on it, some hundred megabytes, even if the program never
/// used that device.
class CurrentDevice {
 public:
  /// @throws CudaError (`device.no_answer`) for a lost device
  explicit CurrentDevice(const CudaDevice& device);
  /// For destructors: keeps the current context if the device cannot be made current. They leave a
  /// lost device alone.
  CurrentDevice(const CudaDevice& device, std::nothrow_t) noexcept;
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  bool pushed_ = false;
};

}  // namespace kiln::cuda
