// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kiln/cuda/queue.cuh>
#include <kiln/errors.hpp>
#include <string>

#include "kernels.hpp"
#include "launchers.hpp"

namespace cross_entropy {
namespace {

constexpr unsigned all_lanes = ~0u;
constexpr int n_digits = 1 << SelectElite::digit_bits;
constexpr int select_threads = 512, warp_threads = 256;
constexpr int select_warps = select_threads / word_bits;

__device__ int lane_of_thread() { return static_cast<int>(threadIdx.x) % word_bits; }

// The sum over the lanes of a warp, in lane 0.
__device__ std::uint32_t sum_of_warp(std::uint32_t own) {
  for (int step = word_bits / 2; step > 0; step /= 2) {
    own += __shfl_down_sync(all_lanes, own, step);
  }
  return own;
}

// What the threads of a block find together.
struct Shared {
  std::uint32_t count[n_digits];
  std::uint32_t ties_of_warp[select_warps];
  std::uint64_t key;   // of the last replica in the elite, as far as it is found
  std::uint32_t rank;  // of that replica among those with these digits, from 1
};

// One warp: the digit of the replica, from the counts of all digits.
__device__ void choose_digit(Shared& shared, int shift) {
  constexpr int per_lane = n_digits / word_bits;
  const int lane = lane_of_thread(), first = lane * per_lane;
  std::uint32_t own = 0;
  for (int i = 0; i < per_lane; ++i) own += shared.count[first + i];
  std::uint32_t upto = own;  // counts of this lane and those before
  for (int step = 1; step < word_bits; step *= 2) {
    const std::uint32_t other = __shfl_up_sync(all_lanes, upto, step);
    if (lane >= step) upto += other;
  }
  const std::uint32_t rank = shared.rank;
  __syncwarp();
  if (rank > upto || rank <= upto - own) return;
  std::uint32_t left = rank - (upto - own);
  int digit = first;
  while (shared.count[digit] < left) left -= shared.count[digit++];
  shared.rank = left;
  shared.key |= static_cast<std::uint64_t>(digit) << shift;
}

// The key of rank `shared.rank` >= 1 of a population, found digit by digit.
__device__ void find_cut(const SelectElite& kernel, std::int64_t first_slot, Shared& shared) {
  std::uint64_t known = 0;  // bits of the key that are found
  for (int shift = 64 - SelectElite::digit_bits; shift >= 0; shift -= SelectElite::digit_bits) {
    for (int digit = static_cast<int>(threadIdx.x); digit < n_digits; digit += select_threads) {
      shared.count[digit] = 0;
    }
    __syncthreads();
    for (std::int64_t r = threadIdx.x; r < kernel.population_size; r += select_threads) {
      const std::uint64_t key = kernel.key(first_slot + r);
      if ((key & known) == shared.key) {
        atomicAdd(&shared.count[key >> shift & (n_digits - 1)], 1u);
      }
    }
    __syncthreads();
    if (threadIdx.x < word_bits) choose_digit(shared, shift);
    known |= static_cast<std::uint64_t>(n_digits - 1) << shift;
    __syncthreads();
  }
}

// Marks the elite, in tiles of a word for each warp: ties count in the order of the replicas.
__device__ void mark(const SelectElite& kernel, std::int64_t first_slot, bool any, Shared& shared) {
  const int lane = lane_of_thread(), warp = static_cast<int>(threadIdx.x) / word_bits;
  const std::uint64_t cut = shared.key;
  const std::uint32_t wanted = any ? shared.rank : 0;  // of the ties
  std::uint32_t seen = 0;
  for (std::int64_t tile = 0; tile < kernel.population_size; tile += select_threads) {
    const std::int64_t r = tile + threadIdx.x;
    const bool exists = r < kernel.population_size;
    const std::uint64_t key = exists ? kernel.key(first_slot + r) : SelectElite::not_finite;
    const unsigned ties = __ballot_sync(all_lanes, any && key == cut);
    if (lane == 0) shared.ties_of_warp[warp] = static_cast<std::uint32_t>(__popc(ties));
    __syncthreads();
    std::uint32_t before = seen;
    for (int other = 0; other < select_warps; ++other) {
      if (other < warp) before += shared.ties_of_warp[other];
      seen += shared.ties_of_warp[other];
    }
    before += static_cast<std::uint32_t>(__popc(ties & ((1u << lane) - 1)));
    const bool in = (any && key < cut) || ((ties >> lane & 1u) != 0 && before < wanted);
    const unsigned bits = __ballot_sync(all_lanes, in);
    if (lane == 0 && exists) kernel.elite[(first_slot + r) / word_bits] = bits;
    __syncthreads();
  }
}

// A block for each population.
__global__ void __launch_bounds__(select_threads)
    select(const __grid_constant__ SelectElite kernel) {
  if (!kernel.control->active(0)) return;
  __shared__ Shared shared;
  for (std::int64_t at = blockIdx.x; at < kernel.populations.size; at += gridDim.x) {
    const std::int64_t first_slot = at * kernel.population_size;
    if (threadIdx.x == 0) {
      shared.rank = 0;
      shared.key = 0;
    }
    __syncthreads();
    std::uint32_t finite = 0;
    for (std::int64_t r = threadIdx.x; r < kernel.population_size; r += select_threads) {
      finite += kernel.key(first_slot + r) != SelectElite::not_finite ? 1 : 0;
    }
    finite = sum_of_warp(finite);
    if (lane_of_thread() == 0) atomicAdd(&shared.rank, finite);
    __syncthreads();
    const auto wanted = static_cast<std::uint32_t>(kernel.wanted);
    const std::uint32_t elite_size = wanted < shared.rank ? wanted : shared.rank;
    __syncthreads();
    if (threadIdx.x == 0) shared.rank = elite_size;
    __syncthreads();
    if (elite_size > 0) find_cut(kernel, first_slot, shared);
    if (threadIdx.x == 0) {
      const std::uint64_t highest = elite_size > 0 ? shared.key : SelectElite::not_finite;
      kernel.begin_round(kernel.populations[at], elite_size, highest);
    }
    mark(kernel, first_slot, elite_size > 0, shared);
  }
}

// A warp for each variable of each population.
__global__ void __launch_bounds__(warp_threads)
    move(const __grid_constant__ MoveProbabilities kernel) {
  if (!kernel.control->active(0)) return;
  const int lane = lane_of_thread();
  const std::int64_t all = kernel.populations.size * kernel.block.variables;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * blockDim.x / word_bits;
  for (std::int64_t at = thread / word_bits; at < all; at += warps) {
    const std::int64_t population = at / kernel.block.variables;
    const std::int64_t variable = at % kernel.block.variables;
    const std::int64_t first_word = population * kernel.population_words;
    std::uint32_t ones = 0;
    for (std::int64_t w = lane; w < kernel.population_words; w += word_bits) {
      if (kernel.elite[first_word + w] == 0) continue;
      ones += static_cast<std::uint32_t>(__popc(kernel.elite_ones(variable, first_word + w)));
    }
    ones = sum_of_warp(ones);
    // Several warps of a population store the same value.
    if (lane == 0 && kernel.update(population, variable, ones)) {
      atomicExch(&kernel.populations[population].open, 1u);
    }
  }
}

// A warp for four variables of a word of 32 replicas, a lane for each replica.
__global__ void __launch_bounds__(warp_threads) draw(const __grid_constant__ DrawStates kernel) {
  if (!kernel.control->active(0)) return;
  const int lane = lane_of_thread();
  const kiln::StateBlock& block = kernel.block;
  const bool is_packed = block.layout == kiln::Layout::packed32;
  const std::int64_t words = block.words(), all = words * kernel.quads();
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * blockDim.x / word_bits;
  for (std::int64_t at = thread / word_bits; at < all; at += warps) {
    const std::int64_t word = at % words, quad = at / words;
    const std::int64_t slot = word * word_bits + lane;
    const kiln::Words4 drawn =
        kiln::draw_quad(kernel.name_of(slot), static_cast<std::uint32_t>(quad));
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::int64_t variable = quad * 4 + i;
      if (variable >= block.variables) break;
      const bool is_set = drawn[i] < kernel.threshold(word, variable);
      const unsigned bits = __ballot_sync(all_lanes, is_set);
      if (!is_packed) {
        block.set(variable, slot, value_of(block.kind, is_set));
      } else if (lane == 0) {
        block.as<std::uint32_t>()[variable * words + word] = bits;
      }
    }
  }
}

unsigned blocks_for(std::int64_t threads, int per_block) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((threads + per_block - 1) / per_block, 1, 1 << 16));
}

void check(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return;
  throw kiln::CudaError("cuda.launch", std::string(kernel) + ": " + cudaGetErrorString(status));
}

}  // namespace

void select_elite_on_cuda(const SelectElite& kernel, kiln::Queue& queue) {
  const unsigned blocks = blocks_for(kernel.populations.size, 1);
  select<<<blocks, select_threads, 0, kiln::cuda::stream_of(queue)>>>(kernel);
  check(SelectElite::name);
}

void move_probabilities_on_cuda(const MoveProbabilities& kernel, kiln::Queue& queue) {
  const std::int64_t warps = kernel.populations.size * kernel.block.variables;
  const unsigned blocks = blocks_for(warps * word_bits, warp_threads);
  move<<<blocks, warp_threads, 0, kiln::cuda::stream_of(queue)>>>(kernel);
  check(MoveProbabilities::name);
}

void draw_states_on_cuda(const DrawStates& kernel, kiln::Queue& queue) {
  const unsigned blocks =
      blocks_for(kernel.block.words() * kernel.quads() * word_bits, warp_threads);
  draw<<<blocks, warp_threads, 0, kiln::cuda::stream_of(queue)>>>(kernel);
  check(DrawStates::name);
}

}  // namespace cross_entropy
