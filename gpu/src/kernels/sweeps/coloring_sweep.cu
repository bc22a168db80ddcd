// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/kernels/sweeps/coloring_sweep.hpp"

#include "families/inverted_rule.cuh"
#include "kernels/team_launch.cuh"
#include "slice_draws.cuh"
#include "tuned.hpp"

// A warp has a replica, whose colours lie in shared memory; its lanes share the neighbours of a
// vertex. The neighbours of the next vertex are read while those of a vertex are looked at, and
// each lane draws the words of four of the next 128 vertices.
namespace kiln::cuda {
namespace {

using Color = std::uint16_t;
constexpr int max_warps = 8;
constexpr int at_once = 8;  // neighbours of a vertex that a lane reads before it looks at them
constexpr std::int32_t chunk = at_once * warp_size;

// Behind the last neighbour stands a vertex that does not exist, whose colour is none.
constexpr Color no_color = 65535;

struct Neighbors {
  std::int32_t of[at_once];

  __device__ static Neighbors read(const ColoringView& model, std::int64_t begin,
                                   std::int64_t end) {
    const auto lane = static_cast<std::int32_t>(threadIdx.x % warp_size);
    const std::int32_t* const from = model.neighbor.data + begin + lane;
    const auto left = static_cast<std::int32_t>(end - begin) - lane;
    Neighbors read;
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      read.of[k] = k * warp_size < left ? __ldg(from + k * warp_size) : model.vertices;
    }
    return read;
  }
};

__device__ __noinline__ bool accepts_exactly(double beta, int rise, std::uint32_t word) {
  return exact::accept(beta, rise, word);
}

// The decision on a rise of the conflicts, the same for all lanes.
struct ColoringRule {
  double beta;
  float cold;  // beta log2 e, at most 1e25

  __device__ explicit ColoringRule(double b)
      : beta(b), cold(static_cast<float>((b < 1e25 ? b : 1e25) * 1.4426950408889634)) {}
  __device__ bool accepts(int rise, std::uint32_t word) const {
    if (rise <= 0) return true;
    const float z = cold * static_cast<float>(rise);
    const Sure sure = compare_exponent<SweepRule::metropolis>(
        z, fmaf(0x1p-20f, z, exponent_margin<SweepRule::metropolis>), word);
    return sure == Sure::unsure ? accepts_exactly(beta, rise, word) : sure == Sure::yes;
  }
};

// The sweep of a warp over the colours of its replica.
class ColoringWarp {
 public:
  __device__ ColoringWarp(const ColoringSweep& kernel, std::int64_t slot, Color* colors)
      : kernel_(kernel),
        colors_(colors),
        rule_(exact::mul(kernel.beta[kernel.rung_of[slot]], kernel.inverse_scale)),
        decide_(kernel.draw_ids.at(slot, kernel.control->step + kernel.step_offset,
                                   RngDomain::metropolis)),
        propose_(decide_),
        end_(kernel.model.row_begin[0]),
        next_end_(kernel.model.row_begin[1]),
        next_(Neighbors::read(kernel.model, end_, next_end_)) {
    decide_.block = ColoringSweep::decide_block;
    propose_.block = ColoringSweep::propose_block;
  }

  __device__ void sweep() {
    const std::int32_t n = kernel_.model.vertices;
    for (std::int32_t first = 0; first < n; first += 4 * warp_size) {
      const auto quad = static_cast<std::uint32_t>(first / 4) + threadIdx.x % warp_size;
      const Words4 decide = draw_quad(decide_, quad), propose = draw_quad(propose_, quad);
      for (int lane = 0; lane < warp_size && first + 4 * lane < n; ++lane) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const std::int32_t v = first + 4 * lane + i;
          const std::uint32_t decides = __shfl_sync(full_warp, decide.word[i], lane);
          const std::uint32_t proposes = __shfl_sync(full_warp, propose.word[i], lane);
          if (v < n) attempt(v, decides, proposes);
        }
      }
    }
  }

  __device__ std::int64_t change() const { return change_; }
  __device__ std::uint32_t changed() const { return changed_; }

 private:
  // The neighbours of the row from `begin` on; meanwhile the next ones are read.
  __device__ Neighbors take(std::int64_t& begin, std::int32_t v) {
    const Neighbors now = next_;
    const ColoringView& model = kernel_.model;
    begin += chunk;
    if (begin < end_) {
      next_ = Neighbors::read(model, begin, end_);
    } else if (v + 1 < model.vertices) {
      next_ = Neighbors::read(model, end_, next_end_);
    }
    return now;
  }

  __device__ void attempt(std::int32_t v, std::uint32_t decide, std::uint32_t propose) {
    const ColoringView& model = kernel_.model;
    std::int64_t begin = end_;
    end_ = next_end_;
    if (v + 2 <= model.vertices) next_end_ = __ldg(model.row_begin.data + v + 2);
    const std::int32_t own = colors_[v];
    const std::int32_t to = other_value(own, model.values, propose);
    int rise = 0;
    do {
      const Neighbors now = take(begin, v);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::int32_t other = colors_[now.of[k]];
        rise += (other == to ? 1 : 0) - (other == own ? 1 : 0);
      }
    } while (begin < end_);
    rise = __reduce_add_sync(full_warp, rise);  // all have read the colours
    if (!rule_.accepts(rise, decide)) return;
    if (threadIdx.x % warp_size == 0) colors_[v] = static_cast<Color>(to);
    __syncwarp();
    change_ += rise;
    ++changed_;
  }

  const ColoringSweep& kernel_;
  Color* const colors_;
  const ColoringRule rule_;
  DrawName decide_, propose_;
  std::int64_t end_, next_end_;  // of the row of the vertex before, and of the next one
  Neighbors next_;
  std::int64_t change_ = 0;
  std::uint32_t changed_ = 0;
};

__global__ void __launch_bounds__(max_warps* warp_size)
    sweep_colors(const __grid_constant__ ColoringSweep kernel) {
  extern __shared__ Color colors_of_block[];
  if (!kernel.control->active(kernel.step_offset)) return;
  const auto warps = static_cast<std::int32_t>(blockDim.x) / warp_size;
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / warp_size;
  const std::int32_t n = kernel.model.vertices;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * warps;
  // Threads of one vertex read slots that lie side by side.
  const std::int64_t mine = first + threadIdx.x % warps;
  const auto vertex = static_cast<std::int32_t>(threadIdx.x) / warps;
  Color* const of_mine = colors_of_block + (threadIdx.x % warps) * (n + 1);
  for (std::int32_t v = vertex; mine < kernel.energy.size && v < n; v += warp_size) {
    of_mine[v] = static_cast<Color>(kernel.state(v, mine));
  }
  if (vertex == 0) of_mine[n] = no_color;
  __syncthreads();
  const std::int64_t slot = first + warp;
  const bool active = slot < kernel.energy.size &&
                      !(kernel.active_rungs && kernel.active_rungs[kernel.rung_of[slot]] == 0);
  if (active) {
    ColoringWarp of_slot(kernel, slot, colors_of_block + warp * (n + 1));
    of_slot.sweep();
    if (threadIdx.x % warp_size == 0) {
      kernel.energy[slot] += static_cast<double>(of_slot.change());
      kernel.accepted[slot] += of_slot.changed();
    }
  }
  __syncthreads();
  for (std::int32_t v = vertex; mine < kernel.energy.size && v < n; v += warp_size) {
    kernel.state(v, mine) = of_mine[v];
  }
}

const Tunable coloring_sweep_warps(tunable_of("coloring_sweep", "coloring_sweep", "replicas",
                                              {{"warps", {1, 2, 3, 4, 5, 6, 7, 8}}}));

}  // namespace

template <>
void launch(const ColoringSweep& kernel, Queue& queue) {
  const DeviceLimits& limits = limits_of(queue);
  const std::int64_t slots = kernel.energy.size;
  const std::int64_t bytes = (std::int64_t{kernel.model.vertices} + 1) * sizeof(Color);
  // As many warps as keep all multiprocessors busy.
  const std::int64_t each = (slots + limits.multiprocessors - 1) / limits.multiprocessors;
  std::int64_t warps = std::min(
      {std::int64_t{max_warps}, limits.shared_bytes / bytes, std::max<std::int64_t>(1, each)});
  if (slots == 0 || warps == 0 || kernel.model.values > no_color || kernel.model.vertices == 0) {
    return launch_for_warps(kernel, slots, queue);
  }
  if (const LaunchShape* const shape = tuned(coloring_sweep_warps, queue, slots)) {
    if ((*shape)[0] * bytes <= limits.shared_bytes) {
      warps = (*shape)[0];
    } else {
      decline(coloring_sweep_warps, queue);
    }
  }
  reserve_shared(queue, sweep_colors, static_cast<std::size_t>(warps * bytes), ColoringSweep::name);
  sweep_colors<<<static_cast<unsigned>((slots + warps - 1) / warps),
                 static_cast<unsigned>(warps * warp_size), static_cast<std::size_t>(warps * bytes),
                 stream_of(queue)>>>(kernel);
  check_launch(ColoringSweep::name);
}

}  // namespace kiln::cuda
