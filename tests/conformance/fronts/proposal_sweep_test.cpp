// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/proposal_sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "kiln/problems/vector_functions/all.hpp"

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Elementary functions of the device in the objectives.
KILN_CONFORMANCE_CASE(ProposalSweep, reordered)

namespace kiln::test::proposal_sweep_test {
namespace {

constexpr std::int64_t group_size = 32, rungs = 3;

struct Inputs {
  std::vector<BlockShape> shapes;
  std::int64_t replicas = 0;
  VectorFunctionRef function;
  std::int64_t objectives = 2;
  std::vector<double> beta = {0.5, 4, 60};
  std::vector<std::uint32_t> active_rungs = {};
  ScalarizationKind kind = ScalarizationKind::weighted_sum;
  RunControl control;
  std::uint32_t sweeps = 1;
};

struct Outputs {
  std::vector<std::vector<double>> values;  ///< of each block
  std::vector<double> energy;
  std::vector<std::uint64_t> accepted, not_finite;
};

/// All that a sweep reads and writes, in device memory.
class DeviceSweep {
 public:
  DeviceSweep(Queue& queue, const Inputs& in)
      : queue_(queue),
        in_(in),
        slots_(in.shapes.front().slots),
        names_(queue, make_names(slots_, slots_ / group_size, 9)),
        first_(queue, slots_),
        second_(queue, slots_),
        before_(queue, slots_),
        energy_(queue, std::vector<double>(idx(slots_), 1e300)),
        trial_(queue, std::vector<double>(idx(slots_), 0)),
        accepted_(queue, std::vector<std::uint64_t>(idx(slots_), 0)),
        not_finite_(queue, std::vector<std::uint64_t>(idx(slots_), 0)),
        beta_(queue, in.beta),
        rung_(queue, rungs_of(slots_)),
        active_(queue, in.active_rungs),
        value_(queue, in.objectives * slots_),
        violation_(queue, slots_),
        ideal_(queue, std::vector<double>(idx(in.objectives), -0.25)),
        nadir_(queue, std::vector<double>(idx(in.objectives), 3)),
        weight_(queue, weights(in.objectives)),
        control_(upload_control(queue, in.control)) {
    std::uint64_t seed = 3;
    for (const BlockShape& shape : in.shapes) {
      blocks_.emplace_back(queue, shape,
                           decode(shape, encode(shape, random_values(shape, ++seed))));
    }
  }

  void sweep(std::uint32_t offset) {
    ProposalSweep kernel = parts(offset);
    queue_.launch(kernel);
  }
  void sweep_by_parts(std::uint32_t offset) {
    ProposalSweep kernel = parts(offset);
    kernel.values.function = in_.function;
    for (DeviceBlock& block : blocks_) {
      kernel.propose.block = kernel.accept.block = block.view();
      for (kernel.propose.variable = 0; kernel.propose.variable < kernel.propose.block.variables;
           ++kernel.propose.variable) {
        queue_.launch(kernel.propose);
        queue_.launch(kernel.values);
        queue_.launch(kernel.scalarize);
        queue_.launch(kernel.accept);
        ++kernel.propose.attempt, ++kernel.accept.attempt;
      }
    }
  }
  /// Energies of the states, by the parts.
  std::vector<double> evaluate() {
    ProposalSweep kernel = parts(0);
    kernel.values.function = in_.function;
    queue_.launch(kernel.values);
    queue_.launch(kernel.scalarize);
    return trial_.download();
  }
  Outputs outputs() const {
    Outputs out{{}, energy_.download(), accepted_.download(), not_finite_.download()};
    for (const DeviceBlock& block : blocks_) out.values.push_back(block.values());
    return out;
  }

 private:
  static std::vector<std::int32_t> rungs_of(std::int64_t slots) {
    std::vector<std::int32_t> rung;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      rung.push_back(static_cast<std::int32_t>(slot % rungs));
    }
    return rung;
  }
  static std::vector<double> weights(std::int64_t objectives) {
    std::vector<double> all;
    for (std::int64_t k = 0; k < objectives; ++k) {
      for (const double share : {0.2, 0.5, 0.8}) all.push_back(k == 0 ? share : 1 - share);
    }
    return all;
  }

  ProposalSweep parts(std::uint32_t offset) {
    ProposalSweep kernel;
    kernel.function = in_.function;
    kernel.replicas = kernel.values.replicas = kernel.scalarize.replicas = in_.replicas;
    kernel.propose.undo = kernel.accept.undo = {first_.view(), second_.view(), before_.view()};
    kernel.propose.draw_ids = kernel.accept.draw_ids = names_.view();
    kernel.propose.control = kernel.accept.control = control_.data();
    kernel.propose.step_offset = kernel.accept.step_offset = offset;
    for (DeviceBlock& block : blocks_) kernel.values.state[kernel.values.n_blocks++] = block.view();
    kernel.values.columns = {group_size, group_size, 0};
    kernel.values.value = {value_.data(), in_.objectives, slots_, slots_};
    kernel.values.violation = violation_.view();
    kernel.scalarize.group_size = group_size;
    kernel.scalarize.value = {value_.data(), in_.objectives, slots_, slots_};
    kernel.scalarize.violation = violation_.view();
    kernel.scalarize.ideal = ideal_.view();
    kernel.scalarize.nadir = nadir_.view();
    kernel.scalarize.weight = {weight_.data(), in_.objectives, 3, 3};
    kernel.scalarize.scalarization.kind = in_.kind;
    kernel.scalarize.energy = trial_.view();
    kernel.accept.energy = energy_.view();
    kernel.accept.trial_energy = trial_.view();
    kernel.accept.accepted = accepted_.view();
    kernel.accept.not_finite = not_finite_.view();
    kernel.accept.beta = beta_.view();
    kernel.accept.rung_of = rung_.view();
    kernel.accept.active_rungs = active_.view();
    return kernel;
  }

  Queue& queue_;
  const Inputs& in_;
  std::int64_t slots_;
  std::deque<DeviceBlock> blocks_;
  DeviceNames names_;
  DeviceArray<std::int32_t> first_, second_;
  DeviceArray<double> before_, energy_, trial_;
  DeviceArray<std::uint64_t> accepted_, not_finite_;
  DeviceArray<double> beta_;
  DeviceArray<std::int32_t> rung_;
  DeviceArray<std::uint32_t> active_;
  DeviceArray<double> value_, violation_, ideal_, nadir_, weight_;
  DeviceArray<RunControl> control_;
};

Outputs sweep(Queue& queue, const Inputs& in) {
  DeviceSweep device(queue, in);
  for (std::uint32_t s = 0; s < in.sweeps; ++s) device.sweep(s);
  return device.outputs();
}

Inputs reals(std::int64_t variables, std::int64_t replicas) {
  Inputs in;
  in.shapes = {{BlockKind::real, Layout::f64, variables, (replicas + 31) / 32 * 32, 0, 1}};
  in.replicas = replicas;
  in.function = VectorFunctionRef(Zdt{1, static_cast<std::int32_t>(variables)});
  in.sweeps = 3;
  return in;
}

class ProposalSweepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ProposalSweepKernel);

TEST_P(ProposalSweepKernel, HasTheBitsOfItsParts) {
  for (const ScalarizationKind kind :
       {ScalarizationKind::weighted_sum, ScalarizationKind::chebyshev}) {
    for (const auto& [variables, replicas] :
         {std::pair<std::int64_t, std::int64_t>{2, 1}, {10, 1024}, {30, 97}}) {
      SCOPED_TRACE(std::to_string(variables) + " x " + std::to_string(replicas));
      Inputs in = reals(variables, replicas);
      in.kind = kind;
      DeviceSweep device(queue(), in), parts(queue(), in);
      for (std::uint32_t s = 0; s < in.sweeps; ++s) {
        device.sweep(s);
        parts.sweep_by_parts(s);
      }
      const Outputs a = device.outputs(), b = parts.outputs();
      for (std::int64_t v = 0; v < variables; ++v) {
        for (std::int64_t slot = 0; slot < replicas; ++slot) {
          const std::size_t at = idx(v * in.shapes[0].slots + slot);
          ASSERT_EQ(bits_of({a.values[0][at]}), bits_of({b.values[0][at]})) << v << ' ' << slot;
        }
      }
      for (std::size_t slot = 0; slot < idx(replicas); ++slot) {
        ASSERT_EQ(bits_of({a.energy[slot]}), bits_of({b.energy[slot]}));
        ASSERT_EQ(a.accepted[slot], b.accepted[slot]);
        ASSERT_EQ(a.not_finite[slot], b.not_finite[slot]);
      }
      // The energies are those of the states.
      const std::vector<double> energy = device.evaluate();
      for (std::size_t slot = 0; slot < idx(replicas); ++slot) {
        EXPECT_EQ(bits_of({energy[slot]}), bits_of({a.energy[slot]}));
        EXPECT_GT(a.accepted[slot], 0u) << "from 1e300 any state is better";
      }
    }
  }
}

// Weighted sums of ZDT1 with its front at g = 1: f1 = x0, f2 = g (1 - sqrt(x0 / g)), written out.
TEST_P(ProposalSweepKernel, DescendsToTheFront) {
  Inputs in = reals(5, 96);
  in.beta = {1e9, 1e9, 1e9};
  in.sweeps = 400;
  const Outputs out = sweep(queue(), in);
  for (std::int64_t slot = 0; slot < 96; ++slot) {
    std::vector<double> x;
    for (std::int64_t v = 0; v < 5; ++v) x.push_back(out.values[0][idx(v * 96 + slot)]);
    const double g = 1 + 9 * (x[1] + x[2] + x[3] + x[4]) / 4;
    const double f1 = x[0], f2 = g * (1 - std::sqrt(f1 / g));
    const double w = slot / group_size == 0 ? 0.2 : slot / group_size == 1 ? 0.5 : 0.8;
    const auto scaled = [](double f) { return (f + 0.25) / 3.25; };
    EXPECT_NEAR(out.energy[idx(slot)], w * scaled(f1) + (1 - w) * scaled(f2), 1e-12);
    // min over x0 of w x0 + (1 - w) (1 - sqrt(x0)): at sqrt(x0) = (1 - w) / (2 w), at most 1.
    const double root = std::min(1.0, (1 - w) / (2 * w));
    const double best = w * scaled(root * root) + (1 - w) * scaled(1 - root);
    EXPECT_NEAR(out.energy[idx(slot)], best, 2e-3) << slot;
  }
}

TEST_P(ProposalSweepKernel, LeavesRestingRungsAndStoppedRunsAlone) {
  Inputs in = reals(4, 96);
  in.active_rungs = {1, 0, 1};
  const Outputs out = sweep(queue(), in);
  const Outputs start = DeviceSweep(queue(), in).outputs();
  for (std::size_t slot = 0; slot < 96; ++slot) {
    EXPECT_EQ(out.accepted[slot] > 0, slot % 3 != 1);
    if (slot % 3 != 1) continue;
    for (std::size_t v = 0; v < 4; ++v) {
      EXPECT_EQ(out.values[0][v * 96 + slot], start.values[0][v * 96 + slot]);
    }
  }
  in.active_rungs = {};
  in.control.stop = DeviceStop::target;
  const Outputs stopped = sweep(queue(), in);
  EXPECT_EQ(stopped.values, start.values);
  EXPECT_EQ(stopped.energy, start.energy);
}

TEST_P(ProposalSweepKernel, MatchesCpu) {
  Inputs in = reals(10, 300);
  in.sweeps = 1;
  const Outputs out = sweep(queue(), in), expected = sweep(cpu_queue(), in);
  std::int64_t same = 0;
  for (std::size_t slot = 0; slot < 300; ++slot) {
    const double e = expected.energy[slot];
    same += std::abs(out.energy[slot] - e) <= double_tolerance * (1 + std::abs(e)) ? 1 : 0;
  }
  // A decision within the rounding of the device's square root may differ.
  EXPECT_GE(same, 299);
}

}  // namespace
}  // namespace kiln::test::proposal_sweep_test
