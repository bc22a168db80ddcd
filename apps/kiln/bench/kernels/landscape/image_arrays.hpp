// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kiln/kernels/landscape/pixel_grid.hpp"
#include "kiln/queue.hpp"

namespace kiln::cli {

/// Images of 256 x 256 points of the function rastrigin on [-5.12, 5.12]^2, with 121 minima each.
class ImageArrays {
 public:
  ImageArrays(Queue& queue, std::int64_t images)
      : images_(images), value_(queue, rastrigin(images)) {}

  static PixelGrid grid() { return {side, side, true}; }
  std::int64_t images() const { return images_; }
  std::int64_t pixels() const { return grid().pixels(); }
  View2<const double> value() const { return {value_.data(), images_, pixels(), pixels()}; }
  double bytes() const { return static_cast<double>(value_.bytes()); }

 private:
  static constexpr std::int32_t side = 256;

  static std::vector<double> rastrigin(std::int64_t images) {
    const auto along = [](std::int32_t i) {
      const double x = 5.12 * (2.0 * i / (side - 1) - 1);
      return x * x - 10 * std::cos(6.283185307179586 * x) + 10;
    };
    std::vector<double> values;
    for (std::int64_t image = 0; image < images; ++image) {
      for (std::int32_t pixel = 0; pixel < side * side; ++pixel) {
        values.push_back(along(pixel % side) + along(pixel / side));
      }
    }
    return values;
  }

  std::int64_t images_;
  DeviceArray<double> value_;
};

}  // namespace kiln::cli
