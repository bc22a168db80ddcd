// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/local_entropy.hpp"

#include "kernels/grid.cuh"
#include "tuned.hpp"

namespace kiln::cuda {
namespace {

constexpr int warps_of_block = 4;
constexpr int strip = 32;  // pixels of a row that a warp does

// A window that a warp moves along a row. Each lane has a row of the window.
struct MovingWindow {
  const LocalEntropy& kernel;
  std::int64_t image;
  std::int32_t* counts;  // [bins], shared
  std::int32_t row;      // of the lane; none: it has no row in the image
  double density;
  std::int32_t values = 0;  // of the lane's own changes
  std::int64_t sum = 0;

  // The terms of all changes of a bin add up to the same in any order.
  __device__ void change(std::int32_t column, std::int32_t by) {
    if (row == PixelGrid::none || column < 0 || column >= kernel.grid.columns) return;
    const std::int32_t pixel = row * kernel.grid.columns + column;
    if (kernel.is_left_out(image, pixel)) return;
    const std::int32_t before = atomicAdd(&counts[kernel.bin_of(image, pixel, density)], by);
    sum += kernel.c_log_c[before + by] - kernel.c_log_c[before];
    values += by;
  }
  __device__ double entropy() const {
    std::int64_t all = sum;
    for (int apart = warp_size / 2; apart > 0; apart /= 2) {
      all += __shfl_xor_sync(full_warp, static_cast<long long>(all), apart);
    }
    return kernel.entropy_of(__reduce_add_sync(full_warp, values), all);
  }
};

__device__ void do_strip(const LocalEntropy& kernel, std::int64_t image, std::int32_t row,
                         std::int32_t begin, std::int32_t* counts) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int32_t half = kernel.window / 2;
  std::int32_t my_row = row - half + lane;
  if (lane >= kernel.window || my_row < 0 || my_row >= kernel.grid.rows) my_row = PixelGrid::none;
  for (int bin = lane; bin < LocalEntropy::bins; bin += warp_size) counts[bin] = 0;
  __syncwarp();
  MovingWindow window{kernel, image, counts, my_row, kernel.density()};
  for (std::int32_t column = begin - half; column < begin + half; ++column) {
    window.change(column, +1);
  }
  const std::int32_t end = min(begin + strip, kernel.grid.columns);
  for (std::int32_t column = begin; column < end; ++column) {
    // In this order no lane ever has more than the window, and no count is beyond the table.
    if (column > begin) window.change(column - half - 1, -1);
    window.change(column + half, +1);
    const std::int32_t pixel = row * kernel.grid.columns + column;
    const bool left_out = kernel.is_left_out(image, pixel);
    const double entropy = left_out ? exact::not_a_number() : window.entropy();
    if (lane == 0) kernel.entropy(image, pixel) = entropy;
  }
  __syncwarp();
}

__global__ void __launch_bounds__(warps_of_block* warp_size)
    move_windows(const __grid_constant__ LocalEntropy kernel) {
  __shared__ std::int32_t counts[warps_of_block][LocalEntropy::bins];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t strips = (kernel.grid.columns + strip - 1) / strip;
  const std::int64_t strips_of_image = strips * kernel.grid.rows;
  for (std::int64_t task = thread_index() / warp_size; task < kernel.value.rows * strips_of_image;
       task += thread_count() / warp_size) {
    const std::int64_t image = task / strips_of_image, within = task % strips_of_image;
    do_strip(kernel, image, static_cast<std::int32_t>(within / strips),
             static_cast<std::int32_t>(within % strips) * strip, counts[warp]);
  }
}

// Blocks beyond those that fit at once wait until others have ended; a block takes strips in turns.
constexpr int usual_waves = 2;
const Tunable local_entropy_grid([] {
  TunableDescription of = tunable_of("local_entropy", "local_entropy", "strips of 32 pixels",
                                     {{"warps", {1, 2, 4}}, {"waves", {1, 2, 4, 8, 16}}});
  of.default_shape = LaunchShape{warps_of_block, usual_waves};
  return of;
}());

}  // namespace

template <>
void launch(const LocalEntropy& kernel, Queue& queue) {
  const std::int64_t strips =
      kernel.value.rows * kernel.grid.rows * ((kernel.grid.columns + strip - 1) / strip);
  if (strips <= 0) return;
  const LaunchShape* const shape = tuned(local_entropy_grid, queue, strips);
  const int warps = shape != nullptr ? (*shape)[0] : warps_of_block;
  const int waves = shape != nullptr ? (*shape)[1] : usual_waves;
  const int threads = warps * warp_size;
  const unsigned blocks = static_cast<unsigned>(
      std::clamp<std::int64_t>((strips + warps - 1) / warps, 1, waves * filling_blocks));
  move_windows<<<blocks, threads, 0, stream_of(queue)>>>(kernel);
  check_launch(LocalEntropy::name);
}

}  // namespace kiln::cuda
