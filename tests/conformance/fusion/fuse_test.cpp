// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/fusion/fuse.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "particle_stages.hpp"

namespace kiln::test::fuse_test {
namespace {

// What bodies do to columns is visible in their types.
struct Smooth {
  SharedColumn<const double, "position"> position;
  SlotColumn<double, "mean"> mean;
};
struct SmoothInPlace {
  SharedColumn<const double, "position"> from;
  SlotColumn<double, "position"> to;
};
struct Negate {
  SlotColumn<double, "position"> position;
};
static_assert(slots_are_independent<Kick, Drift, Bounce, Jump>);
static_assert(slots_are_independent<Kick, Smooth>, "Kick reads positions, and does not write them");
static_assert(!slots_are_independent<Drift, Smooth>, "Smooth would see some drifted neighbours");
static_assert(!slots_are_independent<Smooth, Kick, Drift>, "and here some that drift later");
static_assert(!slots_are_independent<SmoothInPlace>);
static_assert(slots_are_independent<Negate>);

struct HidesView {
  SlotColumn<double, "position"> position;
  View1<double> anything;
};
static_assert(!detail::StageMember<View1<double>> && !detail::StageMember<double*> &&
              !detail::StageMember<RunControl*> && !detail::StageMember<std::vector<double>>);
static_assert(detail::StageMember<RngDomain> && detail::StageMember<const RunControl*> &&
              detail::StageMember<bool>);
static_assert(detail::count_members<Kick>() == 6 && detail::count_members<Jump>() == 5 &&
              detail::count_members<HidesView>() == 2);
static_assert(std::string_view(ComponentOf<Step>::name) ==
              "test_particles.kick+test_particles.drift+test_particles.bounce+"
              "test_particles.jump");

constexpr std::int64_t dimension = 3;

class Particles {
 public:
  Particles(Queue& queue, std::int64_t n, const RunControl& control_block = {})
      : slots(n),
        position(queue, values(1)),
        momentum(queue, values(2)),
        stiffness(queue, {0.5, 2, 9}),
        noted(queue, std::vector<double>(idx(n), 0)),
        bounces(queue, std::vector<std::uint32_t>(idx(n), 0)),
        state(queue, shape(n), random_values(shape(n), 3)),
        names(queue, make_names(n, 1, 4)),
        control(upload_control(queue, control_block)) {}

  Kick kick() {
    return {columns(momentum), columns(position), stiffness.view(), 0.25, control.data(), 0};
  }
  Drift drift() { return {columns(position), columns(momentum), 0.75, control.data(), 1}; }
  Bounce bounce() { return {columns(position), columns(momentum), bounces.view()}; }
  Jump jump() {
    return {state.view(), columns(position), noted.view(), names.view(), control.data()};
  }
  Step step() { return fuse(kick(), drift(), bounce(), jump()); }

  std::vector<std::vector<double>> results() const {
    const std::vector<std::uint32_t> counts = bounces.download();
    return {position.download(), momentum.download(), noted.download(), state.values(),
            std::vector<double>(counts.begin(), counts.end())};
  }
  View2<double> columns(DeviceArray<double>& array) {
    return {array.data(), dimension, slots, slots};
  }

  std::int64_t slots;
  DeviceArray<double> position, momentum, stiffness, noted;
  DeviceArray<std::uint32_t> bounces;
  DeviceBlock state;
  DeviceNames names;
  DeviceArray<RunControl> control;

 private:
  static BlockShape shape(std::int64_t n) { return {BlockKind::integer, Layout::i8, 5, n, 0, 9}; }
  std::vector<double> values(std::uint64_t seed) const {
    return random_values({BlockKind::real, Layout::f64, dimension, slots, -1, 1}, seed);
  }
};

void expect_equal(const std::vector<std::vector<double>>& a,
                  const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].size(), b[k].size());
    EXPECT_EQ(std::memcmp(a[k].data(), b[k].data(), a[k].size() * sizeof(double)), 0) << k;
  }
}

/// A backend with the kernels of particles, with or without the four at once.
class FuseTest : public DeviceTest {
 protected:
  std::shared_ptr<Backend> backend(bool with_step) const {
#if defined(WITH_CUDA)
    if (GetParam() == Device::cuda) {
      std::shared_ptr<Backend> gpu = open_backend("cuda").backend;
      gpu->add_kernels(particle_parts_on_cuda());
      if (with_step) gpu->add_kernels(particle_step_on_cuda());
      return gpu;
    }
#endif
    std::shared_ptr<Backend> cpu = open_backend("cpu").backend;
    cpu->add_kernels(
        KernelSet<ParticleComponent>(&launch_slots_on_cpu<Kick>, &launch_slots_on_cpu<Drift>,
                                     &launch_slots_on_cpu<Bounce>, &launch_slots_on_cpu<Jump>));
    if (with_step) {
      cpu->add_kernels(KernelSet<ComponentOf<Step>>(&launch_slots_on_cpu<Step>));
    }
    return cpu;
  }
};
KILN_ON_EVERY_BACKEND(FuseTest);

TEST_P(FuseTest, IsOneLaunchWithTheBitsOfItsParts) {
  const std::shared_ptr<Backend> opened = backend(true);
  const std::unique_ptr<Queue> queue = opened->make_queue();
  for (const std::int64_t slots : {32, 96, 1024, 40000}) {
    SCOPED_TRACE(slots);
    Particles fused(*queue, slots), parts(*queue, slots);
    const Counters before = queue->counters();
    for (int k = 0; k < 20; ++k) fused.step().enqueue(*queue);
    EXPECT_EQ((queue->counters() - before).launches, 20u);
    for (int k = 0; k < 20; ++k) {
      queue->launch(parts.kick());
      queue->launch(parts.drift());
      queue->launch(parts.bounce());
      queue->launch(parts.jump());
    }
    expect_equal(fused.results(), parts.results());
    EXPECT_NE(fused.results().front(), Particles(*queue, slots).results().front());
  }
}

TEST_P(FuseTest, PlaysThePartsWhereTheBackendLacksTheLaunch) {
  const std::unique_ptr<Queue> queue = backend(false)->make_queue();
  const std::unique_ptr<Queue> at_once = backend(true)->make_queue();
  EXPECT_FALSE(Step::is_one_launch(*queue));
  EXPECT_TRUE(Step::is_one_launch(*at_once));
  Particles parts(*queue, 64), fused(*at_once, 64);
  const Counters before = queue->counters();
  parts.step().enqueue(*queue);
  EXPECT_EQ((queue->counters() - before).launches, 4u);
  fused.step().enqueue(*at_once);
  expect_equal(parts.results(), fused.results());
  try {
    queue->launch(parts.step());
    FAIL() << "Queue::launch() makes one launch or none";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(Step::name), std::string::npos) << error.what();
  }
}

// A second program for the same step, without stages.
TEST_P(FuseTest, MakesTheStepThatALoopMakes) {
  const std::shared_ptr<Backend> opened = backend(true);
  const std::unique_ptr<Queue> queue = opened->make_queue();
  Particles particles(*queue, 64);
  std::vector<double> x = particles.position.download(), p = particles.momentum.download();
  std::vector<double> bounces(64, 0);
  const double stiffness[dimension] = {0.5, 2, 9};
  for (std::size_t i = 0; i < x.size(); ++i) {
    p[i] -= 0.25 * (stiffness[i / 64] * x[i]);
    x[i] += 0.75 * p[i];
    if (x[i] > 1 || x[i] < -1) {
      x[i] = (x[i] > 1 ? 2 : -2) - x[i];
      p[i] = -p[i];
      ++bounces[i % 64];
    }
  }
  particles.step().enqueue(*queue);
  const std::vector<std::vector<double>> results = particles.results();
  EXPECT_EQ(results[0], x);
  EXPECT_EQ(results[1], p);
  EXPECT_EQ(results[4], bounces);
  for (std::size_t slot = 0; slot < 64; ++slot) {
    EXPECT_EQ(results[2][slot], x[slot] + results[3][slot]) << "noted after the jump";
  }
}

// Each stage asks for itself whether the run goes on: as many launches would.
TEST_P(FuseTest, StagesRestWhenTheirPartsWould) {
  const std::shared_ptr<Backend> opened = backend(true);
  const std::unique_ptr<Queue> queue = opened->make_queue();
  RunControl last_sweep;
  last_sweep.step_limit = 1;  // of the kick, not of the drift
  Particles fused(*queue, 64, last_sweep), parts(*queue, 64, last_sweep), start(*queue, 64);
  fused.step().enqueue(*queue);
  queue->launch(parts.kick());
  queue->launch(parts.drift());
  queue->launch(parts.bounce());
  queue->launch(parts.jump());
  expect_equal(fused.results(), parts.results());
  EXPECT_EQ(fused.position.download(), start.position.download());
  EXPECT_NE(fused.momentum.download(), start.momentum.download());
}

// The times are in the file of --gtest_output; no test depends on them.
double microseconds_of(Queue& queue, TickGraph& graph) {
  constexpr int times = 200;
  queue.replay(graph);
  queue.begin_timer();
  for (int k = 0; k < times; ++k) queue.replay(graph);
  return queue.end_timer_s() * 1e6 / times;
}

TEST_P(FuseTest, IsOneNodeOfAGraph) {
  const std::shared_ptr<Backend> opened = backend(true);
  const std::unique_ptr<Queue> queue = opened->make_queue();
  const std::unique_ptr<Queue> playing_parts = backend(false)->make_queue();
  if (!queue->can_capture()) return;
  const auto captured = [](Queue& on, Particles& particles) {
    on.begin_capture();
    for (int k = 0; k < 10; ++k) particles.step().enqueue(on);
    return on.end_capture();
  };
  Particles fused(*queue, 1024), parts(*playing_parts, 1024);
  const std::unique_ptr<TickGraph> one = captured(*queue, fused);
  const std::unique_ptr<TickGraph> four = captured(*playing_parts, parts);
  EXPECT_EQ(one->nodes(), 10);
  EXPECT_EQ(four->nodes(), 40);
  RecordProperty("us_of_10_fused_steps", std::to_string(microseconds_of(*queue, *one)));
  RecordProperty("us_of_10_steps_by_parts", std::to_string(microseconds_of(*playing_parts, *four)));
  expect_equal(fused.results(), parts.results());
}

}  // namespace
}  // namespace kiln::test::fuse_test
