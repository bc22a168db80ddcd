// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/linear_algebra/lbfgs_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Sums in an order of the backend's own, which steps amplify; the minimum at the end is the
// same.
KILN_CONFORMANCE_CASE(LbfgsStep, reordered)

namespace kiln::test::lbfgs_step_test {
namespace {

using Numbers = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Value of an item at a point; writes the gradient.
using Function = std::function<double(std::int64_t item, const double* x, double* gradient)>;

struct Search {
  std::int64_t n = 1;
  Numbers start, lower, upper;  ///< starts [items][n]; walls likewise, or one row
  Function function;
  double sign = 1, first_step = 0.5, value_tolerance = 1e-14, gradient_tolerance = 1e-9;
  std::int32_t max_iterations = 500;
  int max_rounds = 2000;

  std::int64_t items() const { return static_cast<std::int64_t>(start.size()) / n; }
};

struct Ends {
  Numbers point, value;  ///< [items][n]; of LbfgsState
  std::vector<LbfgsState> state;
  std::vector<int> evaluations;  ///< [items], until each ended
  std::vector<std::int32_t> running;
};

// Trials are in the box, values never grow, and what has ended stays as it is.
class Watcher {
 public:
  explicit Watcher(const Search& in) : in_(in) {}
  void see(const Ends& now) {
    for (std::int64_t item = 0; item < in_.items(); ++item) {
      const std::size_t at = idx(item);
      for (std::int64_t k = 0; k < in_.n; ++k) {
        const auto i = idx(item * in_.n + k);
        const auto wall = in_.lower.size() == idx(in_.n) ? idx(k) : i;
        EXPECT_GE(now.point[i], in_.lower[wall]);
        EXPECT_LE(now.point[i], in_.upper[wall]);
        if (!before_.running.empty() && before_.running[at] == 0) {
          EXPECT_EQ(now.point[i], before_.point[i]);
        }
      }
      if (before_.running.empty() || before_.state[at].begun == 0) continue;
      EXPECT_LE(now.state[at].value, before_.state[at].value);
      EXPECT_GE(before_.running[at], now.running[at]);
    }
    before_ = now;
  }

 private:
  const Search& in_;
  Ends before_;
};

Ends search(Queue& queue, const Search& in) {
  const std::int64_t n = in.n, items = in.items(), pairs = LbfgsStep::pair_size(n);
  const auto room = [&](std::int64_t size) {
    return DeviceArray<double>(queue, Numbers(idx(size), 4711));
  };
  DeviceArray<double> point = room(items * n), gradient = room(items * n);
  DeviceArray<double> direction = room(items * n), pair = room(items * pairs);
  DeviceArray<double> trial(queue, in.start), slopes = room(items * n), values = room(items);
  const DeviceArray<double> lower(queue, in.lower), upper(queue, in.upper);
  DeviceArray<LbfgsState> state(queue, std::vector<LbfgsState>(idx(items)));
  DeviceArray<std::int32_t> running(queue, std::vector<std::int32_t>(idx(items), 1));
  LbfgsStep kernel;
  kernel.items = items;
  kernel.point = {point.data(), items, n, n};
  kernel.gradient = {gradient.data(), items, n, n};
  kernel.direction = {direction.data(), items, n, n};
  kernel.pair = {pair.data(), items, pairs, pairs};
  kernel.trial = {trial.data(), items, n, n};
  kernel.trial_gradient = {slopes.data(), items, n, n};
  kernel.trial_value = values.view();
  kernel.lower = {lower.data(), lower.size() / n, n, n};
  kernel.upper = {upper.data(), upper.size() / n, n, n};
  kernel.state = state.view();
  kernel.running = running.view();
  kernel.sign = in.sign;
  kernel.first_step = in.first_step;
  kernel.value_tolerance = in.value_tolerance;
  kernel.gradient_tolerance = in.gradient_tolerance;
  kernel.max_iterations = in.max_iterations;
  Ends out{
      in.start, {}, {}, std::vector<int>(idx(items)), std::vector<std::int32_t>(idx(items), 1)};
  Watcher watcher(in);
  for (int round = 0; round < in.max_rounds; ++round) {
    Numbers f(idx(items), nan), g(idx(items * n), nan);  // not read of items that have ended
    for (std::int64_t item = 0; item < items; ++item) {
      if (out.running[idx(item)] == 0) continue;
      f[idx(item)] = in.function(item, &out.point[idx(item * n)], &g[idx(item * n)]);
      ++out.evaluations[idx(item)];
    }
    values.upload(f);
    slopes.upload(g);
    queue.launch(kernel);
    out.point = trial.download();
    out.running = running.download();
    out.state = state.download();
    watcher.see(out);
    if (std::ranges::all_of(out.running, [](std::int32_t r) { return r == 0; })) break;
  }
  for (const LbfgsState& s : out.state) out.value.push_back(s.value);
  return out;
}

// sum over k of c_k (x_k - a_k)^2 with curvatures up to a thousand.
Function quadratic(std::int64_t n, Numbers minimum) {
  return [n, minimum](std::int64_t, const double* x, double* g) {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const double c = std::pow(1000.0, n > 1 ? double(k) / double(n - 1) : 0);
      const double d = x[k] - minimum[idx(k)];
      sum += c * d * d;
      g[k] = 2 * c * d;
    }
    return sum;
  };
}

double rosenbrock(std::int64_t n, const double* x, double* g) {
  double sum = 0;
  std::fill(g, g + n, 0.0);
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const double bend = x[k + 1] - x[k] * x[k], off = 1 - x[k];
    sum += 100 * bend * bend + off * off;
    g[k] += -400 * bend * x[k] - 2 * off;
    g[k + 1] += 200 * bend;
  }
  return sum;
}
Function rosenbrocks(std::int64_t n) {
  return [n](std::int64_t, const double* x, double* g) { return rosenbrock(n, x, g); };
}

Numbers starts(std::int64_t items, std::int64_t n, double low, double high) {
  TestRandom random(idx(n));
  Numbers all;
  for (std::int64_t i = 0; i < items * n; ++i) all.push_back(low + (high - low) * random.unit());
  return all;
}

Search make_search(std::int64_t items, std::int64_t n, double low, double high, Function function) {
  Search in;
  in.n = n;
  in.start = starts(items, n, low, high);
  in.lower.assign(idx(n), low);
  in.upper.assign(idx(n), high);
  in.function = std::move(function);
  return in;
}

void expect_ends(const Search& in, const Ends& out, const Numbers& minimum, double tolerance) {
  for (std::size_t i = 0; i < out.point.size(); ++i) {
    EXPECT_NEAR(out.point[i], minimum[i % idx(in.n)], tolerance) << i;
  }
  for (const std::int32_t running : out.running) EXPECT_EQ(running, 0);
}

class LbfgsStepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(LbfgsStepKernel);

TEST_P(LbfgsStepKernel, FindsTheMinimaOfQuadraticFunctions) {
  for (const std::int64_t n : {1, 2, 8, 33, 100}) {
    SCOPED_TRACE(n);
    const Numbers minimum = starts(1, n, -1, 1);
    const Search in = make_search(5, n, -3, 3, quadratic(n, minimum));
    expect_ends(in, search(queue(), in), minimum, 1e-6);
  }
}

TEST_P(LbfgsStepKernel, FollowsBentValleys) {
  for (const std::int64_t n : {2, 3}) {
    const Search in = make_search(20, n, -2, 2, rosenbrocks(n));
    const Ends out = search(queue(), in);
    expect_ends(in, out, Numbers(idx(n), 1), 1e-5);
    for (const int evaluations : out.evaluations) EXPECT_LT(evaluations, 200);
  }
  Search in = make_search(4, 10, 0, 2, rosenbrocks(10));
  expect_ends(in, search(queue(), in), Numbers(10, 1), 1e-5);
}

TEST_P(LbfgsStepKernel, StopsAtWalls) {
  // The minimum of a separable function is that of each axis.
  const Numbers centre{-2, 0.3, 5, -0.1, 2, 0.9};
  Search in = make_search(10, 6, -1, 1, quadratic(6, centre));
  Numbers minimum = centre;
  for (double& x : minimum) x = std::clamp(x, -1.0, 1.0);
  Ends out = search(queue(), in);
  expect_ends(in, out, minimum, 1e-7);
  for (std::size_t item = 0; item < 10; ++item) {
    for (const std::size_t k : {0, 2, 4}) EXPECT_EQ(out.point[6 * item + k], minimum[k]);
  }
  // The valley meets the wall x = 1 / 2 where y = 1 / 4.
  in = make_search(10, 2, -2, 0.5, rosenbrocks(2));
  out = search(queue(), in);
  expect_ends(in, out, {0.5, 0.25}, 1e-6);
  for (const double value : out.value) EXPECT_NEAR(value, 0.25, 1e-10);
}

TEST_P(LbfgsStepKernel, HasABoxForEachItem) {
  Search in = make_search(2, 2, -1, 1, quadratic(2, {0, 0}));
  in.start = {0.6, 0.9, -0.9, 0.2};
  in.lower = {0.5, -1, -1, 0.125};
  in.upper = {1, 1, -0.25, 1};
  const Ends out = search(queue(), in);
  EXPECT_EQ(out.point[0], 0.5);
  EXPECT_NEAR(out.point[1], 0, 1e-7);
  EXPECT_EQ(out.point[2], -0.25);
  EXPECT_EQ(out.point[3], 0.125);
}

TEST_P(LbfgsStepKernel, HoldsCoordinatesWhoseWallsCoincide) {
  Search in = make_search(3, 3, -2, 2, rosenbrocks(3));
  in.lower[1] = in.upper[1] = 0.5;
  for (std::size_t item = 0; item < 3; ++item) in.start[3 * item + 1] = 0.5;
  const Ends out = search(queue(), in);
  for (std::size_t item = 0; item < 3; ++item) {
    EXPECT_EQ(out.point[3 * item + 1], 0.5);
    EXPECT_NEAR(out.point[3 * item + 2], 0.25, 1e-6);
  }
}

TEST_P(LbfgsStepKernel, EndsEachItemByItself) {
  // Item 0 begins at the minimum, item 1 at a wall that holds it, the others need their time.
  Search in = make_search(6, 2, -2, 2, rosenbrocks(2));
  in.function = [](std::int64_t item, const double* x, double* g) {
    if (item != 1) return rosenbrock(2, x, g);
    g[0] = g[1] = 1;
    return x[0] + x[1];
  };
  in.start[0] = in.start[1] = 1;
  in.start[2] = in.start[3] = -2;
  const Ends out = search(queue(), in);
  EXPECT_EQ(out.evaluations[0], 1);
  EXPECT_EQ(out.evaluations[1], 1);
  for (std::size_t item = 2; item < 6; ++item) EXPECT_GT(out.evaluations[item], 5);
  EXPECT_NE(out.evaluations[2], out.evaluations[3]);
  EXPECT_EQ(out.point[0], 1);
  EXPECT_EQ(out.point[2], -2);
}

TEST_P(LbfgsStepKernel, GoesNearerWhereAValueIsNotFinite) {
  for (const double bad : {nan, inf}) {
    const Function whole = quadratic(2, {0.7, 0.2});
    Search in = make_search(8, 2, -1, 1, {});
    in.function = [=](std::int64_t, const double* x, double* g) {
      const double value = whole(0, x, g);
      if (x[0] <= 0.75) return value;
      g[0] = g[1] = nan;
      return bad;
    };
    for (std::size_t i = 0; i < 16; i += 2) in.start[i] = std::min(in.start[i], 0.6);
    expect_ends(in, search(queue(), in), {0.7, 0.2}, 1e-6);
  }
}

TEST_P(LbfgsStepKernel, EndsAtOnceWhereItCannotBegin) {
  Search in = make_search(2, 2, -1, 1, {});
  const Function good = quadratic(2, {0, 0});
  in.function = [=](std::int64_t item, const double* x, double* g) {
    return item == 0 ? nan : good(item, x, g);
  };
  const Ends out = search(queue(), in);
  EXPECT_EQ(out.evaluations[0], 1);
  EXPECT_EQ(out.state[0].begun, 0);
  EXPECT_EQ(out.point[0], in.start[0]);
  EXPECT_EQ(out.point[1], in.start[1]);
  EXPECT_NEAR(out.point[2], 0, 1e-7);
}

TEST_P(LbfgsStepKernel, MaximisesWithTheOtherSign) {
  Search in = make_search(8, 2, -2, 2, rosenbrocks(2));
  const Ends least = search(queue(), in);
  in.sign = -1;
  in.function = [](std::int64_t, const double* x, double* g) {
    const double value = rosenbrock(2, x, g);
    g[0] = -g[0], g[1] = -g[1];
    return -value;
  };
  const Ends most = search(queue(), in);
  EXPECT_EQ(bits_of(most.point), bits_of(least.point));
  EXPECT_EQ(most.evaluations, least.evaluations);
}

TEST_P(LbfgsStepKernel, StopsAfterAsManyIterationsAsItMay) {
  Search in = make_search(5, 2, -2, 2, rosenbrocks(2));
  in.max_iterations = 4;
  const Ends out = search(queue(), in);
  for (const LbfgsState& state : out.state) EXPECT_EQ(state.iterations, 4);
  for (std::size_t item = 0; item < 5; ++item) {  // the trial is the best point at the end
    double g[2];
    EXPECT_EQ(rosenbrock(2, &out.point[2 * item], g), out.value[item]);
  }
}

TEST_P(LbfgsStepKernel, BeginsWithAStepThatIsNotTooLong) {
  Search in = make_search(1, 2, -100, 100, quadratic(2, {90, 0}));
  in.start = {0, 1};
  in.first_step = 0.25;
  in.max_rounds = 1;
  const Ends out = search(queue(), in);
  EXPECT_NEAR(out.point[1], 0.75, 1e-15);  // its slope, 2000, is the longest
  EXPECT_NEAR(out.point[0], 0.25 * 180 / 2000, 1e-15);
}

TEST_P(LbfgsStepKernel, GivesAnItemTheSameBitsAloneAndInABatch) {
  const Search all = make_search(300, 8, -2, 2, rosenbrocks(8));
  const Ends together = search(queue(), all);
  for (const std::int64_t item : {0, 31, 299}) {
    Search alone = all;
    alone.start.assign(&all.start[idx(item * 8)], &all.start[idx(item * 8)] + 8);
    const Ends one = search(queue(), alone);
    const double* const point = &together.point[idx(item * 8)];
    EXPECT_EQ(bits_of(one.point), bits_of({point, point + 8}));
    EXPECT_EQ(one.evaluations[0], together.evaluations[idx(item)]);
  }
}

TEST_P(LbfgsStepKernel, FindsTheMinimaThatTheCpuFinds) {
  const Search in = make_search(50, 6, -1, 1, quadratic(6, {-2, 0.3, 5, -0.1, 2, 0.9}));
  const Ends here = search(queue(), in), there = search(cpu_queue(), in);
  for (std::size_t i = 0; i < here.point.size(); ++i) {
    ASSERT_NEAR(here.point[i], there.point[i], 1e-6);
  }
  EXPECT_EQ(bits_of(here.point), bits_of(search(queue(), in).point));
}

}  // namespace
}  // namespace kiln::test::lbfgs_step_test
