// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/boltzmann_probabilities.hpp"

#include "kernels/grid.cuh"

// Short rows take a thread each, longer ones a block in which thread k forms partial sum k. Which
// one it is follows from the number of columns alone; both have the bits that the header fixes.
namespace kiln::cuda {
namespace {

using Status = BoltzmannStatus;

constexpr int columns_of_a_thread = 32;
constexpr int partials = BoltzmannProbabilities::partials;
static_assert(partials == block_size);

__global__ void __launch_bounds__(block_size)
    row_per_thread(const __grid_constant__ BoltzmannProbabilities kernel) {
  if (!kernel.control->active(kernel.step_offset)) return;
  double weights[columns_of_a_thread];
  double tree[2 * columns_of_a_thread];
  for (std::int64_t row = thread_index(); row < kernel.rows; row += thread_count()) {
    kernel(row, weights, tree);
  }
}

// The least value of a block, for all of its threads. The caller's next barrier must come before
// `of_warps` is used again.
__device__ double min_of_block(double mine, double* of_warps) {
  for (int offset = warp_size / 2; offset > 0; offset /= 2) {
    const double other = __shfl_xor_sync(full_warp, mine, offset);
    mine = other < mine ? other : mine;
  }
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = mine;
  __syncthreads();
  for (int warp = 0; warp < block_size / warp_size; ++warp) {
    mine = of_warps[warp] < mine ? of_warps[warp] : mine;
  }
  return mine;
}

// Adds up the partial sums of the threads. The root, tree[1], is written behind several barriers,
// so it may still be read when this begins; nothing else of the tree may.
__device__ double sum_of_block(double partial, double* tree) {
  const int me = static_cast<int>(threadIdx.x);
  tree[partials + me] = partial;
  for (int m = partials / 2; m > 0; m /= 2) {
    __syncthreads();
    if (me < m) BoltzmannProbabilities::add_pair(tree, m, me);
  }
  __syncthreads();
  return tree[1];
}

// The columns of a thread: held in registers where there are at most kHeld of them, read and
// weighed again in every pass where kHeld is 0.
template <int kHeld>
class Columns {
 public:
  __device__ Columns(const BoltzmannProbabilities& kernel, std::int64_t row)
      : kernel_(kernel), row_(row) {}

  // Calls visit(column, energy) in the order of the columns.
  template <class Visit>
  __device__ void read(Visit visit) {
    if constexpr (kHeld > 0) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        const std::int64_t j = column(i);
        if (j >= kernel_.columns) continue;
        held_[i] = kernel_.energy(row_, j);
        visit(j, held_[i]);
      }
    } else {
      for (std::int64_t j = threadIdx.x; j < kernel_.columns; j += partials) {
        visit(j, kernel_.energy(row_, j));
      }
    }
  }

  // Turns what was read into weights.
  __device__ void weigh(const BoltzmannProbabilities::Row& of) {
    of_ = of;
    if constexpr (kHeld > 0) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        if (column(i) < kernel_.columns) held_[i] = of.weight(held_[i]);
      }
    }
  }

  // Calls visit(column, weight) in the order of the columns, after weigh().
  template <class Visit>
  __device__ void weights(Visit visit) const {
    if constexpr (kHeld > 0) {
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        if (column(i) < kernel_.columns) visit(column(i), held_[i]);
      }
    } else {
      for (std::int64_t j = threadIdx.x; j < kernel_.columns; j += partials) {
        visit(j, of_.weight(kernel_.energy(row_, j)));
      }
    }
  }

 private:
  __device__ static std::int64_t column(int i) {
    return static_cast<std::int64_t>(threadIdx.x) + static_cast<std::int64_t>(i) * partials;
  }

  const BoltzmannProbabilities& kernel_;
  std::int64_t row_;
  BoltzmannProbabilities::Row of_{};
  double held_[kHeld > 0 ? kHeld : 1];
};

// Every thread goes down the tree, which is cheaper than to tell them where it led.
template <int kHeld>
__device__ void draw_column(const BoltzmannProbabilities& kernel, std::int64_t row,
                            const BoltzmannProbabilities::Row& of, const Columns<kHeld>& columns,
                            const double* tree, double* scratch) {
  BoltzmannProbabilities::Draw draw = kernel.descend(row, tree, partials);
  const auto me = static_cast<std::int32_t>(threadIdx.x);
  if constexpr (kHeld > 0) {
    if (me != draw.partial) return;
    columns.weights([&](std::int64_t j, double weight) { draw.look_at(j, weight); });
    kernel.drawn[row] = static_cast<std::int32_t>(draw.column);
  } else {
    // One thread alone would weigh hundreds of columns: the block does, thread 0 looks.
    constexpr std::int64_t at_once = static_cast<std::int64_t>(partials) * partials;
    for (std::int64_t first = draw.partial; first < kernel.columns; first += at_once) {
      const std::int64_t mine = first + static_cast<std::int64_t>(me) * partials;
      scratch[me] = mine < kernel.columns ? of.weight(kernel.energy(row, mine)) : 0.0;
      __syncthreads();
      for (int i = 0; me == 0 && i < partials && !draw.found; ++i) {
        draw.look_at(first + static_cast<std::int64_t>(i) * partials, scratch[i]);
      }
      __syncthreads();
    }
    if (me == 0) kernel.drawn[row] = static_cast<std::int32_t>(draw.column);
  }
}

template <int kHeld>
__device__ void add_moments(const BoltzmannProbabilities& kernel, std::int64_t row,
                            const BoltzmannProbabilities::Row& of, const Columns<kHeld>& columns,
                            double s, double* tree) {
  double partial = 0.0;
  columns.weights([&](std::int64_t j, double weight) {
    const double term = BoltzmannProbabilities::excess_term(of, kernel.energy(row, j), weight);
    partial = exact::add(partial, term);
  });
  const double mean = exact::div(sum_of_block(partial, tree), s);
  partial = 0.0;
  columns.weights([&](std::int64_t j, double weight) {
    const double e = kernel.energy(row, j);
    partial = exact::add(partial, BoltzmannProbabilities::variance_term(of, e, weight, mean));
  });
  const double variance = exact::div(sum_of_block(partial, tree), s);
  if (threadIdx.x == 0) kernel.store_moments(row, of, s, mean, variance);
}

template <int kHeld>
__device__ void block_row(const BoltzmannProbabilities& kernel, std::int64_t row, double* tree,
                          double* scratch) {
  const bool first = threadIdx.x == 0;
  BoltzmannProbabilities::Row of;
  of.beta = kernel.beta_of(row);
  if (!(of.beta >= 0.0)) {  // the same in all threads
    if (first) kernel.store_refused(row, Status::bad_temperature);
    return;
  }
  Columns<kHeld> columns(kernel, row);
  double least = exact::infinity();
  int nan = 0;
  columns.read([&](std::int64_t, double e) {
    nan |= e != e ? 1 : 0;
    least = e < least ? e : least;
  });
  nan = __syncthreads_or(nan);
  of.e0 = min_of_block(least, scratch);
  if (nan != 0 || of.e0 == exact::infinity()) {
    const double p = nan != 0 ? BoltzmannProbabilities::not_a_number : 0.0;
    columns.read([&](std::int64_t j, double) { kernel.store(row, j, p); });
    if (first) kernel.store_refused(row, nan != 0 ? Status::nan_energy : Status::empty_row);
    return;
  }
  of.e0 = exact::add(of.e0, 0.0);  // as in the header: which zero comes first is not to be seen
  columns.weigh(of);
  double partial = 0.0;
  columns.weights([&](std::int64_t, double weight) { partial = exact::add(partial, weight); });
  const double s = sum_of_block(partial, tree);
  // The logarithm is long: another warp than that of the first columns takes it.
  if (threadIdx.x == block_size - warp_size) kernel.store_norm(row, of, s);
  if (kernel.drawn) draw_column<kHeld>(kernel, row, of, columns, tree, scratch);
  if (kernel.probability || kernel.probability_f32) {
    columns.weights(
        [&](std::int64_t j, double weight) { kernel.store(row, j, exact::div(weight, s)); });
  }
  if (kernel.moments) {
    __syncthreads();  // all have gone down the tree
    add_moments<kHeld>(kernel, row, of, columns, s, tree);
  }
}

template <int kHeld>
__global__ void __launch_bounds__(block_size)
    row_per_block(const __grid_constant__ BoltzmannProbabilities kernel) {
  __shared__ double tree[2 * partials];
  __shared__ double scratch[partials];
  if (!kernel.control->active(kernel.step_offset)) return;
  for (std::int64_t row = blockIdx.x; row < kernel.rows; row += gridDim.x) {
    block_row<kHeld>(kernel, row, tree, scratch);
    __syncthreads();  // the next row uses the same memory
  }
}

}  // namespace

template <>
void launch(const BoltzmannProbabilities& kernel, Queue& queue) {
  if (kernel.rows <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  const auto blocks = static_cast<unsigned>(std::min(kernel.rows, filling_blocks));
  if (kernel.columns <= columns_of_a_thread) {
    row_per_thread<<<blocks_for(kernel.rows), block_size, 0, stream>>>(kernel);
  } else if (kernel.columns <= 4 * partials) {
    row_per_block<4><<<blocks, block_size, 0, stream>>>(kernel);
  } else if (kernel.columns <= 16 * partials) {
    row_per_block<16><<<blocks, block_size, 0, stream>>>(kernel);
  } else {
    row_per_block<0><<<blocks, block_size, 0, stream>>>(kernel);
  }
  check_launch(BoltzmannProbabilities::name);
}

}  // namespace kiln::cuda
