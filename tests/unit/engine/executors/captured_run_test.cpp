// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs by graphs on a CPU: a queue that records launches of the CPU and repeats them. Schedules
// then see what a resident executor asks of them, and the bits are those of plain launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/executors/repeats_ticks.hpp"
#include "kiln/kernels/all.hpp"
#include "kiln/kernels/catalog.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"
#include "kiln/run_context.hpp"
#include "kiln/schedules/pipeline.hpp"

#include "twins/forwarding_queue.hpp"
#include "whole_run.hpp"

namespace kiln::test::captured_run_test {
namespace {

struct Recorded final : TickGraph {
  std::vector<std::function<void()>> work;
  std::int64_t nodes() const noexcept override { return static_cast<std::int64_t>(work.size()); }
};

struct Repeats {
  bool allowed = true;
  std::int64_t launches = 0;  ///< of several ticks
  std::int64_t longest = 1;   ///< ticks of a launch
};

struct RecordedLaunchers {
  template <class Kernel>
  static void launch(const Kernel& kernel, Queue& queue);
  template <class Kernel>
  static constexpr Launcher<Kernel> launcher = &launch<Kernel>;
};

class CapturingQueue final : public cli::ForwardingQueue, public RepeatsTicks {
 public:
  CapturingQueue(KernelSets kernels, std::unique_ptr<Queue> device, Repeats& repeats)
      : ForwardingQueue(std::move(kernels), *device),
        repeats_(repeats),
        owned_(std::move(device)) {}

  void enqueue(std::function<void()> one) {
    if (graph_ == nullptr) return one();
    graph_->work.push_back(std::move(one));
  }
  void note(std::int64_t ticks) {
    if (ticks > 1) ++repeats_.launches;
    repeats_.longest = std::max(repeats_.longest, ticks);
  }

  bool can_capture() const noexcept override { return true; }
  bool can_repeat(const LadderTick&, std::string& refusal) override {
    if (!repeats_.allowed) refusal = "no room for ladders";
    return repeats_.allowed;
  }
  void zero(void* to, std::size_t bytes) override {
    enqueue([=, this] { device().zero(to, bytes); });
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    enqueue([=, this] { device().copy(to, from, bytes); });
  }
  void begin_capture() override { graph_ = std::make_unique<Recorded>(); }
  std::unique_ptr<TickGraph> end_capture() override { return std::move(graph_); }
  // Two summaries may be under way.
  void post_summary() override {
    device().post_summary();
    summaries_.push_back(device().wait_summary());
  }
  RunSummary wait_summary() override {
    const RunSummary first = summaries_.front();
    summaries_.pop_front();
    return first;
  }

 protected:
  void do_replay(TickGraph& graph) override {
    for (const auto& one : dynamic_cast<Recorded&>(graph).work) one();
  }

 private:
  Repeats& repeats_;
  std::unique_ptr<Queue> owned_;
  std::unique_ptr<Recorded> graph_;
  std::deque<RunSummary> summaries_;
};

template <class Kernel>
void RecordedLaunchers::launch(const Kernel& kernel, Queue& queue) {
  auto& recording = static_cast<CapturingQueue&>(queue);
  recording.enqueue([kernel, &recording] {
    if constexpr (std::is_same_v<Kernel, LadderTick>) recording.note(kernel.ticks);
    recording.device().launch(kernel);
  });
}

class CapturingBackend final : public Backend {
 public:
  explicit CapturingBackend(Repeats& repeats) : repeats_(repeats) {}
  DeviceInfo info() const override {
    DeviceInfo info = cpu_->info();
    info.gpu = true;  // for the choice of an executor
    return info;
  }
  std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CapturingQueue>(kernel_sets_of<RecordedLaunchers>(Components{}),
                                            cpu_->make_queue(), repeats_);
  }

 private:
  Repeats& repeats_;
  std::shared_ptr<Backend> cpu_ = open_backend("cpu", 1).backend;
};

using Parameters = std::map<std::string, std::string>;

struct Outcome {
  Archive archive;
  Result result;
  Repeats repeats;
};

constexpr std::int64_t all_sweeps = 3000;

Outcome run(Executor executor, Parameters parameters, const std::vector<std::int64_t>& cuts = {},
            Budget budget = {.sweeps = all_sweeps}, bool allowed = true, bool profile = false) {
  const Problem problem = builtin_registry().problem("torus").make("8x8,1");
  parameters.emplace("rungs", "8");
  const auto schedule = builtin_registry().schedule("parallel-tempering").make(parameters);
  RunOptions options;
  options.device = "cpu";
  options.replicas = 256;
  options.seed = 7;
  options.executor = executor;
  options.draw_naming = DrawNaming::planes;
  options.profile = profile;
  Outcome outcome;
  outcome.repeats.allowed = allowed;
  kiln::Run one(problem, *schedule, budget, options,
                {std::make_shared<CapturingBackend>(outcome.repeats), {}});
  for (const std::int64_t cut : cuts) one.advance_to({.sweeps = cut});
  outcome.result = one.advance();
  one.save(outcome.archive);
  return outcome;
}

const Parameters off{{"cluster_moves", "off"}};
Parameters each(const std::string& interval) {
  return {{"cluster_moves", "on"}, {"cluster_interval", interval}};
}

TEST(CapturedRun, ResidentHasTheBitsOfPlainLaunches) {
  for (Parameters parameters : {off, each("10"), each("16")}) {
    for (const std::string sweeps_per_swap : {"1", "3"}) {
      parameters["sweeps_per_swap"] = sweeps_per_swap;
      const Outcome plain = run(Executor::stream, parameters);
      EXPECT_EQ(plain.repeats.launches, 0);
      for (const Executor executor : {Executor::graph, Executor::resident}) {
        const Outcome other = run(executor, parameters, {901, 902, 2000});
        EXPECT_EQ(other.result.executor.executor, executor);
        EXPECT_EQ(other.repeats.launches > 2, executor == Executor::resident);
        expect_same_archives(plain.archive, other.archive);
        EXPECT_EQ(plain.result.work.ticks, other.result.work.ticks);
        if (parameters.contains("cluster_interval")) {
          EXPECT_LE(other.repeats.longest, parameters.at("cluster_interval") == "16" ? 16 : 2);
        }
      }
    }
  }
}

// Ticks that are measured one by one count, too: graphs begin, and epochs end, where they do
// without.
TEST(CapturedRun, AProfileHasTheBitsOfPlainLaunches) {
  for (const Parameters& parameters : {off, each("10"), each("16")}) {
    const Budget budget{.sweeps = all_sweeps};
    const Outcome plain = run(Executor::stream, parameters);
    for (const Executor executor : {Executor::stream, Executor::graph}) {
      const Outcome other = run(executor, parameters, {901}, budget, true, true);
      EXPECT_NE(other.result.profile, nullptr);
      expect_same_archives(plain.archive, other.archive);
    }
  }
}

TEST(CapturedRun, ResidentStopsAtTheTickOfTheTarget) {
  const Parameters cold{{"cluster_moves", "off"}, {"beta_min", "0.01"}, {"beta_max", "0.02"}};
  const double best = run(Executor::stream, cold).result.objective;
  Budget budget{.sweeps = all_sweeps};
  budget.target = best;
  const Outcome plain = run(Executor::stream, cold, {}, budget);
  const Outcome other = run(Executor::resident, cold, {}, budget);
  EXPECT_EQ(other.result.stop, Stop::target_reached);
  EXPECT_EQ(plain.result.work.ticks, other.result.work.ticks);
  expect_same_archives(plain.archive, other.archive);
}

std::string refusal_of(const Parameters& parameters, bool allowed = true) {
  try {
    run(Executor::resident, parameters, {}, {.sweeps = 100}, allowed);
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "executor.resident");
    return error.message();
  }
  return "none";
}

TEST(CapturedRun, ResidentSaysWhyItDoesNotApply) {
  const std::string not_here = "executor resident does not apply to this run: ";
  EXPECT_EQ(refusal_of(off), "none");
  EXPECT_EQ(refusal_of(off, false), not_here + "no room for ladders");
  EXPECT_EQ(refusal_of(each("1")), not_here + "cluster moves come between its ticks");
  EXPECT_EQ(refusal_of(each("3")), not_here + "cluster moves come between its ticks");
}

// To refuse it would lose the stage that has ended.
TEST(CapturedRun, ALaterStageHasGraphsWhereResidentDoesNotApply) {
  const Problem problem = builtin_registry().problem("torus").make("8x8,1");
  const auto make = [](const std::string& name, const Parameters& parameters) {
    return std::shared_ptr<Schedule>(builtin_registry().schedule(name).make(parameters));
  };
  Parameters ladders = off;
  ladders.emplace("rungs", "8");
  Pipeline schedule({{make("parallel-tempering", ladders), {.sweeps = 2000}},
                     {make("simulated-annealing", {}), {}}});
  Repeats repeats;
  RunOptions options;
  options.device = "cpu";
  options.replicas = 256;
  options.executor = Executor::resident;
  options.draw_naming = DrawNaming::planes;
  kiln::Run one(problem, schedule, {.sweeps = 4000}, options,
                {std::make_shared<CapturingBackend>(repeats), {}});
  const Result result = one.advance();
  EXPECT_EQ(result.work.sweeps, 4000);
  EXPECT_GT(repeats.launches, 0);
  EXPECT_EQ(result.executor.executor, Executor::graph);
  EXPECT_EQ(result.executor.reason,
            "executor resident does not apply to this run: schedule 'simulated-annealing' has no "
            "launch of several ticks");
}

TEST(CapturedRun, OnlyGraphsAreProfiled) {
  const Problem problem = builtin_registry().problem("torus").make("8x8,1");
  const auto schedule = builtin_registry().schedule("parallel-tempering").make(off);
  Repeats repeats;
  RunOptions options;
  options.device = "cpu";
  options.profile = true;
  for (const Executor executor : {Executor::loop, Executor::resident}) {
    options.executor = executor;
    try {
      kiln::Run(problem, *schedule, {.sweeps = 3}, options,
                {std::make_shared<CapturingBackend>(repeats), {}});
      ADD_FAILURE() << to_string(executor) << " was taken";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.code(), "executor.profile");
      EXPECT_EQ(error.message(), "executor " + std::string(to_string(executor)) +
                                     " cannot be profiled: the host does not see its ticks");
    }
  }
}

/// Enqueues more ticks than it is asked for.
class Greedy final : public Schedule {
 public:
  std::string name() const override { return "greedy"; }
  Parameters parameters() const override { return {}; }
  Needs needs(const Problem&, const Budget&) override { return {}; }
  void allocate(AllocateContext&) override {}
  void enqueue(TickContext& run) override {
    run.enqueued(1);
    run.enqueued(run.ticks_at_once() + 1);
  }
};

TEST(CapturedRun, RefusesMoreTicksThanItAsksFor) {
  const Problem problem = builtin_registry().problem("torus").make("8x8,1");
  Greedy schedule;
  RunOptions options;
  options.device = "cpu";
  kiln::Run one(problem, schedule, {.sweeps = 3}, options, open_backend("cpu", 1));
  try {
    one.advance();
    ADD_FAILURE() << "two ticks were taken for one";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.code(), "schedule.ticks");
    EXPECT_EQ(error.message(), "schedule 'greedy' enqueues 2 ticks at once, and 1 is asked for");
  }
}

}  // namespace
}  // namespace kiln::test::captured_run_test
