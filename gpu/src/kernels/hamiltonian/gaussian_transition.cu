// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/gaussian_transition.hpp"

#include "kernels/grid.cuh"
#include "kernels/linear_algebra/tensor_cores.cuh"
#include "launch.hpp"

// A block has 32 chains from the momentum to the decision: a lane per chain, a warp per worker, and
// P, positions, momenta and gradients in shared memory. The parts see that memory through their
// views.
namespace kiln::cuda {

KILN_GAUSSIAN_TRANSITION_PARTS(KILN_DECLARE_LAUNCHER)

namespace {

constexpr int workers = BatchedArguments::workers;
static_assert(workers * warp_size == block_size);
static_assert(QuadraticEnergy::workers == workers);

// Rows of P and of vectors are a multiple of 16, as slices of matrix_product are, with zeros beyond
// the dimension. Doubles from a row to the next: 4 more than a multiple of 16.
struct ChainMemory {
  int rows;
  double *precision, *proposal, *momentum, *gradient;

  static constexpr int stride = warp_size + 4;
  __host__ __device__ static int rows_of(std::int64_t dimension) {
    return static_cast<int>((dimension + 15) / 16 * 16);
  }
  __host__ __device__ int stride_of_precision() const { return rows + 4; }
  __host__ __device__ ChainMemory(double* memory, std::int64_t dimension)
      : rows(rows_of(dimension)), precision(memory) {
    proposal = precision + rows * stride_of_precision();
    momentum = proposal + rows * stride;
    gradient = momentum + rows * stride;
  }
  static std::int64_t bytes(std::int64_t dimension) {
    const std::int64_t rows = (dimension + 15) / 16 * 16;
    return rows * (rows + 4 + 3 * stride) * static_cast<std::int64_t>(sizeof(double));
  }

  // The slots of this block, whose numbers do not begin at 0.
  __device__ View2<double> view(double* data, const View2<double>& of) const {
    return {data - std::int64_t{blockIdx.x} * warp_size, of.rows, of.columns, stride};
  }
  __device__ void load(const View2<const double>& from) const {
    for (int i = static_cast<int>(threadIdx.x); i < rows * rows; i += block_size) {
      const int r = i / rows, c = i % rows;
      precision[r * stride_of_precision() + c] =
          r < from.rows && c < from.columns ? from(r, c) : 0.0;
    }
    for (int i = static_cast<int>(threadIdx.x); i < 3 * rows * stride; i += block_size) {
      proposal[i] = 0.0;
    }
    __syncthreads();
  }
};

// As detail::run_slots, for the slots of this block.
template <class Kernel>
__device__ void run_part(const Kernel& kernel) {
  __shared__ double parts[workers][warp_size];
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int worker = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t slot = std::int64_t{blockIdx.x} * warp_size + lane;
  const bool there = slot < kernel.slots();
  parts[worker][lane] = there ? kernel.part(slot, worker) : 0.0;
  __syncthreads();
  double total = 0;
  for (int w = 0; w < workers; ++w) total = __dadd_rn(total, parts[w][lane]);
  decltype(kernel.decide(slot, total)) decision{};
  if (there) decision = kernel.decide(slot, total);
  __syncthreads();
  if (there) kernel.finish(slot, worker, decision);
  __syncthreads();
}

// The product with the proposals, in the order of matrix_product: each sum over steps of eight
// columns. A warp makes 16 rows of eight chains at a time.
__device__ void multiply_proposals(const ChainMemory& memory, std::int64_t dimension,
                                   std::int64_t slots, const Epilogue& epilogue,
                                   const View2<double>& to) {
  constexpr int across = warp_size / 8;
  const int lane = static_cast<int>(threadIdx.x) % warp_size, group = lane / 4, place = lane % 4;
  const int tiles = memory.rows / 16 * across;
  for (int tile = static_cast<int>(threadIdx.x) / warp_size; tile < tiles; tile += workers) {
    const int row = tile / across * 16, column = tile % across * 8;
    double sum[4] = {};
    for (int k = 0; k < memory.rows; k += 8) {
      double left[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        left[i] = memory.precision[(row + group + 8 * (i % 2)) * memory.stride_of_precision() + k +
                                   place + 4 * (i / 2)];
      }
      const double* const right = memory.proposal + (k + place) * ChainMemory::stride + column;
      multiply_add(sum, left, right[group], right[4 * ChainMemory::stride + group]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t r = row + group + 8 * (i / 2);
      const std::int64_t slot = std::int64_t{blockIdx.x} * warp_size + column + 2 * place + i % 2;
      if (r < dimension && slot < slots) to(r, slot) = epilogue(sum[i], r, slot);
    }
  }
  __syncthreads();
}

// The leapfrogs of the chain that makes most of them; the others wait as in launches for all.
__device__ std::int32_t leapfrogs_of_block(const GaussianTransition& kernel) {
  const std::int64_t slot = std::int64_t{blockIdx.x} * warp_size + threadIdx.x % warp_size;
  const std::int32_t own = slot < kernel.slots() ? kernel.leapfrogs_of(slot) : 0;
  return max(0, __reduce_max_sync(full_warp, own));
}

__global__ void __launch_bounds__(block_size)
    move_chains(const __grid_constant__ GaussianTransition whole) {
  if (!whole.active()) return;
  extern __shared__ __align__(16) double chain_memory[];
  const std::int64_t n = whole.dimension();
  const ChainMemory memory(chain_memory, n);
  memory.load(whole.precision);
  GaussianTransition kernel = whole;
  kernel.trajectory.proposal = memory.view(memory.proposal, whole.trajectory.proposal);
  kernel.trajectory.momentum = memory.view(memory.momentum, whole.trajectory.momentum);
  kernel.trajectory.gradient = memory.view(memory.gradient, whole.trajectory.gradient);
  const std::int64_t slots = kernel.slots();
  const std::int64_t slot = std::int64_t{blockIdx.x} * warp_size + threadIdx.x % warp_size;
  const int worker = static_cast<int>(threadIdx.x) / warp_size;

  run_part(kernel.part<MomentumRefresh>());  // proposals are positions
  multiply_proposals(memory, n, slots, {}, kernel.chains.gradient);
  run_part(
      kernel.energy_at(kernel.trajectory.proposal, kernel.chains.gradient, kernel.chains.term));
  Leapfrog leapfrog = kernel.part<Leapfrog>();
  const auto move = [&](std::int32_t index) {
    leapfrog.index = index;
    if (slot < slots) {
      for (std::int64_t i = worker; i < n; i += workers) leapfrog.at(slot, i);
    }
    __syncthreads();
  };
  const Epilogue weighted{
      .scale = {kernel.chains.gradient_term_weight.data, kernel.chains.gradient_term_weight.size}};
  const std::int32_t steps = max(1, leapfrogs_of_block(kernel));
  for (std::int32_t i = 0; i < steps; ++i) {
    move(i);
    const bool last = i == steps - 1;
    multiply_proposals(memory, n, slots, last ? Epilogue{} : weighted, kernel.trajectory.gradient);
    if (last) {
      run_part(kernel.energy_at(kernel.trajectory.proposal, kernel.trajectory.gradient,
                                kernel.trajectory.term));
    }
  }
  move(steps);
  run_part(kernel.part<HamiltonianAccept>());
}

}  // namespace

template <>
void launch(const GaussianTransition& kernel, Queue& queue) {
  if (kernel.slots() <= 0 || kernel.dimension() <= 0) return;
  const std::int64_t bytes = ChainMemory::bytes(kernel.dimension());
  constexpr std::int64_t own_bytes = 4096;
  if (kernel.limit < 1 || bytes + own_bytes > limits_of(queue).shared_bytes) {
    return kernel.launch_parts([&](const auto& part) { launch(part, queue); });
  }
  reserve_shared(queue, move_chains, static_cast<std::size_t>(bytes), GaussianTransition::name);
  const auto blocks = static_cast<unsigned>((kernel.slots() + warp_size - 1) / warp_size);
  move_chains<<<blocks, block_size, static_cast<std::size_t>(bytes), stream_of(queue)>>>(kernel);
  check_launch(GaussianTransition::name);
}

}  // namespace kiln::cuda
