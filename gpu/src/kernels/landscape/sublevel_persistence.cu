// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/sublevel_persistence.hpp"

#include "kernels/grid.cuh"

namespace kiln::cuda {
namespace {

using Key = unsigned long long;

constexpr int threads = 1024;
constexpr Key no_key = ~Key{0};

// An image with its room. Basins that were joined are a component, and the first of their minima
// stands for it.
struct Image {
  const SublevelPersistence& kernel;
  std::int64_t number;
  std::int32_t* basin;         // [pixels]
  Key* saddle_key;             // [pixels], at the first minimum: of the lowest saddle
  std::int32_t* saddle_pixel;  // [pixels], at the first minimum: the first such saddle
  std::int32_t* elder;         // [pixels], at a minimum: one that took it in, or itself
  std::int32_t* saddles;       // [pixels], a list of those that touch several components

  __device__ Image(const SublevelPersistence& k, std::int64_t image)
      : kernel(k), number(image), basin(&k.basin(image, 0)) {
    const std::int64_t pixels = k.grid.pixels();
    std::byte* const room = k.room.data + image * SublevelPersistence::room_of_image(k.grid);
    saddle_key = reinterpret_cast<Key*>(room);
    saddle_pixel = reinterpret_cast<std::int32_t*>(saddle_key + pixels);
    elder = saddle_pixel + pixels;
    saddles = elder + pixels;
  }

  __device__ bool precedes(std::int32_t a, std::int32_t b) const {
    return kernel.precedes(number, a, b);
  }
  // Keys are ordered as the values are, and equal where they are.
  __device__ Key key_of(std::int32_t pixel) const {
    const auto bits = static_cast<Key>(__double_as_longlong(kernel.value(number, pixel) + 0.0));
    return (bits >> 63) != 0 ? ~bits : bits | Key{1} << 63;
  }
  // Others shorten paths and join components at the same time. What they write is an elder minimum
  // of the same component.
  __device__ std::int32_t first_of(std::int32_t pixel) const {
    volatile std::int32_t* const above = elder;
    std::int32_t minimum = basin[pixel];
    std::int32_t next = above[minimum];
    while (next != minimum) {
      const std::int32_t after = above[next];
      if (after != next) above[minimum] = after;
      minimum = next;
      next = after;
    }
    return minimum;
  }
};

// The components that a pixel joins: its own, and those of the neighbours that precede it.
struct Touched {
  std::int32_t first[PixelGrid::directions];
  int count = 0;

  __device__ Touched(const Image& image, std::int32_t pixel) {
    first[count++] = image.first_of(pixel);
    for (std::int32_t direction = 0; direction < PixelGrid::directions; ++direction) {
      const std::int32_t next = image.kernel.grid.neighbor(pixel, direction);
      if (next == PixelGrid::none || image.basin[next] == SublevelPersistence::wall) continue;
      if (image.precedes(next, pixel)) add(image.first_of(next));
    }
  }
  __device__ void add(std::int32_t component) {
    for (int i = 0; i < count; ++i) {
      if (first[i] == component) return;
    }
    first[count++] = component;
  }
  __device__ std::int32_t eldest(const Image& image) const {
    std::int32_t least = first[0];
    for (int i = 1; i < count; ++i) {
      if (image.precedes(first[i], least)) least = first[i];
    }
    return least;
  }
};

__device__ void find_basins(const Image& image) {
  const std::int32_t pixels = image.kernel.grid.pixels();
  for (int pixel = static_cast<int>(threadIdx.x); pixel < pixels; pixel += threads) {
    const bool is_wall = image.kernel.is_wall(image.number, pixel);
    image.basin[pixel] =
        is_wall ? SublevelPersistence::wall : image.kernel.steepest(image.number, pixel);
    image.elder[pixel] = pixel;
    image.kernel.death(image.number, pixel) = SublevelPersistence::never;
  }
  // Paths are halved until they have one step. Others halve theirs at the same time.
  volatile std::int32_t* const basin = image.basin;
  int moved = 1;
  while (__syncthreads_or(moved) != 0) {
    moved = 0;
    for (int pixel = static_cast<int>(threadIdx.x); pixel < pixels; pixel += threads) {
      const std::int32_t below = basin[pixel];
      if (below == SublevelPersistence::wall) continue;
      const std::int32_t next = basin[below];
      if (next == below) continue;
      basin[pixel] = next;
      moved = 1;
    }
  }
}

// Keeps the pixels of a list that touch several components, and forgets the saddles of those.
// @param listed  whether there is a list; else it is all pixels.
// @return their number, to all threads.
__device__ int keep_saddles(const Image& image, bool listed, int count, int& kept) {
  if (threadIdx.x == 0) kept = 0;
  __syncthreads();
  for (int begin = 0; begin < count; begin += threads) {
    const int at = begin + static_cast<int>(threadIdx.x);
    const std::int32_t pixel = at >= count ? PixelGrid::none : listed ? image.saddles[at] : at;
    __syncthreads();  // the list is written up to what was read
    if (pixel == PixelGrid::none || image.basin[pixel] == SublevelPersistence::wall) continue;
    const Touched touched(image, pixel);
    if (touched.count == 1) continue;
    image.saddles[atomicAdd(&kept, 1)] = pixel;
    for (int i = 0; i < touched.count; ++i) {
      image.saddle_key[touched.first[i]] = no_key;
      image.saddle_pixel[touched.first[i]] = image.kernel.grid.pixels();
    }
  }
  __syncthreads();
  return kept;
}

// The lowest saddle of each component, in two steps: its value, then its number.
__device__ void find_lowest_saddles(const Image& image, int count) {
  for (int at = static_cast<int>(threadIdx.x); at < count; at += threads) {
    const std::int32_t pixel = image.saddles[at];
    const Touched touched(image, pixel);
    for (int i = 0; i < touched.count; ++i) {
      atomicMin(&image.saddle_key[touched.first[i]], image.key_of(pixel));
    }
  }
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < count; at += threads) {
    const std::int32_t pixel = image.saddles[at];
    const Touched touched(image, pixel);
    for (int i = 0; i < touched.count; ++i) {
      const std::int32_t first = touched.first[i];
      if (image.saddle_key[first] == image.key_of(pixel)) {
        atomicMin(&image.saddle_pixel[first], pixel);
      }
    }
  }
  __syncthreads();
}

// A component whose lowest saddle leads to an elder one dies there, whatever happens elsewhere. If
// the elder one was just taken in by a third, that one is elder still, and the pixel of the death
// is the same.
__device__ void join_elders(const Image& image, int count) {
  for (int at = static_cast<int>(threadIdx.x); at < count; at += threads) {
    const std::int32_t pixel = image.saddles[at];
    const Touched touched(image, pixel);
    const std::int32_t eldest = touched.eldest(image);
    for (int i = 0; i < touched.count; ++i) {
      const std::int32_t first = touched.first[i];
      if (first == eldest || image.saddle_pixel[first] != pixel) continue;
      image.kernel.death(image.number, first) = pixel;
      *static_cast<volatile std::int32_t*>(&image.elder[first]) = eldest;
    }
  }
  __syncthreads();
}

// Of all saddles that are left the lowest is that of two components, and the younger of them dies:
// there is an end.
__global__ void __launch_bounds__(threads, 1)
    join_basins(const __grid_constant__ SublevelPersistence kernel) {
  __shared__ int kept;
  for (std::int64_t number = blockIdx.x; number < kernel.value.rows; number += gridDim.x) {
    const Image image(kernel, number);
    find_basins(image);
    int count = keep_saddles(image, false, kernel.grid.pixels(), kept);
    while (count > 0) {
      find_lowest_saddles(image, count);
      join_elders(image, count);
      count = keep_saddles(image, true, count, kept);
    }
    __syncthreads();
  }
}

}  // namespace

template <>
void launch(const SublevelPersistence& kernel, Queue& queue) {
  if (kernel.value.rows <= 0 || kernel.grid.pixels() <= 0) return;
  const std::int64_t blocks = std::min(kernel.value.rows, filling_blocks);
  join_basins<<<static_cast<unsigned>(blocks), threads, 0, stream_of(queue)>>>(kernel);
  check_launch(SublevelPersistence::name);
}

}  // namespace kiln::cuda
