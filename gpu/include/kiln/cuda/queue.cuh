// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "kiln/queue.hpp"

namespace kiln::cuda {

/// The stream of a queue of the CUDA backend; null for a queue of another backend.
///
/// Work on the stream is ordered with all work that Kiln enqueues, also while a tick is captured.
/// The queue owns the stream; do not destroy it, and do not wait for it inside a tick.
inline cudaStream_t stream_of(kiln::Queue& queue) {
  return static_cast<cudaStream_t>(queue.native_handle());
}

}  // namespace kiln::cuda
