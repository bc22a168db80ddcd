// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/proposal_sweep.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kiln/kernels/fronts/proposal_tree.hpp"
#include "kiln/problems/vector_functions/all.hpp"

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"
#include "bench/fixtures/proposal_sweep_arrays.hpp"

// Elementary functions of the device in the objectives.
KILN_CONFORMANCE_CASE(ProposalSweep, reordered)

namespace kiln::test::proposal_sweep_test {
namespace {

constexpr std::int64_t group_size = 32;

struct Inputs {
  std::vector<BlockShape> shapes;
  std::vector<std::vector<double>> boxes = {};  ///< [2][variables] of the first blocks, or empty
  std::int64_t replicas = 0;
  VectorFunctionRef function;
  std::int64_t objectives = 2;
  std::vector<double> beta = {0.5, 4, 60};
  std::vector<std::uint32_t> active_rungs = {};
  ScalarizationKind kind = ScalarizationKind::weighted_sum;
  double energy = 1e300;  ///< at the start
  RunControl control;
  std::uint32_t sweeps = 1;
};

struct Outputs {
  std::vector<std::vector<double>> values;  ///< of each block
  std::vector<double> energy;
  std::vector<std::uint64_t> accepted, not_finite;
};

std::vector<double> weights(std::int64_t objectives) {
  std::vector<double> all;
  for (std::int64_t k = 0; k < objectives; ++k) {
    for (const double share : {0.2, 0.5, 0.8}) all.push_back(k == 0 ? share : 1 - share);
  }
  return all;
}

/// All that a sweep reads and writes, in device memory.
class DeviceSweep {
 public:
  DeviceSweep(Queue& queue, const Inputs& in)
      : queue_(queue),
        in_(in),
        slots_(in.shapes.front().slots),
        names_(queue, make_names(slots_, slots_ / group_size, 9)),
        arrays_(queue, {.slots = slots_,
                        .group_size = group_size,
                        .energy = in.energy,
                        .beta = in.beta,
                        .active_rungs = in.active_rungs,
                        .ideal = std::vector<double>(idx(in.objectives), -0.25),
                        .nadir = std::vector<double>(idx(in.objectives), 3),
                        .weight = weights(in.objectives),
                        .kind = in.kind}),
        control_(upload_control(queue, in.control)) {
    std::uint64_t seed = 3;
    for (const BlockShape& shape : in.shapes) {
      blocks_.emplace_back(queue, shape,
                           decode(shape, encode(shape, random_values(shape, ++seed))));
    }
    for (const std::vector<double>& box : in.boxes) boxes_.emplace_back(queue, box);
  }

  void sweep(std::uint32_t offset) { queue_.launch(kernel(offset)); }
  void sweep_by_parts(std::uint32_t offset) {
    cli::ProposalSweepArrays::launch_parts(kernel(offset), queue_);
  }
  /// Energies of the states, by the parts.
  std::vector<double> evaluate() {
    const ProposalSweep parts = kernel(0);
    queue_.launch(parts.values);
    queue_.launch(parts.scalarize);
    return arrays_.trial_energies();
  }
  Outputs outputs() const {
    Outputs out{{}, arrays_.energies(), arrays_.accepted(), arrays_.not_finite()};
    for (const DeviceBlock& block : blocks_) out.values.push_back(block.values());
    return out;
  }

  ProposalSweep kernel(std::uint32_t offset) {
    std::vector<StateBlock> blocks;
    for (DeviceBlock& block : blocks_) blocks.push_back(block.view());
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      if (boxes_[b].size() > 0) blocks[b].box = boxes_[b].data();
    }
    return arrays_.kernel(in_.function, in_.replicas, blocks, names_.view(), control_.data(),
                          offset);
  }

 private:
  Queue& queue_;
  const Inputs& in_;
  std::int64_t slots_;
  std::deque<DeviceBlock> blocks_;
  std::deque<DeviceArray<double>> boxes_;
  DeviceNames names_;
  cli::ProposalSweepArrays arrays_;
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

struct SweepCase {
  std::string what;
  Inputs in;
  bool has_nan = false;  ///< whether some trial energies are not finite
  Zdt zdt = {};
  Dtlz dtlz = {};
  bool is_dtlz = false;

  template <class Call>
  void with_function(const Call& call) const {
    if (is_dtlz) return call(dtlz);
    call(zdt);
  }
};

SweepCase zdt_case(const std::string& what, std::vector<BlockShape> shapes, std::int64_t replicas,
                   int number = 1) {
  SweepCase one{what, {}};
  std::int64_t n = 0;
  for (BlockShape& shape : shapes) {
    shape.slots = (replicas + 31) / 32 * 32;
    n += shape.variables;
  }
  one.zdt = Zdt{number, static_cast<int>(n)};
  one.in.shapes = std::move(shapes);
  one.in.replicas = replicas;
  one.in.function = VectorFunctionRef(one.zdt);
  one.in.sweeps = 3;
  return one;
}

// Numbers of replicas below, at and above a warp and teams of GPUs, and of variables that rounds of
// three and five divide and do not. GPUs give a replica to 32 threads, to eight, and to one: with
// 132 multiprocessors up to 2112 replicas, up to 8448, and beyond.
std::vector<SweepCase> cases() {
  std::vector<SweepCase> all;
  for (const auto& [variables, replicas] : {std::pair<std::int64_t, std::int64_t>{2, 1},
                                            {2, 33},
                                            {3, 31},
                                            {5, 64},
                                            {6, 7},
                                            {10, 1024},
                                            {11, 3},
                                            {30, 97},
                                            {33, 5}}) {
    for (const ScalarizationKind kind :
         {ScalarizationKind::weighted_sum, ScalarizationKind::chebyshev}) {
      SweepCase one = zdt_case(std::to_string(variables) + " x " + std::to_string(replicas),
                               {{BlockKind::real, Layout::f64, variables, 32, 0, 1}}, replicas);
      one.in.kind = kind;
      all.push_back(one);
    }
  }
  all.push_back(zdt_case("bits", {{BlockKind::binary, Layout::i8, 45, 32, 0, 1}}, 65, 5));
  all.push_back(zdt_case("several blocks",
                         {{BlockKind::real, Layout::f64, 3, 32, 0, 1},
                          {BlockKind::integer, Layout::i32, 4, 32, 0, 9},
                          {BlockKind::category, Layout::i8, 1, 32, 0, 4},
                          {BlockKind::real, Layout::f32, 5, 32, 0, 2}},
                         130));
  // A negative sum: the square root has no value.
  all.push_back(zdt_case(
      "values that are not finite",
      {{BlockKind::real, Layout::f64, 4, 32, 0, 1}, {BlockKind::spin, Layout::i8, 9, 32, -1, 1}},
      40));
  all.back().has_nan = true;
  all.push_back(zdt_case("resting rungs", {{BlockKind::real, Layout::f64, 7, 32, 0, 1}}, 50));
  all.back().in.active_rungs = {1, 0, 1};
  all.push_back(all[all.size() - 2]);
  all.back().what = "resting rungs, values that are not finite";
  all.back().in.shapes = {{BlockKind::real, Layout::f64, 4, 64, 0, 1},
                          {BlockKind::spin, Layout::i8, 9, 64, -1, 1}};
  all.back().in.function = VectorFunctionRef(all.back().zdt = Zdt{1, 13});
  all.back().has_nan = true;
  all.push_back(
      zdt_case("a start without energy", {{BlockKind::real, Layout::f64, 4, 32, 0, 1}}, 9));
  all.back().in.energy = std::numeric_limits<double>::infinity();
  all.push_back(zdt_case("a box", {{BlockKind::real, Layout::f64, 4, 32, 0, 1}}, 21));
  all.back().in.boxes = {{0, 0.25, 0.5, 0, 1, 0.5, 0.75, 0.125}};

  SweepCase dtlz = zdt_case("constraints", {{BlockKind::real, Layout::f64, 8, 32, 0, 1}}, 70);
  dtlz.is_dtlz = true;
  dtlz.dtlz = Dtlz{1, 3, 8, DtlzConstraints::c1};
  dtlz.in.function = VectorFunctionRef(dtlz.dtlz);
  dtlz.in.objectives = 3;
  all.push_back(dtlz);
  return all;
}

class ProposalSweepKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(ProposalSweepKernel);

// Slots from `replicas` on are padding.
void expect_same_bits(const Outputs& a, const Outputs& b, const Inputs& in) {
  for (std::size_t block = 0; block < in.shapes.size(); ++block) {
    const BlockShape& shape = in.shapes[block];
    for (std::int64_t v = 0; v < shape.variables; ++v) {
      for (std::int64_t slot = 0; slot < in.replicas; ++slot) {
        const std::size_t at = idx(v * shape.slots + slot);
        ASSERT_EQ(bits_of({a.values[block][at]}), bits_of({b.values[block][at]}))
            << "block " << block << ", variable " << v << ", slot " << slot;
      }
    }
  }
  for (std::size_t slot = 0; slot < idx(in.replicas); ++slot) {
    ASSERT_EQ(bits_of({a.energy[slot]}), bits_of({b.energy[slot]})) << slot;
    ASSERT_EQ(a.accepted[slot], b.accepted[slot]) << slot;
    ASSERT_EQ(a.not_finite[slot], b.not_finite[slot]) << slot;
  }
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

TEST_P(ProposalSweepKernel, HasTheBitsOfItsParts) {
  for (const SweepCase& one : cases()) {
    SCOPED_TRACE(one.what);
    DeviceSweep device(queue(), one.in), parts(queue(), one.in);
    for (std::uint32_t s = 0; s < one.in.sweeps; ++s) {
      device.sweep(s);
      parts.sweep_by_parts(s);
    }
    const Outputs out = device.outputs();
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(out, parts.outputs(), one.in));
    EXPECT_GT(sum_of(out.accepted), 0u);
    EXPECT_EQ(sum_of(out.not_finite) > 0, one.has_nan);
    // The energies are those of the states.
    const std::vector<double> energy = device.evaluate();
    for (std::size_t slot = 0; slot < idx(one.in.replicas); ++slot) {
      if (out.accepted[slot] == 0) continue;
      EXPECT_EQ(bits_of({energy[slot]}), bits_of({out.energy[slot]})) << slot;
    }
  }
}

// A tree as a GPU walks it: its lanes one after the other between two barriers.
template <int levels, class Function>
void sweep_by_trees(const ProposalSweep& kernel, const Function& f) {
  using Tree = ProposalTree<levels>;
  const std::int64_t n = kernel.variables();
  for (std::int64_t slot = 0; slot < kernel.replicas; ++slot) {
    std::vector<double> memory(idx(Tree::bytes(n) / 8), std::nan(""));
    std::vector<Tree> lanes;
    for (int lane = 0; lane < Tree::lanes; ++lane) {
      lanes.emplace_back(kernel, slot, lane, n, memory.data());
    }
    for (Tree& lane : lanes) lane.prepare();
    for (std::int64_t first = 0; !lanes.front().done(); first += levels) {
      for (Tree& lane : lanes) lane.evaluate(f);
      unsigned taken = 0, not_finite = 0;
      for (int lane = 0; lane < Tree::lanes; ++lane) {
        const unsigned decision = lanes[idx(lane)].decide();
        const int level = static_cast<int>(std::bit_width(static_cast<unsigned>(lane))) - 1;
        if (lane == 0 || first + level >= n) {
          ASSERT_EQ(decision, 0u) << "no variable to move";
        }
        taken |= (decision & 1u) << lane;
        not_finite |= (decision >> 1 & 1u) << lane;
      }
      for (Tree& lane : lanes) lane.advance(taken, not_finite);
    }
    for (Tree& lane : lanes) lane.finish();
  }
}

template <int levels>
void compare_trees_with_parts(const SweepCase& one) {
  SCOPED_TRACE(one.what + ", " + std::to_string(levels) + " levels");
  Queue& queue = *open_device(Device::cpu).queue;
  DeviceSweep trees(queue, one.in), parts(queue, one.in);
  ASSERT_TRUE(trees.kernel(0).changes_single_variables());
  for (std::uint32_t s = 0; s < one.in.sweeps; ++s) {
    one.with_function([&](const auto& f) { sweep_by_trees<levels>(trees.kernel(s), f); });
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    parts.sweep_by_parts(s);
  }
  expect_same_bits(trees.outputs(), parts.outputs(), one.in);
}

TEST(ProposalTree, HasTheBitsOfTheParts) {
  for (const SweepCase& one : cases()) {
    ASSERT_NO_FATAL_FAILURE(compare_trees_with_parts<1>(one));
    ASSERT_NO_FATAL_FAILURE(compare_trees_with_parts<3>(one));
    ASSERT_NO_FATAL_FAILURE(compare_trees_with_parts<5>(one));
  }
}

TEST(ProposalTree, LeavesPermutationsAndPackedStatesToTheSweep) {
  Queue& queue = *open_device(Device::cpu).queue;
  Inputs in = reals(3, 32);
  in.shapes.push_back({BlockKind::permutation, Layout::i32, 4, 32, 0, 3});
  EXPECT_FALSE(DeviceSweep(queue, in).kernel(0).changes_single_variables());
  in.shapes.back() = {BlockKind::binary, Layout::packed32, 4, 32, 0, 1};
  EXPECT_FALSE(DeviceSweep(queue, in).kernel(0).changes_single_variables());
  in.shapes.back().layout = Layout::i8;
  EXPECT_TRUE(DeviceSweep(queue, in).kernel(0).changes_single_variables());
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
