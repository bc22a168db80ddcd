// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "device_limits.hpp"

#include "cuda_queue.hpp"
#include "tuned.hpp"

namespace kiln::cuda {
namespace {

CudaQueue& cuda_queue(Queue& queue) { return static_cast<CudaQueue&>(queue); }

}  // namespace

const DeviceLimits& limits_of(Queue& queue) { return cuda_queue(queue).device().limits(); }

const TunedShapes& tuned_shapes_of(Queue& queue) {
  return cuda_queue(queue).device().tuned_shapes();
}

void reserve_shared(Queue& queue, const void* function, std::size_t bytes, const char* kernel) {
  cuda_queue(queue).device().reserve_shared(function, bytes, kernel);
}

const char* wanted_sweep_shape(Queue& queue) { return cuda_queue(queue).wanted_sweep_shape(); }

}  // namespace kiln::cuda
