// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "kiln/cuda/queue.cuh"
#include "kiln/device/rng_domains.hpp"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "launch.hpp"
#include "metropolis_sweep_slices.hpp"
#include "slice_draws.cuh"
#include "slice_planes.cuh"
#include "sweep_decision.cuh"
#include "sweep_shape.hpp"

// A block holds W words (32 W replicas) of all variables. A warp takes 8 / W quads of a class at a
// time, 32 places: lane 8 i + W q + w first counts the neighbours of site i of quad q for the 32
// replicas of word w, all at once, in planes. A transpose then makes each lane one replica of every
// word, which decides 32 attempts with its own words and a table of thresholds by temperature and
// energy change. A second transpose brings the flips back to their sites.
namespace kiln::cuda {
namespace {

constexpr int max_threads = 512;
constexpr std::uint32_t all_words = 0xFFFFFFFFu;  // a threshold of 2^32 as tables hold it

// The numbers of a model whose sums have P bits. Index of the table: the number u and, as its
// lowest bit or where a byte has no room for it as its highest, whether the site's sum is even.
template <int P>
struct Format {
  static constexpr int bits = P < 4 ? 4 : 8;  // of a place in a register
  static constexpr bool even_in_place = P < bits;
  static constexpr std::uint32_t entries = 2u << P;  // of a table
  static constexpr std::uint32_t mask = even_in_place ? (entries - 1) << 2 : ((1u << P) - 1) << 2;

  // Half the energy change of an index.
  __device__ static int half_change(std::uint32_t index) {
    constexpr int center = 1 << P;
    if constexpr (even_in_place) return static_cast<int>(index) - center + 1;
    const std::uint32_t u = index & ((1u << P) - 1);
    return 2 * static_cast<int>(u) - center + 1 + static_cast<int>(index >> P);
  }
};

// What a block keeps in shared memory.
struct SlotEntry {
  std::uint32_t replica_high, replica_low;  // StepDraws::of_replica
  std::uint32_t table;                      // bytes from the first table
  std::uint32_t rests;
};
static_assert(sizeof(SlotEntry) == 16);

template <int W, int P>
struct Memory {
  unsigned char* tables;
  uint4* slots;  // SlotEntry[32 W]
  std::uint32_t* states;

  __device__ Memory(unsigned char* begin, std::int64_t n_rungs)
      : tables(begin),
        slots(reinterpret_cast<uint4*>(begin + n_rungs * Format<P>::entries * 4)),
        states(reinterpret_cast<std::uint32_t*>(slots + 32 * W)) {}
};

__device__ std::uint64_t threshold_of(const MetropolisSweep& kernel, std::int64_t rung,
                                      double delta) {
  const double beta = exact::mul(kernel.beta[rung], kernel.inverse_scale);
  if (kernel.rule == SweepRule::heat_bath) {
    return delta == 0.0 ? 0x80000000u : exact::heat_bath_threshold(exact::mul(beta, delta));
  }
  return delta <= 0.0 ? 0x100000000u : exact::accept_threshold(exact::mul(beta, delta));
}

template <int P>
__device__ void fill_tables(const MetropolisSweep& kernel, unsigned char* tables) {
  const auto n = static_cast<std::uint32_t>(kernel.beta.size) * Format<P>::entries;
  for (std::uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    const int half = Format<P>::half_change(i % Format<P>::entries);
    const std::uint64_t threshold = threshold_of(kernel, i / Format<P>::entries, 2.0 * half);
    reinterpret_cast<std::uint32_t*>(tables)[i] =
        threshold > all_words ? all_words : static_cast<std::uint32_t>(threshold);
  }
}

// Of four attempts with a word of 2^32 - 1, which no entry of a table tells from the others, those
// that the rule accepts. `indices` are bytes.
template <int P>
__device__ __noinline__ unsigned accept_largest(const MetropolisSweep& kernel, std::int64_t slot,
                                                const uint4& words, const uint4& indices) {
  const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
  const std::uint32_t index[4] = {indices.x, indices.y, indices.z, indices.w};
  unsigned accepted = 0;
  for (int i = 0; i < 4; ++i) {
    if (word[i] != all_words) continue;
    const double delta = 2.0 * Format<P>::half_change(index[i]);
    if (threshold_of(kernel, kernel.rung_of[slot], delta) > all_words) accepted |= 1u << i;
  }
  return accepted;
}

// The sweep of one warp.
template <int W, int P, bool kShared>
struct Warp {
  static constexpr std::uint32_t n_quads = 8 / W;
  static constexpr std::uint32_t sites_of_word = 0x01010101u * (W == 8   ? 0x01u
                                                                : W == 4 ? 0x11u
                                                                         : 0x55u);
  using Of = Format<P>;

  const MetropolisSweep& kernel;
  const Memory<W, P>& memory;
  const StepDraws& step;
  const bool one_key;
  const std::int64_t first_word;
  const unsigned lane;
  const int word, quad, site;  // of the lane's place
  const bool has_word;
  const Exchange exchange;
  std::uint32_t moves = 0;  // places of the lane's replicas that do not rest
  std::uint32_t sum[W] = {}, flips[W] = {}, even_flips[W] = {};

  __device__ Warp(const MetropolisSweep& k, const Memory<W, P>& m, const StepDraws& s, bool one,
                  std::int64_t first)
      : kernel(k),
        memory(m),
        step(s),
        one_key(one),
        first_word(first),
        lane(threadIdx.x % 32),
        word(static_cast<int>(lane % W)),
        quad(static_cast<int>(lane % 8) / W),
        site(static_cast<int>(lane / 8)),
        has_word(first + word < k.state.columns),
        exchange(lane) {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      if (memory.slots[32 * w + lane].w == 0) moves |= sites_of_word << w;
    }
  }

  __device__ std::uint32_t* at(std::uint32_t variable) const {
    if constexpr (kShared) return memory.states + variable * W + word;
    return kernel.state.data + variable * kernel.state.stride + first_word + word;
  }
  __device__ std::uint32_t load(std::uint32_t variable) const {
    if constexpr (kShared) return *at(variable);
    return has_word && variable < static_cast<std::uint32_t>(kernel.model.n_variables)
               ? *at(variable)
               : 0u;
  }

  // The entries' places in the table for the four sites of a quad, and a word.
  __device__ static std::uint32_t entry_of(const std::uint32_t (&numbers)[Of::bits], int i, int j,
                                           std::uint32_t table, std::uint32_t evens) {
    if constexpr (Of::bits == 4) {
      const std::uint32_t x = numbers[j % 4];
      const int shift = 4 * (2 * i + j / 4) - 2;
      return ((shift < 0 ? x << 2 : x >> shift) & Of::mask) | table;
    } else {
      const std::uint32_t x = numbers[j];
      const std::uint32_t entry = ((i == 0 ? x << 2 : x >> (8 * i - 2)) & Of::mask) | table;
      if constexpr (Of::even_in_place) return entry;
      return entry | (evens >> (8 * i + j) & 1u) << (P + 2);
    }
  }

  __device__ Words4 draw(const uint4& slot, const QuadDraws& of_quad, int w,
                         std::uint32_t number) const {
    if (one_key) return draw_of(step, of_quad, slot.x, slot.y);
    const std::int64_t at = min((first_word + w) * 32, (kernel.state.columns - 1) * 32) + lane;
    return draw_quad(DrawName{kernel.draw_ids.key[at], kernel.control->step + kernel.step_offset,
                              kernel.draw_ids.replica[at], RngDomain::metropolis, 0},
                     number);
  }

  // Of 32 places those at which the lane's replicas flip.
  __device__ std::uint32_t decide(const std::uint32_t (&numbers)[Of::bits],
                                  std::uint32_t first_quad, std::uint32_t evens) {
    std::uint32_t accepted = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int w = j % W;
      const std::uint32_t number = first_quad + static_cast<std::uint32_t>(j / W);
      const uint4 slot = memory.slots[32 * w + lane];
      const Words4 words = draw(slot, QuadDraws(step, number), w, number);
      std::uint32_t entry[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        entry[i] = entry_of(numbers, i, j, slot.z, evens);
        if (words.word[i] < *reinterpret_cast<const std::uint32_t*>(memory.tables + entry[i])) {
          accepted |= 1u << (8 * i + j);
          sum[w] += entry[i];
        }
      }
      if (max(max(words.word[0], words.word[1]), max(words.word[2], words.word[3])) == all_words) {
        accept_rest(words, entry, slot.z, w, j, accepted);
      }
    }
    return accepted;
  }

  __device__ void accept_rest(const Words4& words, const std::uint32_t (&entry)[4],
                              std::uint32_t table, int w, int j, std::uint32_t& accepted) {
    const std::int64_t slot = (first_word + w) * 32 + lane;
    if (first_word + w >= kernel.state.columns) return;
    const unsigned also = accept_largest<P>(
        kernel, slot, make_uint4(words.word[0], words.word[1], words.word[2], words.word[3]),
        make_uint4((entry[0] - table) / 4, (entry[1] - table) / 4, (entry[2] - table) / 4,
                   (entry[3] - table) / 4));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((also >> i & 1u) == 0) continue;
      accepted |= 1u << (8 * i + j);
      sum[w] += entry[i];
    }
  }

  __device__ void count_flips(std::uint32_t accepted, std::uint32_t real, std::uint32_t evens) {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      const std::uint32_t mine = accepted & (sites_of_word << w);
      flips[w] += static_cast<std::uint32_t>(__popc(mine & real));
      if constexpr (!Of::even_in_place) {
        even_flips[w] += static_cast<std::uint32_t>(__popc(mine & evens));
      }
      if (real != whole_warp) {  // fillers have the first entry of the table
        sum[w] -= memory.slots[32 * w + lane].z * static_cast<std::uint32_t>(__popc(mine & ~real));
      }
    }
  }

  __device__ void sweep_quads(std::uint32_t first_quad, std::uint32_t end) {
    GroupSite row;
    if (first_quad + quad < end) {
      row = load_site(kernel.model.groups.sites.data + 4 * (first_quad + quad) + site);
    }
    const bool real = row.variable >= 0;
    const auto variable = static_cast<std::uint32_t>(row.variable);
    const std::uint32_t own = real ? load(variable) : 0u;
    std::uint32_t planes[P];
    count_row(
        kernel.model.groups, row, own, [&](std::uint32_t v) { return load(v); }, planes);
    const bool even = (row.start_and_even & 1) != 0;
    std::uint32_t numbers[Of::bits];
    constexpr int first = Of::even_in_place ? 1 : 0;
    if constexpr (Of::even_in_place) numbers[0] = even ? whole_warp : 0u;
#pragma unroll
    for (int k = first; k < Of::bits; ++k) numbers[k] = k - first < P ? planes[k - first] : 0u;
    numbers_of_planes(numbers);
    exchange.by_replica(numbers);
    const std::uint32_t evens = Of::even_in_place ? 0u : __ballot_sync(whole_warp, even);
    const std::uint32_t real_places = __ballot_sync(whole_warp, real);
    const std::uint32_t accepted = decide(numbers, first_quad, evens);
    count_flips(accepted, real_places, evens);
    const std::uint32_t flipped = exchange.transposed(accepted & moves);
    if (real && has_word) *at(variable) = own ^ flipped;
  }

  // Adds what the warp did to the totals of the block, [32 W] each.
  __device__ void add_to(std::uint32_t* changes, std::uint32_t* all_flips) const {
#pragma unroll
    for (int w = 0; w < W; ++w) {
      const int i = 32 * w + static_cast<int>(lane);
      std::uint32_t fours = sum[w] - memory.slots[i].z * flips[w];
      if constexpr (!Of::even_in_place) fours -= even_flips[w] * ((4u << P) - 2);
      atomicAdd(changes + i, Of::even_in_place ? fours / 4 : fours / 2);
      atomicAdd(all_flips + i, flips[w]);
    }
  }
};

// Reads what the block needs of its slots; whether all of them have one key.
template <int W, int P>
__device__ bool read_slots(const MetropolisSweep& kernel, const StepDraws& step,
                           std::int64_t first_word, const Memory<W, P>& memory) {
  const std::int64_t n_slots = kernel.state.columns * 32;
  bool one_key = true;
  for (std::int64_t i = threadIdx.x; i < 32 * W; i += blockDim.x) {
    const std::int64_t slot = min(first_word * 32 + i, n_slots - 1);
    const std::uint64_t product = step.of_replica(kernel.draw_ids.replica[slot]);
    memory.slots[i] =
        make_uint4(high_word(product), low_word(product),
                   static_cast<std::uint32_t>(kernel.rung_of[slot]) * (Format<P>::entries * 4),
                   kernel.rests(slot) ? 1u : 0u);
    one_key = one_key && kernel.draw_ids.key[slot] == kernel.draw_ids.key[first_word * 32];
  }
  return __syncthreads_and(one_key) != 0;
}

template <int W, int P, bool kShared>
__global__ void __launch_bounds__(max_threads)
    sweep_slices(const __grid_constant__ MetropolisSweep kernel) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ std::uint32_t changes[32 * W], flips[32 * W];
  if (!kernel.control->active(kernel.step_offset)) return;
  const PairwiseView& model = kernel.model;
  const Memory<W, P> memory(shared_bytes, kernel.beta.size);
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const std::uint64_t number = kernel.control->step + kernel.step_offset;
  const StepDraws step(kernel.draw_ids.key[first_word * 32], number,
                       counter_word3(RngDomain::metropolis, 0, number));
  const int n_words = static_cast<int>(min(kernel.state.columns - first_word, std::int64_t{W}));
  if constexpr (kShared) {
    const std::uint32_t* const batch = kernel.state.data + first_word;
    for (int i = threadIdx.x; i < (model.n_variables + 1) * W; i += blockDim.x) {
      const bool real = i / W < model.n_variables && i % W < n_words;
      memory.states[i] = real ? batch[i / W * kernel.state.stride + i % W] : 0u;
    }
  }
  fill_tables<P>(kernel, memory.tables);
  for (int i = threadIdx.x; i < 32 * W; i += blockDim.x) changes[i] = flips[i] = 0;
  const bool one_key = read_slots<W, P>(kernel, step, first_word, memory);

  Warp<W, P, kShared> warp(kernel, memory, step, one_key, first_word);
  constexpr std::uint32_t n_quads = Warp<W, P, kShared>::n_quads;
  const std::uint32_t stride = blockDim.x / 32 * n_quads;
  for (std::int32_t c = 0; c < model.n_classes; ++c) {
    const auto end = static_cast<std::uint32_t>(model.class_begin[c + 1]);
    auto quad = static_cast<std::uint32_t>(model.class_begin[c]) + threadIdx.x / 32 * n_quads;
    for (; quad < end; quad += stride) warp.sweep_quads(quad, end);
    __syncthreads();
  }
  warp.add_to(changes, flips);
  __syncthreads();
  if constexpr (kShared) {
    std::uint32_t* const batch = kernel.state.data + first_word;
    for (int i = threadIdx.x; i < model.n_variables * W; i += blockDim.x) {
      if (i % W < n_words) batch[i / W * kernel.state.stride + i % W] = memory.states[i];
    }
  }
  for (int i = threadIdx.x; i < 32 * n_words; i += blockDim.x) {
    if (memory.slots[i].w != 0) continue;
    const std::int64_t slot = first_word * 32 + i;
    // Twice the half changes: of an index u or 2 u + m, less the center.
    kernel.energy[slot] += 2.0 * changes[i] - 2.0 * ((1 << P) - 1) * flips[i];
    if (kernel.accepted) kernel.accepted[slot] += flips[i];
  }
}

template <int W, int P, bool kShared>
std::int64_t bytes_of(const MetropolisSweep& kernel) {
  const std::int64_t states = kShared ? (std::int64_t{kernel.model.n_variables} + 1) * W * 4 : 0;
  return kernel.beta.size * std::int64_t{Format<P>::entries} * 4 + 32 * W * 16 + states;
}

template <int W, int P, bool kShared>
bool enqueue(const MetropolisSweep& kernel, const SweepShape& shape, const SweepLimits& limits,
             Queue& queue) {
  const std::int64_t bytes = bytes_of<W, P, kShared>(kernel);
  if (bytes > limits.shared_bytes - 2048) return false;
  const auto function = sweep_slices<W, P, kShared>;
  reserve_shared(queue, function, static_cast<std::size_t>(bytes), MetropolisSweep::name);
  const auto blocks = static_cast<unsigned>((kernel.state.columns + W - 1) / W);
  function<<<blocks, static_cast<unsigned>(32 * shape.warps), static_cast<std::size_t>(bytes),
             stream_of(queue)>>>(kernel);
  check_launch(MetropolisSweep::name);
  return true;
}

template <int P>
bool enqueue_placed(const MetropolisSweep& kernel, const SweepShape& shape,
                    const SweepLimits& limits, Queue& queue) {
  if (!shape.in_shared) return enqueue<8, P, false>(kernel, shape, limits, queue);
  switch (shape.words_per_block) {
    case 8:
      return enqueue<8, P, true>(kernel, shape, limits, queue);
    case 4:
      return enqueue<4, P, true>(kernel, shape, limits, queue);
    default:
      return enqueue<2, P, true>(kernel, shape, limits, queue);
  }
}

std::optional<SweepShape> shape_for(const MetropolisSweep& kernel, int planes, Queue& queue) {
  const std::string_view wanted = wanted_sweep_shape(queue);
  if (!wanted.empty()) {
    const std::optional<SweepShape> shape = parse_sweep_shape(wanted);
    return shape && shape->in_slices ? shape : std::nullopt;
  }
  const PairwiseView& model = kernel.model;
  SliceDemand demand;
  demand.words = kernel.state.columns;
  demand.variables = model.n_variables;
  demand.quads_per_class = model.n_sites / 4 / std::max(1, model.n_classes);
  demand.table_bytes = kernel.beta.size * (std::int64_t{8} << planes);
  return choose_slice_shape(demand, sweep_limits_of(queue));
}

}  // namespace

bool launch_sliced_sweep(const MetropolisSweep& kernel, Queue& queue) {
  const GroupView& rows = kernel.model.groups;
  if (rows.sites.size == 0 || kernel.model.sequential) return false;
  const int planes = rows.max_sum < 8 ? 3 : rows.max_sum < 64 ? 6 : rows.max_sum < 128 ? 7 : 8;
  // Sums of a lane have 32 bits.
  const bool fits = rows.max_sum < 256 &&
                    (std::int64_t{kernel.model.n_sites} << (planes + 3)) < (std::int64_t{1} << 32);
  if (!fits) return false;
  const std::optional<SweepShape> shape = shape_for(kernel, planes, queue);
  if (!shape) return false;
  const SweepLimits limits = sweep_limits_of(queue);
  switch (planes) {
    case 3:
      return enqueue_placed<3>(kernel, *shape, limits, queue);
    case 6:
      return enqueue_placed<6>(kernel, *shape, limits, queue);
    case 7:
      return enqueue_placed<7>(kernel, *shape, limits, queue);
    default:
      return enqueue_placed<8>(kernel, *shape, limits, queue);
  }
}

}  // namespace kiln::cuda
