// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/surrogate/posterior_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "processes/process_oracle.hpp"

// Sums in an order of the backend's own.
KILN_CONFORMANCE_CASE(PosteriorWeights, reordered)

namespace kiln::test::posterior_weights_test {
namespace {

using oracle::Numbers;
using oracle::Real;
using oracle::uniform;

constexpr std::int64_t gap = 3;  // values between the rows of matrices

// Processes on points of a line; targets of points beyond `counts` are their means.
struct Processes {
  std::int64_t sets = 1, n = 1, lists = 1;
  std::vector<std::int32_t> counts;
  Numbers x, y, mean;  ///< [sets][n], [sets][lists][n], [sets]

  std::int64_t count(std::int64_t set) const { return counts.empty() ? n : counts[idx(set)]; }
  oracle::Posterior posterior(std::int64_t set, std::int64_t list) const {
    const auto at = x.begin() + set * n, targets = y.begin() + (set * lists + list) * n;
    return {{CovarianceKind::matern32, 1, {-1, 0.3L, -3}, {}},
            {at, at + count(set)},
            {targets, targets + count(set)},
            mean[idx(set)]};
  }
};

struct Weights {
  Numbers inverse, weight, diagonal;  ///< rows of matrices with their gaps
};

Weights weigh(Queue& queue, const Processes& in, bool diagonals = true) {
  const std::int64_t n = in.n, stride = n + gap;
  Numbers factors(idx(in.sets * n * stride), 4711);
  for (std::int64_t set = 0; set < in.sets; ++set) {
    const oracle::Vector s = in.posterior(set, 0).inverse_factor();
    const std::int64_t m = in.count(set);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        factors[idx((set * n + i) * stride + j)] =
            i < m ? static_cast<double>(s[idx(i * m + j)]) : (i == j ? 1.0 : 0.0);
      }
    }
  }
  DeviceArray<double> inverse(queue, factors);
  const DeviceArray<double> target(queue, in.y), mean(queue, in.mean);
  DeviceArray<double> weight(queue, Numbers(in.y.size(), 4711));
  DeviceArray<double> diagonal(queue, Numbers(idx(in.sets * n), 4711));
  PosteriorWeights kernel;
  kernel.inverse_factor = {inverse.data(), in.sets, n, n, stride, n * stride};
  kernel.target = MatrixBatch<const double>::dense(target.data(), in.sets, in.lists, n);
  kernel.mean = mean.view();
  kernel.weight = MatrixBatch<double>::dense(weight.data(), in.sets, in.lists, n);
  if (diagonals) kernel.inverse_diagonal = {diagonal.data(), in.sets, n, n};
  queue.launch(kernel);
  return {inverse.download(), weight.download(), diagonal.download()};
}

Processes make_processes(std::int64_t n, std::int64_t sets = 1, std::int64_t lists = 1) {
  return {sets,
          n,
          lists,
          {},
          uniform(sets * n, 0, 10, 1),
          uniform(sets * lists * n, -2, 2, 2),
          uniform(sets, -1, 1, 3)};
}

void leave_out(Processes& in, std::vector<std::int32_t> counts) {
  in.counts = std::move(counts);
  for (std::int64_t set = 0; set < in.sets; ++set) {
    for (std::int64_t list = 0; list < in.lists; ++list) {
      for (std::int64_t i = in.count(set); i < in.n; ++i) {
        in.y[idx((set * in.lists + list) * in.n + i)] = in.mean[idx(set)];
      }
    }
  }
}

void expect_textbook(const Processes& in, const Weights& out) {
  for (std::int64_t set = 0; set < in.sets; ++set) {
    const std::int64_t m = in.count(set);
    for (std::int64_t list = 0; list < in.lists; ++list) {
      const oracle::Posterior truth = in.posterior(set, list);
      for (std::int64_t i = 0; i < in.n; ++i) {
        const double wanted = i < m ? static_cast<double>(truth.weights()[idx(i)]) : 0;
        EXPECT_NEAR(out.weight[idx((set * in.lists + list) * in.n + i)], wanted,
                    1e-11 * (1 + std::abs(wanted)));
      }
    }
    const oracle::Vector inverse = in.posterior(set, 0).inverse();
    for (std::int64_t i = 0; i < in.n; ++i) {
      const double wanted = i < m ? static_cast<double>(inverse[idx(i * m + i)]) : 1;
      EXPECT_NEAR(out.diagonal[idx(set * in.n + i)], wanted, 1e-11 * wanted);
    }
  }
}

class PosteriorWeightsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(PosteriorWeightsKernel);

TEST_P(PosteriorWeightsKernel, MatchesTheTextbookForEveryShape) {
  for (const std::int64_t n : {1, 2, 31, 100, 300}) {
    for (const std::int64_t lists : {1, 4}) {
      SCOPED_TRACE(std::to_string(n) + " points, " + std::to_string(lists) + " lists");
      const Processes in = make_processes(n, 2, lists);
      expect_textbook(in, weigh(queue(), in));
    }
  }
}

TEST_P(PosteriorWeightsKernel, TakesSetsOfDifferentSizes) {
  Processes in = make_processes(40, 3, 2);
  leave_out(in, {40, 1, 17});
  expect_textbook(in, weigh(queue(), in));
}

TEST_P(PosteriorWeightsKernel, PutsTheTransposeAboveTheDiagonal) {
  const Processes in = make_processes(45, 3);
  const Weights out = weigh(queue(), in);
  const std::int64_t stride = in.n + gap;
  for (std::int64_t set = 0; set < in.sets; ++set) {
    const oracle::Vector s = in.posterior(set, 0).inverse_factor();
    const double* const matrix = &out.inverse[idx(set * in.n * stride)];
    for (std::int64_t i = 0; i < in.n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        const auto element = static_cast<double>(s[idx(i * in.n + j)]);
        ASSERT_EQ(matrix[i * stride + j], element);
        ASSERT_EQ(matrix[j * stride + i], element);
      }
      for (std::int64_t j = in.n; j < stride; ++j) ASSERT_EQ(matrix[i * stride + j], 4711);
    }
  }
}

TEST_P(PosteriorWeightsKernel, LeavesTheDiagonalAloneIfNobodyWantsIt) {
  const Processes in = make_processes(20, 2);
  const Weights all = weigh(queue(), in), some = weigh(queue(), in, false);
  EXPECT_EQ(bits_of(some.weight), bits_of(all.weight));
  EXPECT_EQ(some.diagonal, Numbers(40, 4711));
}

TEST_P(PosteriorWeightsKernel, GivesASetTheSameBitsAloneAndInABatch) {
  const Processes all = make_processes(70, 150, 2);
  const Weights together = weigh(queue(), all);
  for (const std::int64_t set : {0, 7, 149}) {
    const auto part = [&](const Numbers& of, std::int64_t size) {
      return Numbers(of.begin() + set * size, of.begin() + (set + 1) * size);
    };
    const Processes alone{1, 70, 2, {}, part(all.x, 70), part(all.y, 140), part(all.mean, 1)};
    const Weights one = weigh(queue(), alone);
    EXPECT_EQ(bits_of(one.weight), bits_of(part(together.weight, 140)));
    EXPECT_EQ(bits_of(one.diagonal), bits_of(part(together.diagonal, 70)));
  }
}

TEST_P(PosteriorWeightsKernel, AgreesWithTheCpu) {
  const Processes in = make_processes(257, 2, 3);
  const Weights here = weigh(queue(), in), there = weigh(cpu_queue(), in);
  for (std::size_t i = 0; i < here.weight.size(); ++i) {
    ASSERT_NEAR(here.weight[i], there.weight[i], 1e-11 * (1 + std::abs(there.weight[i])));
  }
  for (std::size_t i = 0; i < here.diagonal.size(); ++i) {
    ASSERT_NEAR(here.diagonal[i], there.diagonal[i], 1e-11 * there.diagonal[i]);
  }
}

}  // namespace
}  // namespace kiln::test::posterior_weights_test
