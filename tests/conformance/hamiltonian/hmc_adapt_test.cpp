// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/hmc_adapt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Sums over chains in an order of the backend's own.
KILN_CONFORMANCE_CASE(HmcAdapt, reordered)

namespace kiln::test::hmc_adapt_test {
namespace {

// Sums in another order, amplified by powers and by an eigenvalue problem.
constexpr double adaptation_tolerance = 1e-8;

struct Inputs {
  std::int64_t dimension = 4, pools = 1, members = 40;
  std::int64_t rank = 4;
  bool learns_length = true;
  std::vector<std::uint32_t> windows = {6, 16, 30};
  std::uint64_t warmup = 40;
  std::uint64_t seed = 1;
  bool broken = false;       // some proposals and acceptances are what a divergence leaves
  std::int64_t stuck = -1;   // a chain that rejects ...
  std::uint64_t until = 99;  // ... before this step
};

struct Outputs {
  std::vector<HmcTuning> tuning;
  std::vector<HmcAdaptation> adaptation;
  std::vector<double> scale, factor, stretch, sum, square;
  std::vector<std::int32_t> used, retreat;
};

/// The arrays of an adaptation, fed with made-up transitions.
class Adapting {
 public:
  Adapting(Queue& queue, const Inputs& in)
      : queue_(queue), in_(in), random_(in.seed), slots_((in.pools * in.members + 31) / 32 * 32) {
    const std::int64_t d = in.dimension, square = in.rank > 0 ? d * d : d;
    HmcAdaptation first;
    first.log_step = first.log_step_mean = std::log(0.1);
    adaptation_ = {queue, std::vector<HmcAdaptation>(idx(in.pools), first)};
    tuning_ = {queue, std::vector<HmcTuning>(idx(in.pools))};
    scale_ = {queue, std::vector<double>(idx(in.pools * d), 1.0)};
    factor_ = zeros(in.pools * in.rank * d);
    stretch_ = zeros(in.pools * in.rank);
    used_ = {queue, std::vector<std::int32_t>(idx(in.rank > 0 ? in.pools : 0), 0)};
    for (int w = 0; w < 2; ++w) {
      centre_[w] = zeros(in.pools * d);
      sum_[w] = zeros(in.pools * d);
      square_[w] = zeros(in.pools * square);
    }
    scratch_ = zeros(in.pools * HmcAdapt::scratch_size(d, in.rank > 0));
    windows_ = {queue, in.windows};
    retreat_ = {queue, std::vector<std::int32_t>(idx(slots_), 0)};
    for (int k = 0; k < 3; ++k) energies_[k] = {queue, std::vector<double>(idx(slots_))};
  }

  void step(std::uint64_t number) {
    const std::int64_t d = in_.dimension;
    position_ = {queue_, vectors(2)};
    gradient_weight_ = {queue_, std::vector<double>(idx(slots_), 1.0)};
    for (DeviceArray<double>& energies : energies_) energies.upload(of_each_chain());
    DeviceArray<double> gradient(queue_, vectors(0.5)), start(queue_, vectors(2)),
        proposal(queue_, ends(2)), velocity(queue_, ends(1)),
        acceptance(queue_, acceptances(number));
    RunControl now;
    now.step = number;
    DeviceArray<RunControl> control = upload_control(queue_, now);
    HmcAdapt kernel;
    kernel.plan.warmup = in_.warmup;
    kernel.plan.windows = windows_.view();
    kernel.plan.adapts_length = in_.learns_length;
    kernel.plan.adapts_metric = !in_.windows.empty();
    kernel.pools = {{}, in_.pools, in_.members};
    kernel.statistics.acceptance = acceptance.view();
    kernel.statistics.start = {start.data(), d, slots_, slots_};
    kernel.statistics.proposal = {proposal.data(), d, slots_, slots_};
    kernel.statistics.velocity = {velocity.data(), d, slots_, slots_};
    kernel.statistics.retreat = retreat_.view();
    kernel.position = {position_.data(), d, slots_, slots_};
    kernel.gradient_weight = gradient_weight_.view();
    kernel.energy = energies_[0].view();
    kernel.base = energies_[1].view();
    kernel.term = energies_[2].view();
    kernel.gradient = {gradient.data(), d, slots_, slots_};
    kernel.moments.dimension = d;
    kernel.moments.cross = in_.rank > 0;
    for (int w = 0; w < 2; ++w) {
      kernel.moments.centre[w] = centre_[w].view();
      kernel.moments.sum[w] = sum_[w].view();
      kernel.moments.square[w] = square_[w].view();
    }
    kernel.adaptation = adaptation_.view();
    kernel.tuning = tuning_.view();
    kernel.metric = {static_cast<int>(d), static_cast<int>(in_.rank),
                     scale_.view(),       factor_.view(),
                     stretch_.view(),     used_.view()};
    kernel.scratch = scratch_.view();
    kernel.control = control.data();
    queue_.launch(kernel);
    queue_.wait();
    fill_moments();
  }

  void set_log_length(double value) {
    std::vector<HmcAdaptation> all = adaptation_.download();
    for (HmcAdaptation& one : all) one.log_length = one.log_length_mean = value;
    adaptation_.upload(all);
  }
  Outputs outputs() const {
    return {tuning_.download(),    adaptation_.download(), scale_.download(),
            factor_.download(),    stretch_.download(),    sum_[0].download(),
            square_[0].download(), used_.download(),       retreat_.download()};
  }
  /// Of all chains that stand where the chain stands, itself left out.
  std::vector<std::int64_t> companions(std::int64_t chain) const {
    const std::vector<double> x = position_.download();
    std::vector<std::int64_t> same;
    for (std::int64_t m = 0; m < in_.members; ++m) {
      bool equal = m != chain;
      for (std::int64_t i = 0; equal && i < in_.dimension; ++i) {
        equal = x[idx(i * slots_ + m)] == x[idx(i * slots_ + chain)];
      }
      if (equal) same.push_back(m);
    }
    return same;
  }
  /// Energy, base and term of a chain, each a number of its own for every chain.
  std::vector<double> energies(std::int64_t chain) const {
    std::vector<double> all;
    for (const DeviceArray<double>& one : energies_) all.push_back(one.download()[idx(chain)]);
    return all;
  }
  bool has_gradient(std::int64_t chain) const {
    return gradient_weight_.download()[idx(chain)] == 1;
  }

 private:
  DeviceArray<double> zeros(std::int64_t n) { return {queue_, std::vector<double>(idx(n), 0.0)}; }
  std::vector<double> vectors(double spread) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < in_.dimension * slots_; ++i) {
      values.push_back(spread * (random_.unit() - 0.5));
    }
    return values;
  }
  std::vector<double> ends(double spread) {
    std::vector<double> values = vectors(spread);
    if (in_.broken) values[3] = std::numeric_limits<double>::infinity();
    return values;
  }
  std::vector<double> of_each_chain() {
    std::vector<double> values;
    for (std::int64_t i = 0; i < slots_; ++i) values.push_back(random_.unit());
    return values;
  }
  /// Now above the target and now below, so that a search for the first step ends.
  std::vector<double> acceptances(std::uint64_t number) {
    std::vector<double> values;
    const double low = number % 4 == 3 ? 0.3 : 0.78;
    for (std::int64_t i = 0; i < slots_; ++i) values.push_back(low + 0.2 * random_.unit());
    if (in_.broken) values[3] = 0;
    if (in_.stuck >= 0) values[idx(in_.stuck)] = number < in_.until ? 0 : 0.95;
    return values;
  }
  /// Moments of a window as AddPoolMoments would leave them: those of a correlated normal law.
  void fill_moments() {
    const std::int64_t d = in_.dimension;
    const std::vector<HmcAdaptation> state = adaptation_.download();
    if (state[0].collects == 0) return;
    const double n = state[0].observations + static_cast<double>(in_.members);
    for (int w = 0; w < 2; ++w) {
      std::vector<double> sum, square;
      for (std::int64_t p = 0; p < in_.pools; ++p) {
        for (std::int64_t i = 0; i < d; ++i) sum.push_back(0.1 * n * static_cast<double>(i));
        for (std::int64_t i = 0; i < d; ++i) {
          for (std::int64_t j = 0; j < d; ++j) {
            if (in_.rank == 0 && i != j) continue;
            const double a = 1 + static_cast<double>(i), b = 1 + static_cast<double>(j);
            const double covariance = (w == 0 ? a * b : 1 / (a * b)) * (i == j ? 1 : 0.4);
            square.push_back(n * (covariance + 0.01 * static_cast<double>(i * j)));
          }
        }
      }
      sum_[w].upload(sum);
      square_[w].upload(square);
    }
  }

  Queue& queue_;
  Inputs in_;
  TestRandom random_;
  std::int64_t slots_;
  DeviceArray<HmcAdaptation> adaptation_;
  DeviceArray<HmcTuning> tuning_;
  DeviceArray<double> scale_, factor_, stretch_, centre_[2], sum_[2], square_[2], scratch_;
  DeviceArray<double> position_, gradient_weight_, energies_[3];
  DeviceArray<std::int32_t> used_, retreat_;
  DeviceArray<std::uint32_t> windows_;
};

void expect_near(const std::vector<double>& a, const std::vector<double>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], adaptation_tolerance * (1 + std::abs(b[i]))) << what << ' ' << i;
  }
}

void expect_close(const Outputs& a, const Outputs& b) {
  for (std::size_t p = 0; p < b.tuning.size(); ++p) {
    EXPECT_NEAR(a.tuning[p].step_size, b.tuning[p].step_size,
                adaptation_tolerance * b.tuning[p].step_size);
    EXPECT_EQ(a.tuning[p].leapfrogs, b.tuning[p].leapfrogs);
    EXPECT_EQ(a.tuning[p].max_depth, b.tuning[p].max_depth);
    EXPECT_EQ(a.tuning[p].report_ends, b.tuning[p].report_ends);
    EXPECT_EQ(a.adaptation[p].search, b.adaptation[p].search);
    EXPECT_EQ(a.adaptation[p].window, b.adaptation[p].window);
    EXPECT_EQ(a.adaptation[p].collects, b.adaptation[p].collects);
    EXPECT_NEAR(a.adaptation[p].log_length, b.adaptation[p].log_length, adaptation_tolerance);
  }
  expect_near(a.scale, b.scale, "scale");
  expect_near(a.stretch, b.stretch, "stretch");
  expect_near(a.sum, b.sum, "sum");
  expect_near(a.square, b.square, "square");
  EXPECT_EQ(a.used, b.used);
  EXPECT_EQ(a.retreat, b.retreat);
}

class HmcAdaptKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(HmcAdaptKernel);

TEST_P(HmcAdaptKernel, AgreesWithTheCpuThroughAWholeWarmup) {
  for (const std::int64_t members : {1, 33, 300}) {
    for (const bool learns_length : {false, true}) {
      for (const std::int64_t rank : {0, 4}) {
        Inputs in;
        in.members = members;
        in.pools = members == 33 ? 3 : 1;
        in.rank = rank;
        in.learns_length = learns_length;
        Adapting here(queue(), in), there(cpu_queue(), in);
        for (std::uint64_t t = 0; t < 45; ++t) {
          here.step(t);
          there.step(t);
          SCOPED_TRACE(std::to_string(members) + " chains, step " + std::to_string(t));
          expect_close(here.outputs(), there.outputs());
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_P(HmcAdaptKernel, FreezesStepAndMetricAfterTheWarmup) {
  Inputs in;
  Adapting adapting(queue(), in);
  for (std::uint64_t t = 0; t < in.warmup; ++t) adapting.step(t);
  const Outputs frozen = adapting.outputs();
  for (std::uint64_t t = in.warmup; t < in.warmup + 5; ++t) adapting.step(t);
  const Outputs later = adapting.outputs();
  EXPECT_EQ(bits_of({later.tuning[0].step_size}), bits_of({frozen.tuning[0].step_size}));
  EXPECT_EQ(bits_of(later.scale), bits_of(frozen.scale));
  EXPECT_EQ(bits_of(later.factor), bits_of(frozen.factor));
  EXPECT_EQ(later.tuning[0].report_ends, 0);
}

TEST_P(HmcAdaptKernel, LearnsThroughDivergences) {
  Inputs in;
  in.broken = true;
  Adapting adapting(queue(), in);
  for (std::uint64_t t = 0; t < in.warmup; ++t) adapting.step(t);
  const Outputs out = adapting.outputs();
  EXPECT_TRUE(std::isfinite(out.tuning[0].step_size));
  EXPECT_GT(out.adaptation[0].length_updates, 5u);
  EXPECT_TRUE(std::isfinite(out.adaptation[0].log_length));
  adapting.set_log_length(std::nan(""));
  adapting.step(in.warmup);
  EXPECT_EQ(adapting.outputs().tuning[0].leapfrogs, 1);
}

TEST_P(HmcAdaptKernel, AChainThatRejectsRetreatsUntilItIsAcceptedAgain) {
  Inputs in;
  in.windows = {};
  in.stuck = 2;
  in.until = 20;
  Adapting adapting(queue(), in);
  for (std::uint64_t t = 0; t < 20; ++t) adapting.step(t);
  const Outputs out = adapting.outputs();
  EXPECT_GT(out.retreat[2], 10);  // the search for a first step took some
  for (std::size_t m = 0; m < idx(in.members); ++m) EXPECT_EQ(out.retreat[m] > 0, m == 2) << m;
  for (std::uint64_t t = 20; t < 25; ++t) adapting.step(t);
  EXPECT_EQ(adapting.outputs().retreat[2], out.retreat[2] - 5);
}

TEST_P(HmcAdaptKernel, NoChainIsInRetreatOnceDrawsCount) {
  Inputs in;
  in.windows = {};
  in.stuck = 2;
  Adapting adapting(queue(), in);
  for (std::uint64_t t = 0; t < in.warmup; ++t) adapting.step(t);
  EXPECT_EQ(adapting.outputs().retreat[2], 0);
  for (std::uint64_t t = in.warmup; t < in.warmup + 3; ++t) adapting.step(t);
  EXPECT_EQ(adapting.outputs().retreat[2], 0);
}

// The pool learns from the others. The chain counts as one of 40 that reject for seven steps only:
// sqrt(m) / gamma times their share 7 x 0.9 / 40 of m + 10 errors moves the logarithm by 0.34 after
// 55 updates, and would by 2.7 if the chain counted throughout.
TEST_P(HmcAdaptKernel, AnOutlierDoesNotPullTheStepOfAll) {
  Inputs in;
  in.windows = {};
  in.warmup = 60;
  in.stuck = 2;
  Adapting with(queue(), in);
  in.stuck = -1;
  Adapting without(queue(), in);
  for (std::uint64_t t = 0; t < 59; ++t) {
    with.step(t);
    without.step(t);
  }
  EXPECT_NEAR(std::log(with.outputs().tuning[0].step_size),
              std::log(without.outputs().tuning[0].step_size), 0.5);
}

TEST_P(HmcAdaptKernel, AnOutlierGoesOnFromAnotherChain) {
  Inputs in;
  in.stuck = 2;
  Adapting adapting(queue(), in);
  for (std::uint64_t t = 0; t < 15; ++t) {
    adapting.step(t);
    ASSERT_TRUE(adapting.companions(2).empty()) << t;
  }
  EXPECT_TRUE(adapting.has_gradient(2));
  adapting.step(15);  // the end of the first window
  ASSERT_EQ(adapting.companions(2).size(), 1u);
  EXPECT_EQ(adapting.energies(2), adapting.energies(adapting.companions(2)[0]));
  EXPECT_FALSE(adapting.has_gradient(2));
  EXPECT_EQ(adapting.outputs().adaptation[0].relocated, 1u);
  EXPECT_EQ(adapting.outputs().retreat[2], 0);
}

// Positions with Cov_ij = a_i a_j (0.4 + 0.6 delta_ij), gradients with its transposed scales: in
// units of the scale both have the correlations R, so the metric is R R^-1 = 1 in every direction.
TEST_P(HmcAdaptKernel, MakesTheMetricOfLeastFisherDivergence) {
  Inputs in;
  in.members = 4000;  // the estimate is drawn to the identity by few observations
  in.windows = {1, 9};
  Adapting adapting(queue(), in);
  for (std::uint64_t t = 0; t < 12; ++t) adapting.step(t);
  const Outputs out = adapting.outputs();
  for (std::int64_t i = 0; i < in.dimension; ++i) {
    EXPECT_NEAR(out.scale[idx(i)], 1 + static_cast<double>(i), 1e-9);
  }
  EXPECT_EQ(out.used[0], 0);
}

// In units of 1 the variances are those of diag(a) R diag(a), a = 1 ... 4 and R = 0.4 + 0.6
// delta_ij; in units of the metric those of R, or all 1 where products are not kept. The length
// goes by sqrt(tr W^2 / tr W).
TEST_P(HmcAdaptKernel, RescalesTheLengthWithTheMetric) {
  for (const std::int64_t rank : {0, 4}) {
    double trace = 0, squares = 0;  // of W in units of 1
    for (double a = 1; a <= 4; ++a) {
      trace += a * a;
      for (double b = 1; b <= 4; ++b) {
        const double entry = a * b * (a == b ? 1.0 : rank > 0 ? 0.4 : 0.0);
        squares += entry * entry;
      }
    }
    const double before = squares / trace, after = rank > 0 ? (4 + 12 * 0.16) / 4 : 1;
    Inputs in;
    in.members = 4000;
    in.rank = rank;
    in.windows = {1, 19};
    Adapting adapting(queue(), in);
    for (std::uint64_t t = 0; t < 18; ++t) adapting.step(t);
    const HmcAdaptation last = adapting.outputs().adaptation[0];
    adapting.set_log_length(3);
    adapting.step(18);
    const HmcAdaptation next = adapting.outputs().adaptation[0];
    EXPECT_EQ(last.window + 1, next.window);
    // The transition itself moves it by a step of 0.025.
    EXPECT_NEAR(next.log_length, 3 + 0.5 * std::log(after / before), 0.04) << rank;
    EXPECT_EQ(next.log_length_mean, next.log_length);
  }
}

}  // namespace
}  // namespace kiln::test::hmc_adapt_test
