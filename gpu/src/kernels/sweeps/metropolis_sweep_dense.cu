// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <type_traits>

#include "kiln/cuda/queue.cuh"
#include "kiln/device/rng_domains.hpp"

#include "cuda_check.hpp"
#include "dense_shape.hpp"
#include "device_limits.hpp"
#include "metropolis_sweep_dense.hpp"
#include "metropolis_sweep_warps.hpp"
#include "signs/metropolis_sweep_signs.hpp"
#include "sweep_decision.cuh"

// One block per replica; a thread holds quads of sites with their local fields in registers. All
// threads test their sites at once, the first site in order that accepts is flipped, its row is
// added to the fields, and the sites behind it are tested again: the chain of a sequential sweep,
// where the many attempts that are rejected cost next to nothing.
namespace kiln::cuda {
namespace {

constexpr std::uint32_t none = 0xFFFFFFFFu;

/// The replicas of a launch: all, or those that the sweep by warps has left.
enum class Left { all, marked };

// Local fields are integers of 32 bits, or doubles that hold integers of up to 53 bits exactly.
template <class Weight>
using FieldOf = std::conditional_t<sizeof(Weight) == 8, double, int>;

template <class Weight>
struct Four {
  using Field = FieldOf<Weight>;

  __device__ static void load_weights(const void* matrix, std::int64_t at, Field (&w)[4]) {
    if constexpr (sizeof(Weight) == 1) {
      const char4 x = __ldg(static_cast<const char4*>(matrix) + at);
      w[0] = x.x, w[1] = x.y, w[2] = x.z, w[3] = x.w;
    } else if constexpr (sizeof(Weight) == 2) {
      const short4 x = __ldg(static_cast<const short4*>(matrix) + at);
      w[0] = x.x, w[1] = x.y, w[2] = x.z, w[3] = x.w;
    } else {
      const double2* const from = static_cast<const double2*>(matrix) + 2 * at;
      const double2 x = __ldg(from), y = __ldg(from + 1);
      w[0] = x.x, w[1] = x.y, w[2] = y.x, w[3] = y.y;
    }
  }
  __device__ static void load(const void* fields, std::int64_t at, Field (&f)[4]) {
    if constexpr (sizeof(Weight) == 8) {
      const double2* const from = static_cast<const double2*>(fields) + 2 * at;
      const double2 x = from[0], y = from[1];
      f[0] = x.x, f[1] = x.y, f[2] = y.x, f[3] = y.y;
    } else {
      const int4 x = static_cast<const int4*>(fields)[at];
      f[0] = x.x, f[1] = x.y, f[2] = x.z, f[3] = x.w;
    }
  }
  __device__ static void store(void* fields, std::int64_t at, const Field (&f)[4]) {
    if constexpr (sizeof(Weight) == 8) {
      double2* const to = static_cast<double2*>(fields) + 2 * at;
      to[0] = make_double2(f[0], f[1]);
      to[1] = make_double2(f[2], f[3]);
    } else {
      static_cast<int4*>(fields)[at] = make_int4(f[0], f[1], f[2], f[3]);
    }
  }
};

/// The smallest value of all threads of the block, by two barriers. `shared` has a word per warp.
__device__ inline std::uint32_t block_min(std::uint32_t value, std::uint32_t* shared) {
  const std::uint32_t of_warp = __reduce_min_sync(0xFFFFFFFFu, value);
  const unsigned warps = blockDim.x / 32;
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = of_warp;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t least = __reduce_min_sync(0xFFFFFFFFu, lane < warps ? shared[lane] : none);
  __syncthreads();
  return least;
}

/// A replica in the registers of a block: thread t has the quads t, t + T, t + 2 T, ...
template <class Weight, int Q>
struct Replica {
  const MetropolisSweep& kernel;
  std::int64_t slot;
  std::int32_t n_quads;
  FieldOf<Weight> field[Q][4];
  std::uint32_t bits[Q];     // four bits each, 1: spin -1
  std::uint32_t entered[Q];  // bits at the beginning, as the batch has them

  __device__ std::int32_t quad(int q) const {
    return static_cast<std::int32_t>(threadIdx.x + q * blockDim.x);
  }

  // What the batch says the bits are.
  __device__ std::uint32_t batch_bits(std::int32_t at) const {
    const std::uint32_t* const column = kernel.state.data + slot / 32;
    std::uint32_t four = 0;
    for (int i = 0; i < 4; ++i) {
      const std::int32_t variable = kernel.model.variable[4 * at + i];
      if (variable < 0) continue;
      const std::uint32_t word = column[variable * kernel.state.stride];
      four |= ((word >> (slot % 32)) & 1u) << i;
    }
    return four;
  }

  __device__ void load() {
    const DenseView& dense = kernel.model.dense;
    const bool valid = (dense.valid[slot] & dense_valid) != 0;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const std::int32_t at = quad(q);
      bits[q] = entered[q] = 0;
      if (at >= n_quads) continue;
      entered[q] = batch_bits(at);
      if (valid) {
        Four<Weight>::load(dense.fields, slot * n_quads + at, field[q]);
        bits[q] = dense.bits[slot * n_quads + at];
      } else {  // fields of the state with all bits 0
        for (int i = 0; i < 4; ++i) {
          field[q][i] = static_cast<FieldOf<Weight>>(kernel.model.base[4 * at + i]);
        }
      }
    }
  }

  __device__ void store() const {
    const DenseView& dense = kernel.model.dense;
    std::uint32_t* const column = kernel.state.data + slot / 32;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const std::int32_t at = quad(q);
      if (at >= n_quads) continue;
      Four<Weight>::store(dense.fields, slot * n_quads + at, field[q]);
      dense.bits[slot * n_quads + at] = bits[q];
      const std::uint32_t changed = bits[q] ^ entered[q];
      for (int i = 0; i < 4; ++i) {
        if (((changed >> i) & 1u) == 0) continue;
        // 32 blocks share a word of the batch.
        atomicXor(column + kernel.model.variable[4 * at + i] * kernel.state.stride,
                  1u << (slot % 32));
      }
    }
    if (threadIdx.x == 0) dense.valid[slot] = dense_valid;
  }

  /// Adds the row of a site whose bit has just become `bit`: its spin went from 1 to -1 or back, so
  /// the local fields h + sum J s of the others change by -2 J or 2 J.
  __device__ void add_row(std::int32_t site, bool bit) {
    const FieldOf<Weight> factor = bit ? -2 : 2;
    const std::int64_t row = static_cast<std::int64_t>(site) * n_quads;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const std::int32_t at = quad(q);
      if (at >= n_quads) continue;
      FieldOf<Weight> w[4];
      Four<Weight>::load_weights(kernel.model.dense.matrix, row + at, w);
#pragma unroll
      for (int i = 0; i < 4; ++i) field[q][i] += factor * w[i];
    }
  }
};

template <SweepRule kRule, class Weight, int Q>
__global__ void __launch_bounds__(Q == 8 ? 512 : 256)
    sweep_dense(const __grid_constant__ MetropolisSweep kernel, Left left) {
  using Field = FieldOf<Weight>;
  if (!kernel.control->active(kernel.step_offset)) return;
  if (kernel.rests(blockIdx.x)) return;  // its fields are brought up to date by its next sweep
  if (left == Left::marked && (kernel.model.dense.valid[blockIdx.x] & dense_by_block) == 0) return;
  __shared__ std::uint32_t shared_min[32];
  __shared__ std::uint32_t shared_bit;
  __shared__ double change;  // an integer below 2^53: the order of additions does not matter
  __shared__ std::uint32_t flips;
  Replica<Weight, Q> replica{
      kernel, static_cast<std::int64_t>(blockIdx.x), kernel.model.n_sites / 4, {}, {}, {}};
  const std::int64_t slot = replica.slot;
  if (threadIdx.x == 0) change = 0, flips = 0;
  replica.load();

  // Bring the fields up to date with the batch, one changed bit after the other.
  for (;;) {
    std::uint32_t first = none;
#pragma unroll
    for (int q = Q - 1; q >= 0; --q) {
      const std::uint32_t behind = replica.bits[q] ^ replica.entered[q];
      if (behind != 0) first = 4 * replica.quad(q) + __ffs(static_cast<int>(behind)) - 1;
    }
    const std::uint32_t site = block_min(first, shared_min);
    if (site == none) break;
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      if (static_cast<std::uint32_t>(replica.quad(q)) != site / 4) continue;
      replica.bits[q] ^= 1u << (site % 4);
      shared_bit = (replica.bits[q] >> (site % 4)) & 1u;
    }
    __syncthreads();
    replica.add_row(static_cast<std::int32_t>(site), shared_bit != 0);
  }

  const float beta_log2e = beta_log2e_of(kernel, slot);
  const DrawName name =
      kernel.draw_ids.at(slot, kernel.control->step + kernel.step_offset, RngDomain::metropolis);
  std::conditional_t<sizeof(Field) == 8, double, long long> my_change = 0;
  std::uint32_t my_flips = 0;
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    if (static_cast<std::int32_t>(q * blockDim.x) >= replica.n_quads) break;  // the whole block
    const std::int32_t at = replica.quad(q);
    const bool here = at < replica.n_quads;
    const Words4 words = draw_quad(name, static_cast<std::uint32_t>(at));
    // Sites of this quad that are still to be tried.
    std::uint32_t open = 0;
    for (int i = 0; i < 4; ++i) {
      if (here && kernel.model.variable[4 * at + i] >= 0) open |= 1u << i;
    }
    for (;;) {
      std::uint32_t first = none;
#pragma unroll
      for (int i = 3; i >= 0; --i) {
        if (((open >> i) & 1u) == 0) continue;
        const Field f = replica.field[q][i];
        const Field delta = ((replica.bits[q] >> i) & 1u) != 0 ? 2 * f : -2 * f;
        if (accept<kRule, Field>(kernel, slot, beta_log2e, delta, words.word[i])) {
          first = static_cast<std::uint32_t>(4 * at + i);
        }
      }
      const std::uint32_t site = block_min(first, shared_min);
      if (site == none) break;
      if (static_cast<std::uint32_t>(at) == site / 4) {
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          if (i != site % 4) continue;
          const Field f = replica.field[q][i];
          my_change += ((replica.bits[q] >> i) & 1u) != 0 ? 2 * f : -2 * f;
          replica.bits[q] ^= 1u << i;
          shared_bit = (replica.bits[q] >> i) & 1u;
        }
        ++my_flips;
      }
      __syncthreads();
      replica.add_row(static_cast<std::int32_t>(site), shared_bit != 0);
      // What stands up to the flipped site has had its turn.
      if (static_cast<std::uint32_t>(at) < site / 4) {
        open = 0;
      } else if (static_cast<std::uint32_t>(at) == site / 4) {
        open &= ~((2u << (site % 4)) - 1u);
      }
    }
  }
  if (my_flips > 0) {
    atomicAdd(&change, static_cast<double>(my_change));
    atomicAdd(&flips, my_flips);
  }
  replica.store();
  __syncthreads();
  if (threadIdx.x == 0) {
    kernel.energy[slot] += change;
    if (kernel.accepted) kernel.accepted[slot] += flips;
  }
}

template <SweepRule kRule, class Weight>
bool enqueue(const MetropolisSweep& kernel, Left left, Queue& queue) {
  const std::int32_t quads = kernel.model.n_sites / 4;
  const auto blocks = static_cast<unsigned>(kernel.state.columns * 32);
  int threads = 64;
  while (threads < 256 && threads * 2 < quads) threads *= 2;
  if (quads > 256 * 8) threads = 512;  // then eight quads a thread still fit into registers
  const int per_thread = (quads + threads - 1) / threads;
  const cudaStream_t stream = stream_of(queue);
  if (per_thread <= 1) {
    sweep_dense<kRule, Weight, 1><<<blocks, threads, 0, stream>>>(kernel, left);
  } else if (per_thread <= 2) {
    sweep_dense<kRule, Weight, 2><<<blocks, threads, 0, stream>>>(kernel, left);
  } else if (per_thread <= 4) {
    sweep_dense<kRule, Weight, 4><<<blocks, threads, 0, stream>>>(kernel, left);
  } else if (per_thread <= 8) {
    sweep_dense<kRule, Weight, 8><<<blocks, threads, 0, stream>>>(kernel, left);
  } else {
    return false;
  }
  check_launch(MetropolisSweep::name);
  return true;
}

template <SweepRule kRule>
bool enqueue_rule(const MetropolisSweep& kernel, Left left, Queue& queue) {
  switch (kernel.model.dense.bytes_per_weight) {
    case 1:
      return enqueue<kRule, std::int8_t>(kernel, left, queue);
    case 2:
      return enqueue<kRule, std::int16_t>(kernel, left, queue);
    default:
      return enqueue<kRule, double>(kernel, left, queue);
  }
}

DenseShape shape_of(const MetropolisSweep& kernel, Queue& queue) {
  const DenseDemand demand{kernel.model.n_sites, kernel.state.columns * 32,
                           kernel.model.dense.bytes_per_weight, kernel.model.dense.sign_planes,
                           kernel.rule == SweepRule::heat_bath};
  const std::optional<DenseShape> wanted = parse_dense_shape(wanted_sweep_shape(queue));
  const SweepLimits limits = sweep_limits_of(queue);
  if (wanted && can_sweep(*wanted, demand, limits)) return *wanted;
  return choose_dense_shape(demand, limits);
}

}  // namespace

bool launch_dense_sweep(const MetropolisSweep& kernel, Queue& queue) {
  const DenseView& dense = kernel.model.dense;
  if (dense.matrix == nullptr || dense.fields == nullptr) return false;
  const bool heat_bath = kernel.rule == SweepRule::heat_bath;
  const DenseShape shape = shape_of(kernel, queue);
  Left left = Left::all;
  if (shape.by_signs) {
    launch_sign_sweep(kernel, shape, queue);
    return true;
  }
  if (kernel.sweeps > 1) return false;
  if (shape.by_warps) {
    const bool guarded =
        dense.bytes_per_weight == 1 && kernel.model.arithmetic != Arithmetic::narrow;
    launch_warp_sweep(kernel, shape, guarded, queue);
    if (!guarded) return true;
    left = Left::marked;
  }
  return heat_bath ? enqueue_rule<SweepRule::heat_bath>(kernel, left, queue)
                   : enqueue_rule<SweepRule::metropolis>(kernel, left, queue);
}

}  // namespace kiln::cuda
