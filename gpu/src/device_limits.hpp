// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln {
class Queue;
}

namespace kiln::cuda {

/// The limits of a device for launches; read once for each opened device.
struct DeviceLimits {
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 1;
  std::int64_t shared_bytes = 0;  ///< maximum of a block if its kernel opts in

  bool has_clusters() const { return compute_major >= 9; }
};
const DeviceLimits& limits_of(Queue& queue);

/// Allows `bytes` of dynamic shared memory for a kernel's blocks. Calls the driver only if no
/// earlier launch on this device needed as much. @throws CudaError naming the kernel.
void reserve_shared(Queue& queue, const void* function, std::size_t bytes, const char* kernel);
template <class... Arguments>
void reserve_shared(Queue& queue, void (*function)(Arguments...), std::size_t bytes,
                    const char* kernel) {
  reserve_shared(queue, reinterpret_cast<const void*>(function), bytes, kernel);
}

/// KILN_CUDA_SWEEP_SHAPE as it was when the queue was made, for parse_sweep_shape().
const char* wanted_sweep_shape(Queue& queue);

}  // namespace kiln::cuda
