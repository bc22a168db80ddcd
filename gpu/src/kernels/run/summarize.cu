// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/device/exact_math.hpp"
#include "kiln/kernels/run/summarize.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

constexpr int threads = 1024;

struct Part {  // without initial values, which shared memory cannot have
  double sum, least;
  std::uint64_t accepted, not_finite;
};

__device__ Part combine(const Part& a, const Part& b) {
  return {a.sum + b.sum, b.least < a.least ? b.least : a.least, a.accepted + b.accepted,
          a.not_finite + b.not_finite};
}

// One block, so that no scratch memory and no order of arrival of blocks comes into it: each thread
// adds every 1024th replica, then the threads are added as a balanced tree. The order is fixed,
// hence the mean has the same bits every time. A report point reads 16 bytes per replica:
// microseconds for ten thousands, and it does not run between ticks.
__global__ void __launch_bounds__(threads) reduce(const __grid_constant__ Summarize kernel) {
  __shared__ Part parts[threads];
  const int me = static_cast<int>(threadIdx.x);
  Part mine{0.0, exact::infinity(), 0, 0};
  for (std::int64_t replica = me; replica < kernel.replicas; replica += threads) {
    mine = combine(mine, {kernel.energy[replica], kernel.energy[replica], kernel.accepted[replica],
                          kernel.not_finite[replica]});
  }
  parts[me] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) parts[me] = combine(parts[me], parts[me + half]);
  }
  if (me != 0) return;
  RunSummary& out = kernel.target.slot();
  out.control = *kernel.control;
  out.mean_energy = kernel.replicas > 0 ? parts[0].sum / static_cast<double>(kernel.replicas) : 0.0;
  out.min_energy = parts[0].least;
  out.beta = kernel.beta.size > 0 ? kernel.beta[0] : 0.0;
  out.accepted = parts[0].accepted;
  out.not_finite = parts[0].not_finite;
}

}  // namespace

template <>
void launch(const Summarize& kernel, Queue& queue) {
  reduce<<<1, threads, 0, stream_of(queue)>>>(kernel);
  check_launch(Summarize::name);
}

}  // namespace kiln::cuda
