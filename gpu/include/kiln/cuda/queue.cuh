// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "kiln/queue.hpp"

namespace kiln::cuda {

/// The stream that a queue of the CUDA backend stands for; null for a queue of another backend.
///
/// Work put on it is ordered with everything that Kiln enqueues, also while a tick is captured. The
/// queue keeps the stream; it must not be destroyed, and not waited for inside a tick.
inline cudaStream_t stream_of(kiln::Queue& queue) {
  return static_cast<cudaStream_t>(queue.native_handle());
}

}  // namespace kiln::cuda
