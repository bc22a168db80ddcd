// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/cuda/queue.cuh"
#include "kiln/device/rng_domains.hpp"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "metropolis_sweep_warps.hpp"
#include "slice_draws.cuh"
#include "warp_attempts.cuh"
#include "warp_fields.cuh"

// One, two or four warps for each replica, with all local fields in registers. The lanes decide the
// 128 sites of a stretch at once, as if none of them flipped. The first site in order that accepts
// is flipped, its row is added to the fields, and the sites behind it are decided again. For each
// site the largest energy change that its word accepts is computed once, so that this costs a
// comparison. Several warps share the fields; all of them take the same decisions.
namespace kiln::cuda {
namespace {

/// What the owner of a stretch hands to the other warps of its replica.
struct Handed {
  FourFields fields;
  std::uint32_t quad_state = 0;
};

/// One replica.
template <class Weight, int S, int W>
struct Replica {
  using Fields = WarpFields<Weight, S, W>;
  using Four = typename Fields::Four;
  const MetropolisSweep& kernel;
  std::int64_t slot;
  const std::uint32_t* words;  // of the batch, by site, that have this replica's bits
  std::uint16_t* quads;        // of this warp, QuadState [S][32]
  Handed (*handed)[32];        // two stretches; null for one warp
  bool guarded, units;
  int warp;  // of the replica
  Fields fields;
  typename Fields::Format::Change half_change = 0;  // of this lane
  int flips = 0;                                    // of the replica
  int turn = 0;                                     // stretches that were handed over

  __device__ int lane() const { return static_cast<int>(threadIdx.x % 32); }
  __device__ const Four* row(int site) const {
    return static_cast<const Four*>(kernel.model.dense.matrix) +
           static_cast<std::int64_t>(site) * fields.n_quads;
  }

  __device__ int4& fields_at(int at) const {  // as they are stored
    return static_cast<int4*>(kernel.model.dense.fields)[slot * fields.n_quads + at];
  }

  /// The state of a quad, whose stored fields are made if there are none yet.
  __device__ QuadState load_quad(int at, bool valid) {
    const int4 variable = __ldg(reinterpret_cast<const int4*>(kernel.model.variable.data) + at);
    const uint4 word = reinterpret_cast<const uint4*>(words)[at];
    const int variables[4] = {variable.x, variable.y, variable.z, variable.w};
    const std::uint32_t four_words[4] = {word.x, word.y, word.z, word.w};
    QuadState quad;
    if (valid) {
      quad.bits = kernel.model.dense.bits[slot * fields.n_quads + at];
    } else {  // fields of the state with all bits 0
      const double* const base = kernel.model.base.data + 4 * at;
      fields_at(at) = make_int4(static_cast<int>(base[0]), static_cast<int>(base[1]),
                                static_cast<int>(base[2]), static_cast<int>(base[3]));
    }
    const int4 stored = fields_at(at);
    const int f[4] = {stored.x, stored.y, stored.z, stored.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (variables[i] >= 0) quad.sites |= 1u << i;
      quad.entered |= (four_words[i] >> (slot % 32) & 1u) << i;
      quad.parity |= static_cast<std::uint32_t>(f[i] & 1) << i;
      fields.overflow |= f[i] < -2 * largest_half_field || f[i] >= 2 * largest_half_field;
    }
    return quad;
  }

  /// Returns whether the batch has changed since the fields were written. What is done once for
  /// each launch waits for its instructions, so only what needs registers is unrolled.
  __device__ bool load() {
    bool behind = false;
    const bool valid = (kernel.model.dense.valid[slot] & dense_valid) != 0;
#pragma unroll 4
    for (int j = 0; j < S; ++j) {
      QuadState quad;
      if (fields.quad(j) < fields.n_quads) quad = load_quad(fields.quad(j), valid);
      quads[j * 32 + lane()] = quad.packed();
      behind |= quad.bits != quad.entered;
    }
#pragma unroll
    for (int j = 0; j < S; ++j) {
      int4 f = {0, 0, 0, 0};
      if (fields.here(j)) f = fields_at(fields.quad(j));
      fields.own[j] = Fields::Own::of_fields(f);
    }
    return any(behind);
  }

  __device__ void store() const {
#pragma unroll
    for (int j = 0; j < S; ++j) {
      if (!fields.here(j)) continue;
      const std::uint32_t parity = QuadState::of(quads[j * 32 + lane()]).parity;
      int f[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        f[i] = 2 * fields.own[j].of(i) + static_cast<int>(parity >> i & 1u);
      }
      fields_at(fields.quad(j)) = make_int4(f[0], f[1], f[2], f[3]);
    }
    std::uint32_t* const column = kernel.state.data + slot / 32;
#pragma unroll 1
    for (int j = 0; j < S; ++j) {
      const int at = fields.quad(j);
      if (at >= fields.n_quads) break;
      const QuadState quad = QuadState::of(quads[j * 32 + lane()]);
      kernel.model.dense.bits[slot * fields.n_quads + at] = quad.bits;
      for (std::uint32_t left = quad.bits ^ quad.entered; left != 0; left &= left - 1) {
        const int site = 4 * at + __ffs(static_cast<int>(left)) - 1;
        // 32 replicas share a word of the batch.
        atomicXor(column + kernel.model.variable[site] * kernel.state.stride, 1u << (slot % 32));
      }
    }
  }

  /// The fields and the state of a stretch, in all warps of the replica.
  __device__ QuadState enter(int stretch, FourFields& active) {
    const bool mine = stretch % W == warp;
    std::uint32_t state = 0;
    if (mine) {
      active = fields.stretch(stretch / W);
      state = quads[stretch / W * 32 + lane()];
    }
    if constexpr (W > 1) {
      Handed& cell = handed[turn++ % 2][lane()];
      if (mine) cell.fields = active, cell.quad_state = state;
      __syncthreads();
      active = cell.fields, state = cell.quad_state;
    }
    return QuadState::of(state);
  }
  __device__ void leave(int stretch, const QuadState& quad) {
    if (stretch % W == warp) quads[stretch / W * 32 + lane()] = quad.packed();
  }

  /// Calls add(row, sign) for the sites of a stretch whose bits have just become `bits`: their
  /// spins went from 1 to -1 or back, so the local fields h + sum J s change by -2 J or 2 J.
  template <class Add>
  __device__ void for_rows(int stretch, std::uint32_t changed, std::uint32_t bits, const Add& add) {
    std::uint32_t lanes = __ballot_sync(whole_warp, changed != 0);
    while (lanes != 0) {
      const int from = __ffs(static_cast<int>(lanes)) - 1;
      lanes &= lanes - 1;
      const std::uint32_t both = __shfl_sync(whole_warp, changed | bits << 4, from);
      const Four* const first_row = row(4 * (32 * stretch + from));
      for (std::uint32_t left = both & 15u; left != 0; left &= left - 1) {
        const int i = __ffs(static_cast<int>(left)) - 1;
        add(first_row + i * fields.n_quads, (both >> 4 >> i & 1u) != 0 ? -1 : 1);
      }
    }
  }
  __device__ void add_rows(int stretch, std::uint32_t changed, std::uint32_t bits) {
    if (__ballot_sync(whole_warp, changed != 0) == 0) return;
    // More sums would not fit into registers beside the fields.
    constexpr bool sums_fit = Fields::in_pairs && S <= 16;
    if (!sums_fit || !units) {
      for_rows(stretch, changed, bits,
               [&](const Four* from, int sign) { fields.add_row(from, sign, guarded); });
      return;
    }
    if constexpr (sums_fit) add_unit_rows(stretch, changed, bits);
  }
  __device__ void add_unit_rows(int stretch, std::uint32_t changed, std::uint32_t bits) {
    std::uint32_t sums[S] = {};
    int rows = 0, net = 0;
    for_rows(stretch, changed, bits, [&](const std::uint32_t* from, int sign) {
      fields.add_to_sums(from, sign, sums);
      net += sign;
      if (++rows < rows_of_sums) return;
      fields.add_sums(net, sums);
#pragma unroll
      for (int j = 0; j < S; ++j) sums[j] = 0;
      rows = net = 0;
    });
    if (rows > 0) fields.add_sums(net, sums);
  }

  /// Brings the fields up to date with the batch.
  __device__ void catch_up(int stretches) {
    for (int t = 0; t < stretches; ++t) {
      FourFields active;
      QuadState quad = enter(t, active);
      add_rows(t, quad.bits ^ quad.entered, quad.entered);
      quad.bits = quad.entered;
      leave(t, quad);
    }
  }

  __device__ void sweep_stretch(int stretch, const Words4& words, const Inverse<Weight>& inverse) {
    FourFields active;
    QuadState quad = enter(stretch, active);
    const std::uint32_t before = quad.bits;
    const Attempts attempts(quad, words, inverse);
    const int at = 32 * stretch + lane();
    std::uint32_t open = quad.sites;
    for (;;) {
      const std::uint32_t some = attempts.candidates(active) & open;
      const std::uint32_t lanes = __ballot_sync(whole_warp, some != 0);
      if (lanes == 0) break;
      const int from = __ffs(static_cast<int>(lanes)) - 1;
      const int i = (__ffs(static_cast<int>(some)) - 1) & 3;
      const std::uint32_t mine = static_cast<std::uint32_t>(i) | (before >> i & 1u) << 2 |
                                 (attempts.unsure >> i & 1u) << 3;
      const std::uint32_t chosen = __shfl_sync(whole_warp, mine, from);
      // What stands up to the chosen site has its turn now.
      if (lane() < from) open = 0;
      if (lane() == from) open &= ~((2u << i) - 1u);
      const int change = attempts.half_change(active, i);
      if ((chosen & 8u) != 0) {
        const bool taken =
            lane() == from && decide_exactly(kernel, slot, change, attempts.words, i);
        if (__ballot_sync(whole_warp, taken) == 0) continue;
      }
      const int site = 4 * (32 * stretch + from) + static_cast<int>(chosen & 3u);
      if (at < fields.n_quads) active.add(__ldg(row(site) + at), (chosen & 4u) != 0 ? 1 : -1);
      if (lane() == from) {
        half_change += change;
        quad.bits ^= 1u << i;
      }
      ++flips;
    }
    add_rows(stretch, quad.bits ^ before, quad.bits);
    leave(stretch, quad);
  }

  /// In all warps of the replica: whether it holds in any lane.
  __device__ static bool any(bool here) {
    if constexpr (W > 1) return __syncthreads_or(here) != 0;
    return __ballot_sync(whole_warp, here) != 0;
  }
  /// Whether any field may have left its 16 bits; then the block kernel makes the sweep.
  __device__ bool gives_up() const {
    if (!guarded || !any(fields.overflow)) return false;
    if (warp == 0 && lane() == 0) kernel.model.dense.valid[slot] |= dense_by_block;
    return true;
  }
};

/// Loads the word of the batch that has the bits of the block's replicas, for each site.
__device__ inline void load_words(const MetropolisSweep& kernel, const std::uint32_t* column,
                                  std::uint32_t* words) {
#pragma unroll 4
  for (int site = static_cast<int>(threadIdx.x); site < kernel.model.n_sites;
       site += static_cast<int>(blockDim.x)) {
    const std::int32_t variable = __ldg(kernel.model.variable.data + site);
    words[site] = variable < 0 ? 0u : column[variable * kernel.state.stride];
  }
}

template <class T>
__device__ T sum_of_warp(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(whole_warp, value, step);
  return value;
}

template <class Weight, int S, int W>
__global__ void __launch_bounds__(W > 1 ? 32 * W : 512, W > 1 ? 16 / W : 1)
    sweep_by_warps(const __grid_constant__ MetropolisSweep kernel, bool guarded, bool units) {
  extern __shared__ __align__(16) std::uint32_t shared_words[];
  __shared__ Handed handed[W > 1 ? 2 : 1][32];  // unused by one warp
  if (!kernel.control->active(kernel.step_offset)) return;
  const int warp_of_block = static_cast<int>(threadIdx.x / 32);
  const int replicas = static_cast<int>(blockDim.x / (32 * W));  // divides 32
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * replicas + warp_of_block / W;
  load_words(kernel, kernel.state.data + slot / 32, shared_words);
  __syncthreads();
  if (kernel.rests(slot)) return;  // its fields are brought up to date by its next sweep
  const int warp = warp_of_block % W, n_quads = kernel.model.n_sites / 4;
  const int lane = static_cast<int>(threadIdx.x % 32);
  auto* const quads = reinterpret_cast<std::uint16_t*>(shared_words + kernel.model.n_sites);
  Replica<Weight, S, W> replica{
      kernel,  slot,  shared_words, quads + warp_of_block * S * 32, handed,
      guarded, units, warp,         {{}, n_quads, 32 * warp + lane}};
  const bool behind = replica.load();
  if (replica.gives_up()) return;
  const int stretches = (n_quads + 31) / 32;
  if (behind) replica.catch_up(stretches);

  const std::uint64_t step = kernel.control->step + kernel.step_offset;
  const std::uint64_t key = kernel.draw_ids.key[slot];
  const StepDraws draws(step);
  const ComputedKeys keys{low_word(key), high_word(key)};
  const std::uint64_t product = draws.of_replica(kernel.draw_ids.replica[slot], key);
  const Inverse<Weight> inverse(beta_log2e_of(kernel, slot));
  for (int t = 0; t < stretches; ++t) {
    const QuadDraws quad(draws, keys, static_cast<std::uint32_t>(32 * t + lane));
    replica.sweep_stretch(t, draw_of(keys, quad, high_word(product), low_word(product)), inverse);
  }
  if constexpr (sizeof(Weight) == 1) replica.fields.settle(guarded);
  if (replica.gives_up()) return;
  replica.store();
  const auto half_change = sum_of_warp(replica.half_change);
  if (warp == 0 && lane == 0) {
    kernel.model.dense.valid[slot] = dense_valid;
    kernel.energy[slot] += 2.0 * static_cast<double>(half_change);
    if (kernel.accepted) kernel.accepted[slot] += static_cast<std::uint32_t>(replica.flips);
  }
}

template <class Weight, int S, int W>
void enqueue(const MetropolisSweep& kernel, const DenseShape& shape, bool guarded, Queue& queue) {
  const std::int64_t slots = kernel.state.columns * 32;
  const auto blocks = static_cast<unsigned>(slots / shape.replicas_per_block);
  const auto threads = static_cast<unsigned>(32 * W * shape.replicas_per_block);
  const GroupView& groups = kernel.model.half_groups;
  const bool units = sizeof(Weight) == 1 && !guarded && groups.sites.size > 0 && groups.one_plane;
  const std::size_t bytes = sizeof(std::uint32_t) * static_cast<std::size_t>(kernel.model.n_sites) +
                            sizeof(std::uint16_t) * S * threads;
  const auto function = sweep_by_warps<Weight, S, W>;
  if (bytes > 32 * 1024) reserve_shared(queue, function, bytes, MetropolisSweep::name);
  function<<<blocks, threads, bytes, stream_of(queue)>>>(kernel, guarded, units);
  check_launch(MetropolisSweep::name);
}

template <class Weight, int W, int S>
void enqueue_sized(const MetropolisSweep& kernel, const DenseShape& shape, bool guarded,
                   int stretches, Queue& queue) {
  if constexpr (S < WarpFormat<Weight>::max_own) {
    if (stretches > S) {
      return enqueue_sized<Weight, W, S + 4>(kernel, shape, guarded, stretches, queue);
    }
  }
  enqueue<Weight, S, W>(kernel, shape, guarded, queue);
}

template <class Weight>
void enqueue_shape(const MetropolisSweep& kernel, const DenseShape& shape, bool guarded,
                   Queue& queue) {
  const int stretches = (kernel.model.n_sites + stretch_sites - 1) / stretch_sites;
  const int of_warp = (stretches + shape.warps - 1) / shape.warps;
  if (shape.warps == 1) {
    enqueue_sized<Weight, 1, 4>(kernel, shape, guarded, of_warp, queue);
  } else if (shape.warps == 2) {
    enqueue_sized<Weight, 2, 4>(kernel, shape, guarded, of_warp, queue);
  } else {
    enqueue_sized<Weight, 4, 4>(kernel, shape, guarded, of_warp, queue);
  }
}

}  // namespace

void launch_warp_sweep(const MetropolisSweep& kernel, const DenseShape& shape, bool guarded,
                       Queue& queue) {
  if (kernel.model.dense.bytes_per_weight == 1) {
    enqueue_shape<std::int8_t>(kernel, shape, guarded, queue);
  } else {
    enqueue_shape<std::int16_t>(kernel, shape, false, queue);
  }
}

}  // namespace kiln::cuda
