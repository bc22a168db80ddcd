// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/landscape/local_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "images.hpp"

// Sums of integers, and one division.
KILN_CONFORMANCE_CASE(LocalEntropy, exact)

namespace kiln::test::local_entropy_test {
namespace {

struct Inputs {
  Images images;
  std::int32_t window = 9;
  double low = 0, high = 1;
};

std::vector<double> run(Queue& queue, const Inputs& in) {
  const std::int64_t images = in.images.count, pixels = in.images.pixels();
  const DeviceArray<double> value(queue, in.images.value);
  const DeviceArray<std::int64_t> table(queue, LocalEntropy::table(in.window));
  DeviceArray<double> entropy(queue, images * pixels);
  queue.launch(LocalEntropy{{value.data(), images, pixels, pixels},
                            in.images.grid,
                            in.window,
                            in.low,
                            in.high,
                            table.view(),
                            {entropy.data(), images, pixels, pixels}});
  return entropy.download();
}

// -sum p ln p of a window that is looked at as a whole.
double direct_entropy(const Inputs& in, std::int64_t image, std::int32_t row, std::int32_t column) {
  std::map<int, int> counts;
  int all = 0;
  const PixelGrid& grid = in.images.grid;
  for (std::int32_t r = row - in.window / 2; r <= row + in.window / 2; ++r) {
    for (std::int32_t c = column - in.window / 2; c <= column + in.window / 2; ++c) {
      if (r < 0 || r >= grid.rows || c < 0 || c >= grid.columns) continue;
      const double at = in.images.value[idx(image * grid.pixels() + r * grid.columns + c)];
      if (std::isnan(at)) continue;
      const double share = (at - in.low) / (in.high - in.low);
      ++counts[share >= 1 ? 255 : share <= 0 ? 0 : static_cast<int>(256 * share)];
      ++all;
    }
  }
  double entropy = 0;
  for (const auto& [bin, count] : counts) {
    const double p = static_cast<double>(count) / all;
    entropy -= p * std::log(p);
  }
  return entropy;
}

class LocalEntropyKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LocalEntropyKernel);

// The range is a power of two, so that a value is in one bin for certain.
TEST_P(LocalEntropyKernel, IsTheEntropyOfEachWindow) {
  for (const std::int32_t window : {1, 3, 9, 31}) {
    const Inputs in{random_levels({23, 45}, 2, 300, 8, 4), window, 16, 272};
    const std::vector<double> entropy = run(queue(), in);
    for (std::int64_t i = 0; i < in.images.count * in.images.pixels(); ++i) {
      const auto pixel = static_cast<std::int32_t>(i % in.images.pixels());
      if (std::isnan(in.images.value[idx(i)])) {
        EXPECT_TRUE(std::isnan(entropy[idx(i)]));
        continue;
      }
      const double expected = direct_entropy(in, i / in.images.pixels(), pixel / 45, pixel % 45);
      ASSERT_NEAR(entropy[idx(i)], expected, 1e-13) << "window " << window << ", pixel " << pixel;
    }
  }
}

TEST_P(LocalEntropyKernel, IsNothingForEqualValuesAndLn2ForTwoHalves) {
  for (const double range : {1.0, 0.0}) {
    const Inputs in{{{40, 33}, 1, std::vector<double>(40 * 33, 0.25)}, 31, 0.25, 0.25 + range};
    for (const double entropy : run(queue(), in)) EXPECT_EQ(entropy, 0);
  }
  Inputs halves{{{6, 8}, 1, {}}, 31, 0, 1};
  for (int pixel = 0; pixel < 48; ++pixel) halves.images.value.push_back(pixel < 24 ? 0.1 : 0.9);
  for (const double entropy : run(queue(), halves)) {
    EXPECT_NEAR(entropy, std::numbers::ln2, 1e-15);
  }
}

TEST_P(LocalEntropyKernel, PutsValuesBeyondTheRangeIntoTheOutermostBins) {
  const double inf = std::numeric_limits<double>::infinity();
  const Inputs in{{{1, 4}, 1, {-inf, 0.001, 0.999, inf}}, 31, 0, 1};
  for (const double entropy : run(queue(), in)) EXPECT_NEAR(entropy, std::numbers::ln2, 1e-15);
}

TEST_P(LocalEntropyKernel, MatchesCpu) {
  for (const std::int32_t window : {1, 5, 17, 31}) {
    for (const PixelGrid grid : {PixelGrid{256, 256}, PixelGrid{1, 999}, PixelGrid{70, 31}}) {
      const Inputs in{random_levels(grid, 3, 1 << 30, 11, 6), window, 0, 1 << 29};
      EXPECT_EQ(bits_of(run(queue(), in)), bits_of(run(cpu_queue(), in))) << window;
    }
  }
}

}  // namespace
}  // namespace kiln::test::local_entropy_test
