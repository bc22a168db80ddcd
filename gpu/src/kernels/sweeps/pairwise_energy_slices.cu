// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "kiln/cuda/queue.cuh"
#include "kiln/device/philox.hpp"

#include "cuda_check.hpp"
#include "device_limits.hpp"
#include "launch.hpp"
#include "pairwise_energy_slices.hpp"
#include "slice_planes.cuh"

// With each coupling at one of its sites, the energy is the sum of s_i (h_i + that half of the
// local field), which is minus half the energy change of a GroupSite. So its numbers u are added up
// in planes, 32 replicas at once. A block takes W words and a part of the sites; lane W i + w of a
// warp takes site i of 32 / W and word w. All sums are integers: their order does not matter.
namespace kiln::cuda {
namespace {

constexpr int n_threads = 1024;
constexpr std::int64_t max_shared = 200 * 1024;  // of states

// The numbers of a lane's sites, and of its word's replicas what was added up before.
template <int W, int P>
class Totals {
 public:
  __device__ explicit Totals(unsigned lane) : exchange_(lane) {}

  __device__ void add(const std::uint32_t (&number)[P]) {
    std::uint32_t carry = 0;
#pragma unroll
    for (int k = 0; k < P; ++k) carry = full_add(planes_[k], number[k], carry);
    ripple<P>(planes_, carry);
    if (++n_ == (1 << spare)) flush();
  }

  // Lane r then has the sums of replica r of each word.
  __device__ void flush() {
#pragma unroll
    for (int k = 0; k < P + spare; ++k) {
      const std::uint32_t places = exchange_.transposed(planes_[k]);
      planes_[k] = 0;
#pragma unroll
      for (int w = 0; w < W; ++w) {
        constexpr std::uint32_t lanes_of_word = W == 8 ? 0x01010101u : whole_warp;
        of_word_[w] += static_cast<std::uint32_t>(__popc(places & (lanes_of_word << w))) << k;
      }
    }
    n_ = 0;
  }

  __device__ std::uint32_t of_word(int w) const { return of_word_[w]; }

 private:
  static constexpr int spare = 5;  // planes: sums of 32 sites
  Exchange exchange_;
  std::uint32_t planes_[P + spare] = {};
  std::uint32_t of_word_[W] = {};
  int n_ = 0;
};

__device__ inline bool is_wanted(const PairwiseEnergy& kernel, std::int64_t slot) {
  return !kernel.active_rungs || kernel.active_rungs[kernel.rung_of[slot]] != 0;
}

__global__ void __launch_bounds__(n_threads)
    clear_energies(const __grid_constant__ PairwiseEnergy kernel) {
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * n_threads + threadIdx.x;
  if (slot < kernel.state.columns * 32 && is_wanted(kernel, slot)) kernel.energy[slot] = 0;
}

// The words of a block: in shared memory with that of n_variables, or in the batch.
template <int W, bool kShared>
struct Words {
  const std::uint32_t* begin;  // at the lane's word
  std::uint32_t stride_bytes;
  std::uint32_t n_variables;
  bool has_word;

  __device__ std::uint32_t operator()(std::uint32_t variable) const {
    if constexpr (kShared) return begin[variable * W];
    if (!has_word || variable >= n_variables) return 0;
    const std::uint64_t offset = wide_product(variable, stride_bytes);
    return __ldg(reinterpret_cast<const std::uint32_t*>(
        reinterpret_cast<const unsigned char*>(begin) + offset));
  }
};

template <int W, int P, bool kShared>
__global__ void __launch_bounds__(n_threads)
    add_energies(const __grid_constant__ PairwiseEnergy kernel) {
  extern __shared__ std::uint32_t states[];
  if (kernel.control != nullptr && !kernel.control->active(0)) return;
  __shared__ std::uint32_t sums[32 * W];
  __shared__ unsigned long long constant;
  const PairwiseView& model = kernel.model;
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * W;
  const int n_words = static_cast<int>(min(kernel.state.columns - first_word, std::int64_t{W}));
  bool wanted = false;
  for (int i = threadIdx.x; i < 32 * W; i += n_threads) {
    sums[i] = 0;
    wanted = wanted || (i < 32 * n_words && is_wanted(kernel, first_word * 32 + i));
  }
  if (threadIdx.x == 0) constant = 0;
  if (!__syncthreads_or(wanted)) return;

  const unsigned lane = threadIdx.x % 32;
  const int word = static_cast<int>(lane) % W;
  if constexpr (kShared) {
    load_words<W>(kernel.state.data + first_word, kernel.state.stride, model.n_variables, n_words,
                  states);
    __syncthreads();
  }
  const Words<W, kShared> load{kShared ? states + word : kernel.state.data + first_word + word,
                               static_cast<std::uint32_t>(kernel.state.stride * 4),
                               static_cast<std::uint32_t>(model.n_variables), word < n_words};
  Totals<W, P> totals(lane);
  long long of_sites = 0;
  const std::int32_t warps = static_cast<std::int32_t>(gridDim.y) * (n_threads / 32);
  const std::int32_t warp = static_cast<std::int32_t>(blockIdx.y) * (n_threads / 32) +
                            static_cast<std::int32_t>(threadIdx.x / 32);
  constexpr std::int32_t places = 32 / W;
  for (std::int32_t first = warp * places; first < model.n_sites; first += warps * places) {
    const std::int32_t site = first + static_cast<std::int32_t>(lane) / W;
    GroupSite row;
    if (site < model.n_sites) row = load_site(model.half_groups.sites.data + site);
    const std::uint32_t own =
        row.variable < 0 ? 0u : load(static_cast<std::uint32_t>(row.variable));
    std::uint32_t number[P];
    count_row(model.half_groups, row, own, load, number);
    totals.add(number);
    if (row.variable >= 0) of_sites += 1 + (row.start_and_even & 1) - (1 << P);
  }
  totals.flush();
#pragma unroll
  for (int w = 0; w < W; ++w) atomicAdd(sums + 32 * w + lane, totals.of_word(w));
  if (word == 0) atomicAdd(&constant, static_cast<unsigned long long>(of_sites));
  __syncthreads();
  for (int i = threadIdx.x; i < 32 * n_words; i += n_threads) {
    const std::int64_t slot = first_word * 32 + i;
    if (!is_wanted(kernel, slot)) continue;
    const double energy = -2.0 * sums[i] - static_cast<double>(static_cast<long long>(constant));
    if (gridDim.y == 1) {
      kernel.energy[slot] = energy;
    } else {
      atomicAdd(&kernel.energy[slot], energy);
    }
  }
}

template <int W, int P, bool kShared>
void enqueue(const PairwiseEnergy& kernel, Queue& queue) {
  const std::int64_t groups = (kernel.state.columns + W - 1) / W;
  const std::int64_t chunks = (kernel.model.n_sites + 32 / W - 1) / (32 / W);
  const std::int64_t useful = std::max<std::int64_t>(1, chunks / (n_threads / 32));
  const std::int64_t to_fill = limits_of(queue).multiprocessors / groups;
  const auto parts =
      static_cast<unsigned>(std::clamp<std::int64_t>(std::min(useful, to_fill), 1, 65535));
  if (parts > 1) {
    const std::int64_t slots = kernel.state.columns * 32;
    clear_energies<<<static_cast<unsigned>((slots + n_threads - 1) / n_threads), n_threads, 0,
                     stream_of(queue)>>>(kernel);
    check_launch(PairwiseEnergy::name);
  }
  const auto function = add_energies<W, P, kShared>;
  const std::size_t bytes =
      kShared ? static_cast<std::size_t>(kernel.model.n_variables + 1) * W * 4 : 0;
  if (kShared) reserve_shared(queue, function, bytes, PairwiseEnergy::name);
  function<<<dim3(static_cast<unsigned>(groups), parts), n_threads, bytes, stream_of(queue)>>>(
      kernel);
  check_launch(PairwiseEnergy::name);
}

template <int P>
void enqueue_planes(const PairwiseEnergy& kernel, Queue& queue) {
  const std::int64_t bytes_of_word = (std::int64_t{kernel.model.n_variables} + 1) * 4;
  const std::int64_t max_bytes =
      std::min(max_shared, limits_of(queue).shared_bytes - std::int64_t{2048});
  if (kernel.state.columns >= 4) {
    if (8 * bytes_of_word <= max_bytes) return enqueue<8, P, true>(kernel, queue);
    return enqueue<8, P, false>(kernel, queue);
  }
  if (bytes_of_word <= max_bytes) return enqueue<1, P, true>(kernel, queue);
  enqueue<1, P, false>(kernel, queue);
}

}  // namespace

bool launch_sliced_energy(const PairwiseEnergy& kernel, Queue& queue) {
  const GroupView& rows = kernel.model.half_groups;
  if (rows.sites.size == 0) return false;
  const int planes = std::bit_width(static_cast<std::uint32_t>(rows.max_sum));
  const int rounded = planes <= 4 ? 4 : planes <= 6 ? 6 : (planes + 3) / 4 * 4;
  if (planes > 16 || kernel.state.stride >= (std::int64_t{1} << 30)) return false;
  // Sums of a block have 32 bits.
  if ((std::int64_t{kernel.model.n_sites} << rounded) >= (std::int64_t{1} << 32)) return false;
  switch (rounded) {
    case 4:
      enqueue_planes<4>(kernel, queue);
      break;
    case 6:
      enqueue_planes<6>(kernel, queue);
      break;
    case 8:
      enqueue_planes<8>(kernel, queue);
      break;
    case 12:
      enqueue_planes<12>(kernel, queue);
      break;
    default:
      enqueue_planes<16>(kernel, queue);
  }
  return true;
}

}  // namespace kiln::cuda
