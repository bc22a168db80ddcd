// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kiln/device/plane_draws.hpp"
#include "kiln/kernels/run/random_state.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// The words of four consecutive indices come from one draw. Indices count from the first variable
// of the space, so a block may begin and end inside a quad.
struct Quads {
  std::int64_t first, end;
};

__host__ __device__ Quads quads_of(const RandomState& kernel) {
  return {kernel.first_variable / 4, (kernel.first_variable + kernel.block.variables + 3) / 4};
}

// Calls store(variable of the block, word) for the variables of a quad that are in the block.
template <class Store>
__device__ void for_quad(const RandomState& kernel, const DrawName& draws, std::int64_t quad,
                         Store store) {
  const Words4 words = draw_quad(draws, static_cast<std::uint32_t>(quad));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::int64_t variable = 4 * quad + i - kernel.first_variable;
    if (variable >= 0 && variable < kernel.block.variables) store(variable, words.word[i]);
  }
}

// A warp for each word, its lanes are the slots; blockIdx.y deals out the quads. Between restarts
// nothing is selected and a warp leaves after two loads per lane. A spin and a binary variable have
// the highest bit of their word.
__global__ void __launch_bounds__(block_size)
    draw_packed(const __grid_constant__ RandomState kernel) {
  if (!kernel.active()) return;
  const std::int64_t slot = thread_index();
  if (slot >= kernel.block.slots) return;  // whole warps: slots are a multiple of 32
  const unsigned mask = __ballot_sync(full_warp, kernel.selects(slot));
  if (mask == 0) return;
  const DrawName draws = kernel.name_of(slot);
  const std::int64_t words = kernel.block.words();
  std::uint32_t* const column = kernel.block.as<std::uint32_t>() + slot / warp_size;
  const auto lane = static_cast<int>(slot % warp_size);
  const Quads quads = quads_of(kernel);
  for (std::int64_t quad = quads.first + blockIdx.y; quad < quads.end; quad += gridDim.y) {
    const Words4 four = draw_quad(draws, static_cast<std::uint32_t>(quad));
    unsigned drawn = 0;  // of variable `lane` of the quad
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned of_all = __ballot_sync(full_warp, (four.word[i] >> 31) != 0);
      if (lane == i) drawn = of_all;
    }
    const std::int64_t variable = 4 * quad + lane - kernel.first_variable;
    if (lane >= 4 || variable < 0 || variable >= kernel.block.variables) continue;
    std::uint32_t& target = column[variable * words];
    target = mask == full_warp ? drawn : (target & ~mask) | (drawn & mask);
  }
}

// What a block knows of a word whose spins or bits are drawn by planes.
struct PlaneWord {
  DrawName name;           // of its first slot
  std::uint32_t selected;  // bits of the slots
  bool in_order;           // slot l has bit l of the planes of `name`
};

__device__ PlaneWord describe_word(const RandomState& kernel, std::int64_t word) {
  const auto lane = static_cast<std::uint32_t>(threadIdx.x % warp_size);
  const std::int64_t slot = word * warp_size + lane;
  PlaneWord of;
  of.selected = __ballot_sync(full_warp, kernel.selects(slot));
  const DrawName own = kernel.name_of(slot);
  of.name = kernel.name_of(word * warp_size);
  of.in_order = __all_sync(full_warp, own.key == of.name.key && own.replica % 32 == lane &&
                                          own.replica / 32 == of.name.replica / 32) != 0;
  return of;
}

// The planes of a quad, bit l that of the replica in slot l.
__device__ Words4 planes_of_word(const RandomState& kernel, const PlaneWord& of, std::int64_t word,
                                 std::uint32_t quad) {
  if (of.in_order) return draw_first_planes(of.name, quad);
  Words4 planes{};
  for (std::uint32_t l = 0; l < 32; ++l) {
    const DrawName name = kernel.name_of(word * warp_size + l);
    const Words4 drawn = draw_first_planes(name, quad);
#pragma unroll
    for (int i = 0; i < 4; ++i) planes.word[i] |= (drawn.word[i] >> name.replica % 32 & 1u) << l;
  }
  return planes;
}

// A block has 32 words, one in each lane; its warps and blockIdx.y deal out the quads.
__global__ void __launch_bounds__(block_size)
    draw_planes_packed(const __grid_constant__ RandomState kernel) {
  if (!kernel.active()) return;
  __shared__ PlaneWord described[warp_size];
  constexpr int warps = block_size / warp_size;
  const auto warp = static_cast<int>(threadIdx.x / warp_size);
  const auto lane = static_cast<int>(threadIdx.x % warp_size);
  const std::int64_t words = kernel.block.words();
  const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * warp_size;
  for (int w = warp; w < warp_size && first_word + w < words; w += warps) {
    const PlaneWord of = describe_word(kernel, first_word + w);
    if (lane == 0) described[w] = of;
  }
  __syncthreads();
  const std::int64_t word = first_word + lane;
  if (word >= words) return;
  const PlaneWord of = described[lane];
  if (of.selected == 0) return;
  std::uint32_t* const column = kernel.block.as<std::uint32_t>() + word;
  const Quads quads = quads_of(kernel);
  for (std::int64_t quad = quads.first + blockIdx.y * warps + warp; quad < quads.end;
       quad += gridDim.y * warps) {
    const Words4 planes = planes_of_word(kernel, of, word, static_cast<std::uint32_t>(quad));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t variable = 4 * quad + i - kernel.first_variable;
      if (variable < 0 || variable >= kernel.block.variables) continue;
      std::uint32_t& target = column[variable * words];
      target = of.selected == full_warp ? planes.word[i]
                                        : (target & ~of.selected) | (planes.word[i] & of.selected);
    }
  }
}

__global__ void __launch_bounds__(block_size)
    draw_values(const __grid_constant__ RandomState kernel) {
  if (!kernel.active()) return;
  const std::int64_t slot = thread_index();
  if (slot >= kernel.block.slots || !kernel.selects(slot)) return;
  const DrawName draws = kernel.name_of(slot);
  const Quads quads = quads_of(kernel);
  for (std::int64_t quad = quads.first + blockIdx.y; quad < quads.end; quad += gridDim.y) {
    for_quad(kernel, draws, quad, [&](std::int64_t variable, std::uint32_t word) {
      kernel.block.set(variable, slot, kernel.value(variable, word));
    });
  }
}

__global__ void __launch_bounds__(block_size)
    draw_orders(const __grid_constant__ RandomState kernel) {
  if (!kernel.active()) return;
  const std::int64_t slot = thread_index();
  if (slot < kernel.block.slots && kernel.selects(slot)) kernel.shuffle(slot);
}

}  // namespace

template <>
void launch(const RandomState& kernel, Queue& queue) {
  const StateBlock& block = kernel.block;
  if (block.variables <= 0 || block.slots <= 0) return;
  const cudaStream_t stream = stream_of(queue);
  const bool by_planes = block.layout == Layout::packed32 && kernel.naming == DrawNaming::planes;
  // A batch has fewer than 2^31 slots, so all of them fit along x.
  const unsigned across = blocks_for(by_planes ? block.slots / 4 : block.slots, INT32_MAX);
  if (block.kind == BlockKind::permutation) {
    draw_orders<<<across, block_size, 0, stream>>>(kernel);
  } else {
    const Quads quads = quads_of(kernel);
    const auto down = static_cast<unsigned>(std::clamp<std::int64_t>(
        2 * filling_blocks / across, 1, std::min<std::int64_t>(quads.end - quads.first, 65535)));
    const dim3 grid(across, down);
    if (by_planes) {
      draw_planes_packed<<<grid, block_size, 0, stream>>>(kernel);
    } else if (block.layout == Layout::packed32) {
      draw_packed<<<grid, block_size, 0, stream>>>(kernel);
    } else {
      draw_values<<<grid, block_size, 0, stream>>>(kernel);
    }
  }
  check_launch(RandomState::name);
}

}  // namespace kiln::cuda
