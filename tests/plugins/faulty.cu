// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <kiln/cuda/queue.cuh>

#include "faulty.hpp"
#include "stand_still.hpp"

namespace kiln::test {
namespace {

/// @param endless  the tick that never ends; 0: none
__global__ void count_one(CountTicks kernel, double endless) {
  kernel.count[0] += 1;
  const volatile double* const count = &kernel.count[0];
  while (*count == endless) __nanosleep(1000);
}

// A kernel cannot make a file: the process that makes the first launch makes it.
double endless_tick() {
  static const double tick = [] {
    const char* const text = std::getenv("KILN_FAULT_TICK");
    return text != nullptr && is_first() ? std::atof(text) : 0;
  }();
  return tick;
}

}  // namespace

void count_on_cuda(const CountTicks& kernel, Queue& queue) {
  count_one<<<1, 1, 0, cuda::stream_of(queue)>>>(kernel, endless_tick());
}

}  // namespace kiln::test
