// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/sweeps/density_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "densities/chains_cases.hpp"
#include "densities/sweeping_chains.hpp"

// Named draws and exact decisions about energies that are the backend's own.
KILN_CONFORMANCE_CASE(DensitySweep, drawn)

namespace kiln::test::density_sweep_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ChainInputs rastrigin_in_a_box(int n, std::int64_t replicas) {
  ChainInputs in =
      make_chains(test_function(TestFunctionKind::rastrigin, n), replicas, 0.5, 0.1, 1);
  in.bounded = true;
  in.lower = -1.25;
  in.upper = 2;
  for (double& x : in.position) x = std::clamp(x, in.lower, in.upper);
  return in;
}

void expect_same(const ChainOutputs& a, const ChainOutputs& b) {
  EXPECT_EQ(bits_of(a.position), bits_of(b.position));
  EXPECT_EQ(a.accepted, b.accepted);
  EXPECT_EQ(a.not_finite, b.not_finite);
  expect_near("energy", a.energy, b.energy, double_tolerance);
  expect_near("base", a.base, b.base, double_tolerance);
  expect_near("term", a.term, b.term, double_tolerance);
  expect_near("base_weight", a.base_weight, b.base_weight, 0);
  EXPECT_TRUE(a.padding_untouched);
}

class DensitySweepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DensitySweepKernel);

// The definition in plain words, for a density whose energy is exact: the sphere, at places and
// widths that are small multiples of powers of two, would be; here the decision leaves a margin.
TEST_P(DensitySweepKernel, FollowsItsDefinition) {
  constexpr int n = 6;
  ChainInputs in = make_chains(test_function(TestFunctionKind::sphere, n), 40, 1, 0.1, 1);
  in.beta = {0.7};
  in.bounded = true;
  in.lower = -0.5;
  in.upper = infinity;
  for (double& x : in.position) x = std::abs(x);
  SweepingChains chains(queue(), in, 0.75);
  chains.sweep();
  const ChainOutputs out = chains.outputs();
  const std::vector<double> widths = chains.widths();
  const DrawIds draw_ids = chains.kernel().chains.draw_ids;
  std::vector<std::uint64_t> keys(idx(chains.chains().slots()));
  std::vector<std::uint32_t> numbers(keys.size());
  queue().download(keys.data(), draw_ids.key.data, keys.size() * sizeof(keys[0]));
  queue().download(numbers.data(), draw_ids.replica.data, numbers.size() * sizeof(numbers[0]));

  for (std::int64_t r = 0; r < in.replicas; ++r) {
    std::vector<double> x;
    for (int i = 0; i < n; ++i) x.push_back(in.position[idx(i * in.replicas + r)]);
    std::uint64_t accepted = 0;
    for (int i = 0; i < n; ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      const DrawName step{keys[idx(r)], 0, numbers[idx(r)], RngDomain::propose, 0};
      const DrawName decision{keys[idx(r)], 0, numbers[idx(r)], RngDomain::accept, 0};
      const double v = 2 * open_unit(draw_word(step, index)) - 1;
      double to = x[idx(i)] + 0.75 * (v / (1 - std::abs(v)));
      if (to < -0.5) to = -1 - to;
      const double rise = to * to - x[idx(i)] * x[idx(i)];
      const double u = open_unit(draw_word(decision, index));
      ASSERT_GT(std::abs(u - std::exp(-0.7 * rise)), 1e-6) << "take other numbers";
      const bool take = u < std::exp(-0.7 * rise);
      if (take) x[idx(i)] = to;
      accepted += take ? 1 : 0;
      // The gain of the first sweep is 1.
      EXPECT_NEAR(widths[idx(i * chains.chains().slots() + r)],
                  0.75 * std::exp(take ? 0.56 : -0.44), 1e-14);
    }
    double energy = 0;
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(out.position[idx(i * in.replicas + r)], x[idx(i)]) << r << ", " << i;
      energy += x[idx(i)] * x[idx(i)];
    }
    EXPECT_EQ(out.accepted[idx(r)], accepted);
    EXPECT_NEAR(out.term[idx(r)], energy, 1e-12 * (1 + energy));
    EXPECT_EQ(out.energy[idx(r)], out.base[idx(r)] + out.term[idx(r)]);
    EXPECT_EQ(chains.sweeps()[idx(r)], 1u);
  }
}

TEST_P(DensitySweepKernel, MatchesCpuForEverySizeAndLayout) {
  for (const std::int64_t replicas : {0, 1, 31, 32, 33}) {
    ChainInputs schools = make_chains(EightSchools{}, replicas, 1, 0.1, 1);
    schools.lambda = {0.5};
    const std::pair<const char*, ChainInputs> cases[] = {
        {"eight schools", schools},
        {"rastrigin 5", rastrigin_in_a_box(5, replicas)},
        {"rastrigin 300", rastrigin_in_a_box(300, replicas)}};
    for (auto [name, in] : cases) {
      SweepingChains twin(cpu_queue(), in, 0.3);
      twin.sweep(5);
      for (const ChainLayout layout : all_layouts) {
        SCOPED_TRACE(std::string(name) + ", " + std::to_string(replicas) + ", " +
                     to_string(layout));
        in.layout = layout;
        SweepingChains chains(queue(), in, 0.3);
        chains.sweep(5);
        expect_same(chains.outputs(), twin.outputs());
        EXPECT_EQ(bits_of(chains.widths()), bits_of(twin.widths()));
        EXPECT_EQ(chains.sweeps(), twin.sweeps());
      }
    }
  }
}

TEST_P(DensitySweepKernel, StaysBetweenTheWalls) {
  ChainInputs in = rastrigin_in_a_box(3, 64);
  in.beta = {0};
  SweepingChains chains(queue(), in, 50);  // many times the box
  chains.sweep(20);
  const ChainOutputs out = chains.outputs();
  for (const double x : out.position) {
    EXPECT_GE(x, in.lower);
    EXPECT_LE(x, in.upper);
  }
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(64, 60u)) << "everything is, at beta 0";
}

// At beta 0 each coordinate goes through the whole of its own interval, and nowhere else.
TEST_P(DensitySweepKernel, FillsTheIntervalOfEachCoordinate) {
  constexpr std::size_t chains = 64;
  ChainInputs in = rastrigin_in_a_box(3, chains);
  in.beta = {0};
  in.lower = -8;
  in.upper = 15;
  in.box = {-5, 0, -8, 10, 15, -7.5};
  for (std::size_t k = 0; k < in.position.size(); ++k) in.position[k] = in.box[k / chains];
  SweepingChains chains_here(queue(), in, 50);
  chains_here.sweep(20);
  const std::vector<double> position = chains_here.outputs().position;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto begin = position.begin() + static_cast<std::ptrdiff_t>(i * chains);
    const auto [least, most] = std::minmax_element(begin, begin + chains);
    const double lower = in.box[i], side = in.box[3 + i] - lower;
    EXPECT_GE(*least, lower);
    EXPECT_LE(*most, lower + side);
    EXPECT_LT(*least, lower + 0.2 * side);  // 64 chains leave a fifth empty once in 10^6
    EXPECT_GT(*most, lower + 0.8 * side);
  }
}

TEST_P(DensitySweepKernel, OnlyGoesDownAtInfiniteBeta) {
  ChainInputs in = rastrigin_in_a_box(4, 32);
  in.beta = {infinity};
  SweepingChains chains(queue(), in, 0.1);
  std::vector<double> before = chains.outputs().energy;
  for (int t = 0; t < 20; ++t) {
    chains.sweep();
    const ChainOutputs out = chains.outputs();
    for (std::size_t r = 0; r < 32; ++r) EXPECT_LE(out.energy[r], before[r]);
    before = out.energy;
  }
  for (const double e : before) EXPECT_TRUE(std::isfinite(e));
}

TEST_P(DensitySweepKernel, WeighsTheTermByLambda) {
  // At lambda 0 the effects of the schools know nothing of the data: z ~ N(0, 1).
  ChainInputs in = make_chains(EightSchools{}, 512, 1, 0.1, 1);
  in.lambda = {0};
  SweepingChains chains(queue(), in, 1);
  chains.sweep(100);
  const ChainOutputs out = chains.outputs();
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 8u * 512u; ++i) {
    sum += out.position[i] / 4096;
    squares += out.position[i] * out.position[i] / 4096;
  }
  // Six standard errors of independent numbers.
  EXPECT_NEAR(sum, 0, 6 / 64.0);
  EXPECT_NEAR(squares, 1, 6 * std::sqrt(2.0) / 64.0);
}

TEST_P(DensitySweepKernel, CountsWhatIsNotFiniteAndNeverTakesIt) {
  ChainInputs in = make_chains(EightSchools{}, 33, 1, 0.1, 1);
  in.bounded = true;
  in.lower = -infinity;
  in.upper = infinity;
  // log tau so large that tau is infinite, from where a short step leads to no number either.
  for (std::size_t r = 0; r < 33; ++r) in.position[9 * 33 + r] = r == 7 ? 800 : 0;
  SweepingChains chains(queue(), in, 0.01);
  EXPECT_FALSE(std::isfinite(chains.outputs().energy[7]));
  chains.sweep();
  const ChainOutputs out = chains.outputs();
  EXPECT_EQ(out.not_finite[7], 10u);
  EXPECT_EQ(out.accepted[7], 0u);
  EXPECT_EQ(out.not_finite[8], 0u);
  EXPECT_TRUE(std::isfinite(out.energy[8]));
}

TEST_P(DensitySweepKernel, TakesAnythingFiniteInsteadOfAStartThatIsNot) {
  ChainInputs in = make_chains(test_function(TestFunctionKind::sphere, 1), 32, 1, 0.1, 1);
  in.beta = {1e300};
  in.position[5] = nan;
  in.bounded = true;
  in.lower = -1;
  in.upper = 1;
  for (double& x : in.position) x = x < -1 ? -1 : (x > 1 ? 1 : x);
  SweepingChains chains(queue(), in, 0.5);
  chains.sweep(3);
  // NaN plus a step is NaN: nothing finite can be proposed, and nothing is taken.
  EXPECT_EQ(chains.outputs().accepted[5], 0u);
  EXPECT_EQ(chains.outputs().not_finite[5], 3u);
}

TEST_P(DensitySweepKernel, EvaluatesStatesWhosePartsAreNotTheirs) {
  ChainInputs in = make_chains(EightSchools{}, 32, 1, 0.1, 1);
  in.beta = {infinity};
  SweepingChains chains(queue(), in, 1e-9);
  const ChainOutputs before = chains.outputs();
  DensitySweep kernel = chains.kernel();
  // As where a state was copied here together with its energy.
  std::vector<double> wrong(idx(chains.chains().slots()), -1e6);
  queue().upload(kernel.chains.base.data, wrong.data(), wrong.size() * sizeof(double));
  queue().launch(kernel);
  const ChainOutputs after = chains.outputs();
  for (std::size_t r = 0; r < 32; ++r) {
    EXPECT_NEAR(after.base[r], before.base[r], 1e-3);
    EXPECT_LE(after.energy[r], before.energy[r] + 1e-9);
    EXPECT_TRUE(std::isnan(after.base_weight[r])) << "a gradient may be that of another state";
  }
}

TEST_P(DensitySweepKernel, KeepsTheGradientOfAChainThatDidNotMove) {
  ChainInputs in = make_chains(test_function(TestFunctionKind::sphere, 2), 32, 0, 0.1, 1);
  in.beta = {infinity};  // all are at the minimum
  DeviceChains prepared(queue(), in);
  prepared.transition<HmcTransition>();
  SweepingChains chains(queue(), in, 0.5);
  DensitySweep kernel = chains.kernel();
  const std::vector<double> weights(idx(chains.chains().slots()), 1.0);
  queue().upload(kernel.chains.gradient_base_weight.data, weights.data(),
                 weights.size() * sizeof(double));
  chains.sweep();
  EXPECT_EQ(chains.outputs().accepted, std::vector<std::uint64_t>(32, 0u));
  EXPECT_EQ(chains.outputs().base_weight, std::vector<double>(32, 1.0));
}

TEST_P(DensitySweepKernel, AdaptsItsWidthsTowardsTheirRate) {
  ChainInputs in = make_chains(test_function(TestFunctionKind::sphere, 3), 256, 1, 0.1, 1);
  SweepingChains chains(queue(), in, 30);
  chains.sweep(400);
  const auto moves = [&] {
    const std::vector<std::uint64_t> accepted = chains.outputs().accepted;
    return static_cast<double>(std::accumulate(accepted.begin(), accepted.end(), std::uint64_t{0}));
  };
  const double before = moves();
  chains.sweep(400);
  const double after = moves();
  EXPECT_NEAR((after - before) / (256.0 * 3 * 400), MoveWidths::acceptance, 0.02);
}

TEST_P(DensitySweepKernel, KeepsWidthsWithTheRungWhereRungsHaveOneChain) {
  ChainInputs in = make_chains(test_function(TestFunctionKind::sphere, 2), 3, 1, 0.1, 1);
  in.beta = {0, 1, 2};
  in.rung_of = {2, 0, 1};
  in.metric = diagonal_metric(std::vector<double>(6, 1.0));
  in.tuning.resize(3);
  SweepingChains chains(queue(), in, 1);
  chains.by_rung = true;
  chains.sweep(1);
  const std::vector<double> widths = chains.widths();
  EXPECT_NEAR(widths[0], std::exp(0.56), 1e-14) << "rung 0 has beta 0 and takes everything";
  EXPECT_NEAR(widths[idx(chains.chains().slots())], std::exp(0.56), 1e-14);
  EXPECT_EQ(chains.outputs().accepted[1], 2u) << "its chain is in slot 1";
}

// A count of 32 bits would begin anew, and widths with it.
TEST_P(DensitySweepKernel, WidthsStaySettledBeyond32BitsOfSweeps) {
  SweepingChains chains(queue(), rastrigin_in_a_box(3, 33), 1);
  chains.pretend_sweeps(0xFFFFFFFFull);
  const std::vector<double> before = chains.widths();
  chains.sweep(3);
  EXPECT_EQ(chains.sweeps()[0], 0x100000002ull);
  const std::vector<double> after = chains.widths();
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i] / before[i], 1, 1e-4);
}

TEST_P(DensitySweepKernel, DoesNothingOnceStopped) {
  ChainInputs in = rastrigin_in_a_box(3, 33);
  in.control.stop = DeviceStop::target;
  SweepingChains chains(queue(), in, 1);
  chains.sweep(2);
  EXPECT_EQ(bits_of(chains.outputs().position), bits_of(in.position));
  EXPECT_EQ(chains.sweeps()[0], 0u);
}

}  // namespace
}  // namespace kiln::test::density_sweep_test
