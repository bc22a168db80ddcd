// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/local_entropy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "launch.hpp"

namespace kiln::cpu {
namespace {

// A window that moves along a row of an image.
class MovingWindow {
 public:
  MovingWindow(const LocalEntropy& kernel, std::int64_t image, std::int32_t row)
      : kernel_(kernel), image_(image), row_(row), density_(kernel.density()) {
    const std::int32_t half = kernel.window / 2;
    first_row_ = std::max(row - half, 0);
    last_row_ = std::min(row + half, kernel.grid.rows - 1);
  }

  void run() {
    const std::int32_t half = kernel_.window / 2, columns = kernel_.grid.columns;
    for (std::int32_t column = 0; column < std::min(half, columns); ++column) add(column, +1);
    for (std::int32_t column = 0; column < columns; ++column) {
      if (column - half > 0) add(column - half - 1, -1);
      if (column + half < columns) add(column + half, +1);
      const std::int32_t pixel = row_ * columns + column;
      kernel_.entropy(image_, pixel) = kernel_.is_left_out(image_, pixel)
                                           ? exact::not_a_number()
                                           : kernel_.entropy_of(values_, sum_);
    }
  }

 private:
  void add(std::int32_t column, std::int32_t change) {
    for (std::int32_t row = first_row_; row <= last_row_; ++row) {
      const std::int32_t pixel = row * kernel_.grid.columns + column;
      if (kernel_.is_left_out(image_, pixel)) continue;
      const std::int32_t bin = kernel_.bin_of(image_, pixel, density_);
      std::int32_t& count = counts_[static_cast<std::size_t>(bin)];
      sum_ += kernel_.c_log_c[count + change] - kernel_.c_log_c[count];
      count += change;
      values_ += change;
    }
  }

  const LocalEntropy& kernel_;
  std::int64_t image_;
  std::int32_t row_;
  double density_;
  std::int32_t first_row_ = 0, last_row_ = 0;
  std::array<std::int32_t, LocalEntropy::bins> counts_{};
  std::int32_t values_ = 0;
  std::int64_t sum_ = 0;
};

}  // namespace

template <>
void launch(const LocalEntropy& kernel, Queue& queue) {
  if (kernel.grid.pixels() <= 0) return;
  const std::int64_t rows = kernel.grid.rows;
  pool_of(queue).for_each(kernel.value.rows * rows, [&](std::int64_t task) {
    MovingWindow(kernel, task / rows, static_cast<std::int32_t>(task % rows)).run();
  });
}

}  // namespace kiln::cpu
