// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/delay_embedding.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Copies.
KILN_CONFORMANCE_CASE(DelayEmbedding, exact)

namespace kiln::test::delay_embedding_test {
namespace {

using Numbers = std::vector<std::int32_t>;

struct Inputs {
  std::int64_t length = 1, n = 1, orders = 0, surrogates = 0, series_count = 1;
  std::vector<double> series;  // [series][length]
  Numbers times, order, surrogate;
  std::vector<EmbeddedAxis> embedding;
};

// Orders and surrogates need not be permutations.
Inputs make_inputs(std::int64_t length, std::int32_t longest, std::int64_t axes,
                   std::uint64_t seed) {
  TestRandom random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int32_t>(random.between(0, n - 1));
  };
  Inputs in;
  in.length = length;
  in.series_count = 3;
  in.orders = 2;
  in.surrogates = 4;
  for (std::int64_t i = 0; i < in.series_count * length; ++i) in.series.push_back(random.unit());
  for (std::int32_t t = longest; t < length; ++t) {
    if (t + 1 == length || random.between(0, 4) > 0) in.times.push_back(t);
  }
  in.n = std::ssize(in.times);
  for (std::int64_t i = 0; i < in.orders * in.n; ++i) in.order.push_back(below(in.n));
  for (std::int64_t i = 0; i < in.surrogates * in.n; ++i) in.surrogate.push_back(below(in.n));
  for (std::int64_t a = 0; a < axes; ++a) {
    in.embedding.push_back({below(in.series_count), below(longest + 1), below(in.orders + 1) - 1,
                            below(in.surrogates + 1) - 1});
  }
  return in;
}

std::vector<double> run(Queue& queue, const Inputs& in) {
  const DeviceArray<double> series(queue, in.series);
  const DeviceArray<std::int32_t> times(queue, in.times), order(queue, in.order),
      surrogate(queue, in.surrogate);
  const DeviceArray<EmbeddedAxis> embedding(queue, in.embedding);
  DeviceArray<double> axes(queue, std::vector<double>(in.embedding.size() * idx(in.n), -17));
  DelayEmbedding kernel;
  kernel.series = {series.data(), in.series_count, in.length, in.length};
  kernel.times = times.view();
  kernel.embedding = embedding.view();
  kernel.orders = {order.data(), in.orders, in.n, in.n};
  kernel.surrogates = {surrogate.data(), in.surrogates, in.n, in.n};
  kernel.axes = {axes.data(), std::ssize(in.embedding), in.n, in.n};
  queue.launch(kernel);
  return axes.download();
}

class DelayEmbeddingKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DelayEmbeddingKernel);

TEST_P(DelayEmbeddingKernel, TakesValuesFromThePast) {
  Inputs in;
  in.length = 6;
  in.series_count = 2;
  in.series = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25};
  in.times = {2, 3, 5};
  in.n = 3;
  in.orders = in.surrogates = 1;
  in.order = {2, 0, 1};
  in.surrogate = {1, 2, 0};
  // As it is; of the past; in order; a surrogate; a surrogate in order: places 0, 1, 2.
  in.embedding = {{0, 0, -1, -1}, {1, 2, -1, -1}, {0, 0, 0, -1}, {0, 1, -1, 0}, {1, 0, 0, 0}};
  EXPECT_EQ(run(queue(), in), (std::vector<double>{12, 13, 15,  //
                                                   20, 21, 23,  //
                                                   15, 12, 13,  //
                                                   12, 14, 11,  //
                                                   22, 23, 25}));
}

// An order that differs from its inverse, and a surrogate that does not commute with it.
TEST_P(DelayEmbeddingKernel, PutsPointsInOrderBeforeItTakesSurrogates) {
  Inputs in;
  in.length = in.n = 4;
  in.series = {0, 1, 2, 3};
  in.times = {0, 1, 2, 3};
  in.orders = in.surrogates = 1;
  in.order = {1, 2, 0, 3};
  in.surrogate = {3, 0, 1, 2};
  in.embedding = {{0, 0, 0, 0}};
  EXPECT_EQ(run(queue(), in), (std::vector<double>{0, 1, 3, 2}));
}

TEST_P(DelayEmbeddingKernel, MatchesCpu) {
  for (const std::int64_t length : {9, 33, 257, 1000, 4097, 30011}) {
    const Inputs in = make_inputs(length, 8, 37, idx(length));
    const std::vector<double> axes = run(queue(), in);
    EXPECT_EQ(axes, run(cpu_queue(), in)) << length;
    EXPECT_EQ(std::ranges::count(axes, -17), 0) << length;
  }
}

}  // namespace
}  // namespace kiln::test::delay_embedding_test
