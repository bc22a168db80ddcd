// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/hamiltonian/glm_transition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/objectives/generalized_linear.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "densities/chains_cases.hpp"

// As HmcTransition on the CPU; forces of a GPU are in single precision, which its tests allow
// for.
KILN_CONFORMANCE_CASE(GlmTransition, drawn)

namespace kiln::test::glm_transition_test {
namespace {

GlmData make_data(GlmLink link, std::int64_t rows, int columns, std::uint64_t seed = 3) {
  TestRandom random(seed);
  GlmData data;
  data.link = link;
  data.rows = rows;
  data.columns = columns;
  data.noise = 0.8;
  data.forces = GlmForces::single;  // what is compared with the CPU
  for (int j = 0; j < columns; ++j) data.prior_scale.push_back(0.5 + 0.1 * (j % 7));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (int j = 0; j < columns; ++j) {
      data.x.push_back(j == 0 ? 1.0 : 2 * random.unit() - 1);
    }
    data.y.push_back(link == GlmLink::identity ? 2 * random.unit()
                                               : static_cast<double>(random.between(0, 1)));
  }
  return data;
}

ChainInputs make_inputs(const GlmData& data, std::int64_t replicas, std::int32_t leapfrogs) {
  ChainInputs in;
  in.dimension = data.columns;
  in.workspace = GeneralizedLinear::tile;
  in.replicas = replicas;
  in.position = normal_positions(data.columns, replicas, 0.3, 7);
  in.tuning[0].step_size = 0.5 / std::sqrt(static_cast<double>(data.rows));
  in.tuning[0].leapfrogs = leapfrogs;
  in.tuning[0].jitter = 0.25;
  in.tuning[0].report_ends = 1;
  return in;
}

/// The transitions that a run makes of these data.
ChainOutputs run(Queue& queue, const GlmData& data, const ChainInputs& in, int transitions = 2) {
  const auto bound = make_generalized_linear(data)->bind(queue);
  DeviceChains chains(queue, in);
  for (int t = 0; t < transitions; ++t) {
    auto kernel = chains.kernel<HmcTransition>();
    kernel.chains.step_offset = static_cast<std::uint32_t>(t);
    bound->run(kernel, queue);
  }
  return chains.outputs();
}

/// The same by the plain density on the CPU, one chain after the other.
ChainOutputs run_plainly(const GlmData& data, const ChainInputs& in, int transitions = 2) {
  GeneralizedLinear density;
  std::vector<double> precision;
  for (const double scale : data.prior_scale) precision.push_back(1 / (scale * scale));
  density.link = data.link;
  density.columns = density.width = data.columns;
  density.rows = data.rows;
  density.precision = 1 / (data.noise * data.noise);
  density.x = data.x.data();
  density.y = data.y.data();
  density.prior_precision = precision.data();
  DeviceChains chains(*open_device(Device::cpu).queue, in);
  for (int t = 0; t < transitions; ++t) chains.transition_of<HmcTransition>(density);
  return chains.outputs();
}

class GlmTransitionKernel : public DeviceTest {
 protected:
  /// Forces of a GPU are in single precision.
  double tolerance() const { return GetParam() == Device::cpu ? trajectory_tolerance : 1e-3; }
  void expect_plain(const GlmData& data, const ChainInputs& in) {
    expect_close(run(queue(), data, in), run_plainly(data, in), tolerance());
  }
};
KILN_ON_EVERY_BACKEND(GlmTransitionKernel);

TEST_P(GlmTransitionKernel, IsHmcTransitionForEveryLink) {
  for (const GlmLink link : {GlmLink::logistic, GlmLink::identity, GlmLink::log}) {
    SCOPED_TRACE(static_cast<int>(link));
    const GlmData data = make_data(link, 300, 20);
    expect_plain(data, make_inputs(data, 33, 5));
  }
}

TEST_P(GlmTransitionKernel, IsHmcTransitionForEverySize) {
  for (const int columns : {1, 8, 9, 24, 25, 32, 48, 49, 64, 65, 70}) {
    for (const std::int64_t rows : {1, 7, 64, 65, 513}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
      const GlmData data = make_data(GlmLink::logistic, rows, columns);
      expect_plain(data, make_inputs(data, 3, 3));
    }
  }
  const GlmData data = make_data(GlmLink::logistic, 200, 5);
  for (const std::int64_t replicas : {0, 1, 15, 16, 17, 31, 32, 64, 300, 5000}) {
    SCOPED_TRACE(replicas);
    expect_plain(data, make_inputs(data, replicas, 3));
  }
}

TEST_P(GlmTransitionKernel, SumsManyRows) {
  const GlmData data = make_data(GlmLink::logistic, 70001, 6);
  expect_plain(data, make_inputs(data, 40, 2));
}

// Chains of one tile with weights and lengths of their own.
TEST_P(GlmTransitionKernel, GoesByTheRungOfEachChain) {
  const GlmData data = make_data(GlmLink::logistic, 200, 10);
  ChainInputs in = make_inputs(data, 40, 4);
  in.beta = {1, 0.5, 0, 0.25};
  in.lambda = {1, 0.3, 1, 0};
  in.tuning.resize(4, in.tuning[0]);
  in.tuning[1].leapfrogs = 1;
  in.tuning[2].leapfrogs = 0;
  in.tuning[3].leapfrogs = 7;
  in.tuning[3].step_size *= 2;
  in.tuning[1].report_ends = 0;
  for (std::int32_t r = 0; r < 40; ++r) in.rung_of.push_back(r % 4);
  expect_plain(data, in);
}

TEST_P(GlmTransitionKernel, KnowsEveryMetric) {
  const GlmData data = make_data(GlmLink::logistic, 100, 3);
  ChainInputs in = make_inputs(data, 20, 4);
  in.metric = diagonal_metric({0.5, 1, 2});
  expect_plain(data, in);
  in.metric = dense_metric({1, 0, 0, 0.5, 2, 0, -0.25, 0.5, 1});
  expect_plain(data, in);
  in.metric = diagonal_metric({0.5, 1, 2});
  in.metric.kind = MetricKind::low_rank;
  in.metric.rank = 1;
  in.metric.factor = {0.6, 0.8, 0};
  in.metric.stretch = {1.5};
  expect_plain(data, in);
}

TEST_P(GlmTransitionKernel, ReflectsAtWalls) {
  const GlmData data = make_data(GlmLink::logistic, 50, 4);
  ChainInputs in = make_inputs(data, 20, 6);
  in.bounded = true;
  in.lower = -0.2;
  in.upper = 0.2;
  for (double& x : in.position) x = std::fmod(x, 0.2);
  expect_plain(data, in);
  // Other walls for each coefficient.
  in.box = {-0.2, 0, -0.3, -0.1, 0.2, 0.1, 0.2, 0.4};
  for (std::size_t k = 0; k < in.position.size(); ++k) {
    in.position[k] = std::clamp(in.position[k], in.box[k / 20], in.box[4 + k / 20]);
  }
  expect_plain(data, in);
}

TEST_P(GlmTransitionKernel, RejectsWhatIsNotFinite) {
  const GlmData data = make_data(GlmLink::log, 50, 4);
  ChainInputs in = make_inputs(data, 20, 3);
  in.tuning[0].step_size = 1e6;
  in.tuning[0].jitter = 0;
  const ChainOutputs out = run(queue(), data, in, 1);
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(20, 0));
  EXPECT_EQ(out.divergent, std::vector<std::int32_t>(20, 1));
  EXPECT_EQ(out.position, in.position);
}

// Whatever the forces are, the energies that decide are those of the density.
TEST_P(GlmTransitionKernel, HasEnergiesInDouble) {
  for (const GlmForces forces : {GlmForces::single, GlmForces::tf32}) {
    for (const GlmLink link : {GlmLink::logistic, GlmLink::identity, GlmLink::log}) {
      GlmData data = make_data(link, 1500, 20);
      data.forces = forces;
      const auto source = make_generalized_linear(data);
      const ChainOutputs out = run(queue(), data, make_inputs(data, 64, 5));
      std::uint64_t accepted = 0;
      for (std::size_t chain = 0; chain < 64; ++chain) {
        std::vector<double> x;
        for (std::size_t i = 0; i < 20; ++i) x.push_back(out.position[i * 64 + chain]);
        const EnergyParts e = source->evaluate(x, {});
        EXPECT_NEAR(out.base[chain], e.base, double_tolerance * (1 + e.base));
        EXPECT_NEAR(out.term[chain], e.term, double_tolerance * 1500 * 10);
        accepted += out.accepted[chain];
      }
      EXPECT_GT(accepted, 110u) << "of 128: the forces are good enough";
    }
  }
}

TEST_P(GlmTransitionKernel, RepeatsItsBits) {
  const GlmData data = make_data(GlmLink::logistic, 777, 20);
  const ChainInputs in = make_inputs(data, 100, 4);
  EXPECT_TRUE(same_state(run(queue(), data, in), run(queue(), data, in)));
}

TEST_P(GlmTransitionKernel, DoesNothingOnceStopped) {
  const GlmData data = make_data(GlmLink::logistic, 50, 4);
  ChainInputs in = make_inputs(data, 20, 3);
  in.control.stop = DeviceStop::target;
  EXPECT_EQ(run(queue(), data, in).position, in.position);
}

#if defined(KILN_X86_64) && KILN_X86_64
TEST(GlmTransitionVariants, HaveTheSameBits) {
  Queue& queue = *open_device(Device::cpu).queue;
  for (const GlmLink link : {GlmLink::logistic, GlmLink::identity, GlmLink::log}) {
    const GlmData data = make_data(link, 601, 20);
    const ChainInputs in = make_inputs(data, 37, 4);
    const ChainOutputs widest = run(queue, data, in);
    for (const char* isa : {"baseline", "avx2"}) {
      const ScopedEnvironment chosen("KILN_CPU_ISA", isa);
      EXPECT_TRUE(same_state(run(queue, data, in), widest)) << isa;
    }
  }
}
#endif

TEST(GeneralizedLinearData, IsChecked) {
  const auto complaint = [](const auto& change) -> std::string {
    GlmData data = make_data(GlmLink::log, 5, 2);
    change(data);
    try {
      make_generalized_linear(data);
    } catch (const InvalidArgument& error) {
      return error.code() + ": " + error.message();
    }
    return "none";
  };
  EXPECT_EQ(complaint([](GlmData&) {}), "none");
  EXPECT_EQ(complaint([](GlmData& d) { d.rows = 0; }),
            "glm.shape: a generalised linear model has 0 rows and 2 columns");
  EXPECT_EQ(complaint([](GlmData& d) { d.x.pop_back(); }),
            "glm.shape: the matrix x of a generalised linear model has 9 values");
  EXPECT_EQ(complaint([](GlmData& d) { d.x[3] = NAN; }),
            "glm.value: x in row 2, column 2 is not finite");
  EXPECT_EQ(complaint([](GlmData& d) { d.y[4] = 0.5; }),
            "glm.value: y in row 5 is 0.500000, which the link function does not allow");
  EXPECT_EQ(complaint([](GlmData& d) { d.prior_scale = {0}; }),
            "glm.value: a prior scale is 0.000000");
  EXPECT_EQ(complaint([](GlmData& d) { d.noise = -1; }), "glm.value: the noise is -1.000000");
}

}  // namespace
}  // namespace kiln::test::glm_transition_test
