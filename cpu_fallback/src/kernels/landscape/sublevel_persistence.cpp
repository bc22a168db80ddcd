// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/sublevel_persistence.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// One image, whose pixels enter one after the other.
class Filtration {
 public:
  Filtration(const SublevelPersistence& kernel, std::int64_t image)
      : kernel_(kernel), image_(image), basin_(&kernel.basin(image, 0)) {}

  void run() {
    const std::int32_t pixels = kernel_.grid.pixels();
    elder_.assign(static_cast<std::size_t>(pixels), not_yet);
    std::vector<std::int32_t> order;
    for (std::int32_t pixel = 0; pixel < pixels; ++pixel) {
      basin_[pixel] = SublevelPersistence::wall;
      kernel_.death(image_, pixel) = SublevelPersistence::never;
      if (!kernel_.is_wall(image_, pixel)) order.push_back(pixel);
    }
    std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) { return precedes(a, b); });
    for (const std::int32_t pixel : order) enter(pixel);
  }

 private:
  static constexpr std::int32_t not_yet = -1;

  bool precedes(std::int32_t a, std::int32_t b) const { return kernel_.precedes(image_, a, b); }

  void enter(std::int32_t pixel) {
    const std::int32_t below = kernel_.steepest(image_, pixel);
    basin_[pixel] = below == pixel ? pixel : basin_[below];
    elder_[static_cast<std::size_t>(pixel)] = basin_[pixel];
    for (std::int32_t direction = 0; direction < PixelGrid::directions; ++direction) {
      const std::int32_t next = kernel_.grid.neighbor(pixel, direction);
      if (next == PixelGrid::none || elder_[static_cast<std::size_t>(next)] == not_yet) continue;
      join(first_of(pixel), first_of(next), pixel);
    }
  }

  // The first minimum of the component of a pixel.
  std::int32_t first_of(std::int32_t pixel) {
    std::int32_t above = elder_[static_cast<std::size_t>(pixel)];
    while (above != pixel) {
      const std::int32_t next = elder_[static_cast<std::size_t>(above)];
      elder_[static_cast<std::size_t>(pixel)] = next;
      pixel = above;
      above = next;
    }
    return pixel;
  }

  void join(std::int32_t a, std::int32_t b, std::int32_t at) {
    if (a == b) return;
    if (precedes(b, a)) std::swap(a, b);
    elder_[static_cast<std::size_t>(b)] = a;
    kernel_.death(image_, b) = at;
  }

  const SublevelPersistence& kernel_;
  std::int64_t image_;
  std::int32_t* basin_;              // [pixels]
  std::vector<std::int32_t> elder_;  // [pixels], an earlier pixel of the component, or itself
};

}  // namespace

template <>
void launch(const SublevelPersistence& kernel, Queue& queue) {
  if (kernel.grid.pixels() <= 0) return;
  pool_of(queue).for_each(kernel.value.rows,
                          [&](std::int64_t image) { Filtration(kernel, image).run(); });
}

}  // namespace kiln::cpu
