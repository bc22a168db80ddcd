// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/device/views.hpp"
#include "kiln/export.hpp"
#include "kiln/kernels/landscape/kernels.hpp"
#include "kiln/kernels/landscape/pixel_grid.hpp"

namespace kiln {

/// Finds the basins of images and the barriers between them: the persistent homology, in dimension
/// 0, of the filtration of an image by its sublevel sets.
///
/// Pixels enter in the order of their values, and pixels of equal values in the order of their
/// numbers. A pixel that no neighbour precedes is a *minimum*: a component is born. Where a pixel
/// joins components, that of the first minimum lives on, and the others die at this pixel (the
/// elder rule). The persistence of a minimum is the value of the pixel of its death minus its own.
/// A component that meets no elder one never dies: one in each image, or one in each part of an
/// image that walls divide. Pixels of NaN are walls.
///
/// The basin of a pixel is the minimum at the end of the path that goes from each pixel to the
/// neighbour that precedes all its other neighbours. Class E: all results are numbers of pixels.
/// @par Source  Edelsbrunner, Letscher, Zomorodian, Discrete Comput. Geom. 28 (2002) 511.
struct KILN_API SublevelPersistence {
  static constexpr const char* name = "sublevel_persistence";
  static constexpr const char* summary =
      "finds the basins of images, and the pixels at which each joins a deeper one";
  static constexpr std::int32_t wall = -1;   ///< as a basin
  static constexpr std::int32_t never = -1;  ///< as a death

  View2<const double> value;  ///< [images][pixels]
  PixelGrid grid;             ///< of each image
  View2<std::int32_t> basin;  ///< [images][pixels], the minimum of each pixel; `wall` for walls
  /// [images][pixels], at a minimum the pixel of its death or `never`; `never` elsewhere. A pixel
  /// is a minimum if it is its own basin.
  View2<std::int32_t> death;
  View1<std::byte> room;  ///< room_bytes(), used by a GPU; may be empty on a CPU

  /// Bytes of one image in `room`: for each pixel a saddle (value and number), the elder basin and
  /// an entry of a list.
  KILN_HD static std::int64_t room_of_image(const PixelGrid& grid) {
    const std::int64_t bytes_of_pixel = sizeof(std::uint64_t) + 3 * sizeof(std::int32_t);
    return (std::int64_t{grid.pixels()} * bytes_of_pixel + 15) / 16 * 16;
  }
  static std::int64_t room_bytes(std::int64_t images, const PixelGrid& grid) {
    return images * room_of_image(grid);
  }

  KILN_HD bool is_wall(std::int64_t image, std::int32_t pixel) const {
    const double at = value(image, pixel);
    return at != at;
  }
  /// Whether pixel a enters before pixel b; neither is a wall.
  KILN_HD bool precedes(std::int64_t image, std::int32_t a, std::int32_t b) const {
    const double of_a = value(image, a), of_b = value(image, b);
    return of_a < of_b || (of_a == of_b && a < b);
  }
  /// The first of the pixel and its neighbours, for a pixel that is no wall.
  KILN_HD std::int32_t steepest(std::int64_t image, std::int32_t pixel) const {
    std::int32_t first = pixel;
    for (std::int32_t direction = 0; direction < PixelGrid::directions; ++direction) {
      const std::int32_t next = grid.neighbor(pixel, direction);
      if (next == PixelGrid::none || is_wall(image, next)) continue;
      if (precedes(image, next, first)) first = next;
    }
    return first;
  }
};

}  // namespace kiln
