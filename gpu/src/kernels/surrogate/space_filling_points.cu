// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/errors.hpp"
#include "kiln/kernels/surrogate/space_filling_points.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

// A warp has so many points of a row, so that the scramble, which it makes once, is soon paid for.
constexpr std::int64_t points_per_warp = 256;
constexpr int digits = SpaceFillingPoints::digits;
static_assert(digits == warp_size, "a lane has a direction number");

// Lane b makes number b of the row after scrambling; lane q has words 4 q to 4 q + 3 of the
// scramble. All lanes of the warp take part.
__device__ std::uint32_t scrambled_direction(const SpaceFillingPoints& kernel, std::int64_t row,
                                             const Words4& words, unsigned lane) {
  const std::uint32_t plain = kernel.directions(row % kernel.dimension, lane);
  std::uint32_t direction = 0;
#pragma unroll
  for (int digit = 0; digit < digits; ++digit) {
    const std::uint32_t word = __shfl_sync(full_warp, words.word[digit % 4], digit / 4);
    const std::uint32_t column = SpaceFillingPoints::scramble_column(digit, word);
    direction ^= (plain >> (digits - 1 - digit) & 1) != 0 ? column : 0;
  }
  return direction;
}

__device__ void fill_sobol(const SpaceFillingPoints& kernel, std::int64_t row, std::int64_t begin,
                           std::int64_t end) {
  const unsigned lane = threadIdx.x % warp_size;
  const Words4 words = draw_quad(kernel.draws(row, SpaceFillingPoints::scramble), lane);
  const std::uint32_t direction = scrambled_direction(kernel, row, words, lane);
  constexpr int shift = SpaceFillingPoints::shift_word;
  const std::uint32_t start = __shfl_sync(full_warp, words.word[shift % 4], shift / 4);
  const std::uint64_t first = kernel.first_of(row / kernel.dimension);
  double* to = kernel.row_of(row);
  for (std::int64_t base = begin; base < end; base += warp_size) {
    const std::int64_t point = base + lane;
    const auto index = static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(point));
    // As many digits as the largest index of the warp has.
    const int bits = digits - __clz(static_cast<int>(__reduce_or_sync(full_warp, index)));
    std::uint32_t word = start;
    for (int bit = 0; bit < bits; ++bit) {
      const std::uint32_t number = __shfl_sync(full_warp, direction, bit);
      word ^= (index >> bit & 1) != 0 ? number : 0;
    }
    if (point < end) to[point] = open_unit(word);
  }
}

template <PointsKind kind>
__global__ void __launch_bounds__(block_size)
    fill(const __grid_constant__ SpaceFillingPoints kernel, std::int64_t parts) {
  if (!kernel.active()) return;
  const std::int64_t tasks = kernel.rows() * parts;
  const std::int64_t warps = thread_count() / warp_size;
  for (std::int64_t task = thread_index() / warp_size; task < tasks; task += warps) {
    const std::int64_t row = task / parts, begin = task % parts * points_per_warp;
    const std::int64_t left = kernel.points - begin;
    const std::int64_t end = begin + (left < points_per_warp ? left : points_per_warp);
    if constexpr (kind == PointsKind::sobol) {
      fill_sobol(kernel, row, begin, end);
    } else {
      double* to = kernel.row_of(row);
      for (std::int64_t i = begin + threadIdx.x % warp_size; i < end; i += warp_size) {
        to[i] = kind == PointsKind::uniform ? kernel.uniform(row, i) : kernel.latin(row, i);
      }
    }
  }
}

}  // namespace

template <>
void launch(const SpaceFillingPoints& kernel, Queue& queue) {
  if (!kernel.valid()) {
    throw InvalidArgument("kernel.space_filling_points", SpaceFillingPoints::refusal);
  }
  const std::int64_t parts = (kernel.points + points_per_warp - 1) / points_per_warp;
  const std::int64_t threads = kernel.rows() * parts * warp_size;
  if (threads <= 0) return;
  const unsigned blocks = blocks_for(threads);
  const auto stream = stream_of(queue);
  switch (kernel.kind) {
    case PointsKind::sobol:
      fill<PointsKind::sobol><<<blocks, block_size, 0, stream>>>(kernel, parts);
      break;
    case PointsKind::latin_hypercube:
      fill<PointsKind::latin_hypercube><<<blocks, block_size, 0, stream>>>(kernel, parts);
      break;
    case PointsKind::uniform:
      fill<PointsKind::uniform><<<blocks, block_size, 0, stream>>>(kernel, parts);
      break;
  }
  check_launch(SpaceFillingPoints::name);
}

}  // namespace kiln::cuda
