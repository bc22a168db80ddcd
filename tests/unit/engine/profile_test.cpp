// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The profile of a run: kernels that take a known time, the counters of the queue, the same bits.
#include "kiln/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include "kiln/archive.hpp"
#include "kiln/backend.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "backends/cpu_queue.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

#define TIMED_KERNELS(KERNEL) \
  KERNEL(Long)                \
  KERNEL(Short)

namespace timed {

KILN_COMPONENT(TimedComponent, "test.timed", TIMED_KERNELS)

constexpr double long_s = 4e-3, short_s = 1e-3, pause_s = 2e-3;

struct Long {
  static constexpr const char* name = "long";
  double bytes() const { return 12345; }
};
struct Short {
  static constexpr const char* name = "short";
};

void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
void launch_long(const Long&, kiln::Queue&) { rest(long_s); }
void launch_short(const Short&, kiln::Queue&) { rest(short_s); }

}  // namespace timed

namespace kiln::test::profile_test {
namespace {

RunOptions options(bool profile) {
  RunOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.replicas = 64;
  options.profile = profile;
  return options;
}

Problem problem() { return make_ising(random_ising(40, 2, 3)); }

/// A long kernel, a pause of the host, two short kernels.
class Timed : public Schedule {
 public:
  std::string name() const override { return "timed"; }
  std::map<std::string, std::string> parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override { return {}; }
  void allocate(AllocateContext&) override {}
  void enqueue(TickContext& run) override {
    run.queue().launch(timed::Long{});
    timed::rest(timed::pause_s);
    run.queue().launch(timed::Short{});
    run.queue().launch(timed::Short{});
    run.finish_tick();
  }
};

const KernelTime& kernel(const Profile& profile, const std::string& name) {
  const auto found = std::ranges::find(profile.kernels, name, &KernelTime::name);
  if (found == profile.kernels.end()) throw std::runtime_error("no kernel " + name);
  return *found;
}

Result timed_run() {
  const OpenedBackend opened = open_backend("cpu", 1);
  opened.backend->add_kernels(
      KernelSet<timed::TimedComponent>(&timed::launch_long, &timed::launch_short));
  Timed schedule;
  const Problem ising = problem();
  kiln::Run run(ising, schedule, {.sweeps = 20}, options(true), opened);
  return run.advance();
}

// Sleeping takes the time that it was told and a bit; a pause belongs to no kernel.
TEST(Profile, GivesKernelsTheTimeThatTheyTake) {
  const Result result = timed_run();
  ASSERT_TRUE(result.profile);
  const Profile& profile = *result.profile;
  EXPECT_EQ(profile.ticks, 20);
  EXPECT_EQ(profile.of_ticks, 20);
  const KernelTime slow = kernel(profile, "long"), quick = kernel(profile, "short");
  EXPECT_EQ(slow.launches, 20);
  EXPECT_EQ(quick.launches, 40);
  EXPECT_EQ(kernel(profile, "end_tick").launches, 20);
  EXPECT_GE(slow.time_s, 20 * timed::long_s);
  EXPECT_GE(quick.time_s, 40 * timed::short_s);
  EXPECT_GE(profile.gaps_s, 20 * timed::pause_s);
  EXPECT_GE(profile.device_s, 20 * (timed::long_s + timed::pause_s + 2 * timed::short_s));
  EXPECT_LE(profile.device_s, result.time.run_s);
}

TEST(Profile, AddsUp) {
  const Result result = timed_run();
  const Profile& profile = *result.profile;
  double time_s = 0, share = 0;
  for (const KernelTime& one : profile.kernels) {
    time_s += one.time_s;
    share += one.share;
  }
  EXPECT_NEAR(time_s + profile.gaps_s, profile.device_s, 1e-9 * profile.device_s);
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_NEAR(profile.busy_share, time_s / profile.device_s, 1e-9);
  EXPECT_EQ(profile.replayed_ticks, 0) << "nothing is captured on the CPU";
}

TEST(Profile, SetsBytesBesideWhatACopyTakes) {
  const Result result = timed_run();
  const Profile& profile = *result.profile;
  EXPECT_GT(profile.copy_bytes_per_s, 1e8);
  EXPECT_LT(profile.copy_bytes_per_s, 1e13);
  const KernelTime slow = kernel(profile, "long");
  ASSERT_TRUE(slow.bytes && slow.floor_s);
  EXPECT_EQ(*slow.bytes, 20 * 12345);
  EXPECT_DOUBLE_EQ(*slow.floor_s, 20 * 12345 / profile.copy_bytes_per_s);
  EXPECT_FALSE(kernel(profile, "short").bytes) << "it does not say";
  EXPECT_FALSE(kernel(profile, "short").floor_s);
}

// The counters of the queue know nothing of the profile.
TEST(Profile, HasEveryLaunchOfEveryTick) {
  const Problem ising = problem();
  SimulatedAnnealing schedule;
  kiln::Run run(ising, schedule, {.sweeps = 800}, options(true), open_backend("cpu", 1));
  const Result result = run.advance();
  std::int64_t launches = 0;
  for (const KernelTime& one : result.profile->kernels) launches += one.launches;
  EXPECT_EQ(launches, static_cast<std::int64_t>(result.work.in_ticks.launches));
  EXPECT_EQ(result.profile->ticks, result.work.ticks);
  EXPECT_EQ(result.profile->kernels.size(), 3u) << "betas, sweep, end";
  EXPECT_EQ(kernel(*result.profile, "metropolis_sweep").launches, result.work.ticks);
}

// A run that goes on shows all its ticks; one that is over shows no launch to a profile that ended.
TEST(Profile, GoesOnWithTheRun) {
  const Problem ising = problem();
  SimulatedAnnealingOptions rounds;
  rounds.anneal_sweeps = 80;
  SimulatedAnnealing schedule(rounds);
  kiln::Run run(ising, schedule, {.sweeps = 800}, options(true), open_backend("cpu", 1));
  const Result half = run.advance_to({.sweeps = 400});
  const Result whole = run.advance();
  EXPECT_EQ(half.profile->ticks, 50);
  EXPECT_EQ(whole.profile->ticks, 100);
  EXPECT_GT(whole.profile->device_s, half.profile->device_s);
}

TEST(Profile, ChangesNoBit) {
  const Problem ising = problem();
  const auto saved = [&](bool profile) {
    SimulatedAnnealing schedule;
    kiln::Run run(ising, schedule, {.sweeps = 800}, options(profile), open_backend("cpu", 1));
    const Result result = run.advance();
    EXPECT_EQ(result.profile != nullptr, profile);
    Archive archive(run.queue());
    run.save(archive);
    std::string bytes;
    for (const State& state : run.batch().read_states({0, 1, 2, 63}, true)) {
      for (const std::int8_t spin : values_of(state)) bytes += spin > 0 ? '+' : '-';
    }
    return std::pair(bytes, run.batch().read_energies(false));
  };
  EXPECT_EQ(saved(true), saved(false));
}

/// Time goes on by a second with each mark, a quarter of which is the mark's own. The device passes
/// marks when it is told to.
class FakeClock final : public DeviceClock {
 public:
  std::size_t mark() override { return marks++; }
  bool passed(std::size_t mark) override { return mark < passed_marks; }
  double seconds(std::size_t from, std::size_t to) override {
    EXPECT_GE(from, forgotten);
    EXPECT_LT(to, passed_marks);
    return static_cast<double>(to - from);
  }
  void forget_before(std::size_t first) override { forgotten = first; }
  double mark_s() override { return 0.25; }

  std::size_t marks = 0, passed_marks = 1'000'000, forgotten = 0;
};

class Ranges final : public Tracer {
 public:
  void begin(const char* name) noexcept override { text += std::string(name) + "("; }
  void end() noexcept override { text += ")"; }
  std::string text;
};

/// The CPU with another clock, and a tracer.
class WatchedBackend final : public Backend {
 public:
  WatchedBackend() {
    cpu_.backend->add_kernels(
        KernelSet<timed::TimedComponent>(&timed::launch_long, &timed::launch_short));
  }
  DeviceInfo info() const override { return cpu_.backend->info(); }
  std::unique_ptr<Queue> make_queue() override { return cpu_.backend->make_queue(); }
  std::unique_ptr<DeviceClock> make_clock(Queue&) override {
    auto made = std::make_unique<FakeClock>();
    clock = made.get();
    return made;
  }
  Tracer* tracer() noexcept override { return traces ? &ranges : nullptr; }

  FakeClock* clock = nullptr;
  Ranges ranges;
  bool traces = false;

 private:
  OpenedBackend cpu_ = open_backend("cpu", 1);
};

// A tick has 4 launches, so 10 marks: 9 s less 9 quarters. A launch has two: a second less a
// quarter.
TEST(Profile, SubtractsWhatMarksTake) {
  const auto backend = std::make_shared<WatchedBackend>();
  Timed schedule;
  const Problem ising = problem();
  kiln::Run run(ising, schedule, {.sweeps = 3}, options(true), {backend, ""});
  const Result result = run.advance();
  const Profile& profile = *result.profile;
  EXPECT_EQ(profile.ticks, 3);
  EXPECT_DOUBLE_EQ(profile.device_s, 3 * 9 * 0.75);
  EXPECT_DOUBLE_EQ(kernel(profile, "long").time_s, 3 * 0.75);
  EXPECT_DOUBLE_EQ(kernel(profile, "short").time_s, 6 * 0.75);
  EXPECT_DOUBLE_EQ(kernel(profile, "short").share, 0.5);
  EXPECT_DOUBLE_EQ(profile.gaps_s, 3 * (9 - 4) * 0.75);
  EXPECT_EQ(backend->clock->forgotten, backend->clock->marks) << "events are used again";
}

// As on a GPU, whose work is under way when the host goes on.
TEST(Profile, ReadsOnlyMarksThatTheDeviceHasPassed) {
  const auto backend = std::make_shared<WatchedBackend>();
  Timed schedule;
  const Problem ising = problem();
  kiln::Run run(ising, schedule, {.sweeps = 4}, options(true), {backend, ""});
  backend->clock->passed_marks = 15;  // in the middle of the second tick
  EXPECT_EQ(run.advance_to({.sweeps = 2}).profile->ticks, 1);
  backend->clock->passed_marks = 1000;
  EXPECT_EQ(run.advance().profile->ticks, 4);
}

TEST(Traces, ShowTicksAndLaunches) {
  for (const bool profile : {false, true}) {
    const auto backend = std::make_shared<WatchedBackend>();
    backend->traces = true;
    Timed schedule;
    const Problem ising = problem();
    {
      kiln::Run run(ising, schedule, {.sweeps = 1}, options(profile), {backend, ""});
      const std::string& setup = backend->ranges.text;
      EXPECT_TRUE(setup.starts_with("init_slots()kiln.setup(random_state()")) << setup;
      backend->ranges.text.clear();
      run.advance();
    }
    const std::string& seen = backend->ranges.text;
    const std::string tick =
        "kiln.ticks(kiln.tick(long()short()short()end_tick()))record_telemetry()summarize()";
    EXPECT_TRUE(seen.starts_with(tick)) << seen;
    EXPECT_NE(seen.find("kiln.wait()"), std::string::npos) << seen;
    EXPECT_NE(seen.find("kiln.result("), std::string::npos) << seen;
    EXPECT_EQ(std::ranges::count(seen, '('), std::ranges::count(seen, ')'));
  }
  const auto silent = std::make_shared<WatchedBackend>();
  Timed schedule;
  const Problem ising = problem();
  kiln::Run(ising, schedule, {.sweeps = 1}, options(true), {silent, ""}).advance();
  EXPECT_EQ(silent->ranges.text, "");
}

}  // namespace
}  // namespace kiln::test::profile_test
